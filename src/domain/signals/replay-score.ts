/**
 * How right the rules were on recorded work that people have labelled. A sentence is right when it was said within a
 * window of its family, or a few steps after its end, about the context also some before its begin; false when the session was looked through and there is none, or
 * when a person called it wrong; and neither where nobody looked, or where the label says maybe. A window that is sure
 * is noticed when something of its family was said in it. Pure; nothing is left out: what cannot be judged is counted.
 */

import type { CallPlace, Fired, StepOfCall, WordsReading } from "./reflex-replay.ts";
import { READ_FROM_WORDS, type ScreenedLabel, type WindowLabel } from "./replay-label.ts";

/** A sentence may come so many steps after the end of its window: agents are judged every third step. */
export const GRACE_STEPS = 3;
/** A word about the context announces its window: people mark the last stretch before it was emptied. */
export const CONTEXT_LEAD_STEPS = 50;

/** Different names for being stuck: one may be said where another was labelled. */
const STUCK: readonly string[] = [
  ...["loop", "oscillation", "stall", "contingent", "emergency"],
  ...["churn", "hunt", "polling", "blocked"],
];

export interface ScoredSession {
  readonly name: string;
  readonly runtime: string;
  readonly fired: readonly Fired[];
  readonly readings: readonly WordsReading[];
  readonly calls: readonly StepOfCall[];
  readonly workMs: number;
}

/** A file with everything that was said in it and about it. */
export interface ScoredFile {
  readonly file: string;
  readonly runtime: string;
  readonly sessions: readonly ScoredSession[];
  readonly windows: readonly WindowLabel[];
  readonly screened: ScreenedLabel | null;
}

export type SentenceVerdict = "right" | "false" | "neither";

export interface JudgedSentence {
  readonly file: string;
  readonly session: string;
  readonly runtime: string;
  readonly anomaly: string;
  readonly step: number;
  readonly call: CallPlace;
  readonly text: string;
  readonly verdict: SentenceVerdict;
  /** Somebody has looked through its file. */
  readonly screened: boolean;
}

export interface JudgedWindow {
  readonly file: string;
  readonly session: string;
  readonly runtime: string;
  readonly label: WindowLabel;
  readonly verdict: "noticed" | "missed" | "neither";
  /**
   * Steps from its begin to the first right sentence (below zero: so many before it), and from there to its end; null
   * where there was none.
   */
  readonly after: number | null;
  readonly before: number | null;
}

export interface ScoreRow {
  /** Null: all anomalies, or all runtimes. */
  readonly anomaly: string | null;
  readonly runtime: string | null;
  readonly right: number;
  readonly wrong: number;
  readonly neither: number;
  readonly windows: number;
  readonly noticed: number;
  readonly missed: number;
  /** Null where nothing was said, or nothing was to be noticed. */
  readonly precision: number | null;
  readonly recall: number | null;
  /** False sentences in ten hours of sessions that were looked through; null where these have no times. */
  readonly falsePer10Hours: number | null;
  /** Medians over the windows that were noticed. */
  readonly stepsAfterBegin: number | null;
  readonly stepsBeforeEnd: number | null;
}

export interface ReplayScore {
  readonly rows: readonly ScoreRow[];
  readonly sentences: readonly JudgedSentence[];
  readonly windows: readonly JudgedWindow[];
  readonly screened: number;
  readonly hours: number;
  /** Labels whose calls are not in their file. */
  readonly unplaced: readonly WindowLabel[];
  /** Files in which other calls were found than were labelled. */
  readonly otherCalls: readonly { readonly file: string; readonly labelled: number; readonly found: number }[];
}

export function scoreReplay(files: readonly ScoredFile[]): ReplayScore {
  const judged = files.map(judgeFile);
  const sentences = judged.flatMap((one) => one.sentences);
  const windows = judged.flatMap((one) => one.windows);
  const hours = new Map<string, number>();
  for (const file of files) {
    if (file.screened) hours.set(file.runtime, (hours.get(file.runtime) ?? 0) + hoursOf(file, file.screened));
  }
  return {
    rows: rowsOf(sentences, windows, hours),
    sentences,
    windows,
    screened: files.filter(({ screened }) => screened !== null).length,
    hours: sumOf(hours.values()),
    unplaced: judged.flatMap((one) => one.unplaced),
    otherCalls: files.flatMap(({ file, screened, sessions }) => {
      const found = sumOf(sessions.map(({ calls }) => calls.length));
      const labelled = screened?.calls ?? found;
      return labelled === found ? [] : [{ file, labelled, found }];
    }),
  };
}

/** By the family's name; an anomaly that has none is its own. */
export function familyOf(anomaly: string): string {
  if (STUCK.includes(anomaly)) return "stuck";
  return anomaly === "context-urgent" ? "context" : anomaly;
}

interface PlacedWindow {
  readonly label: WindowLabel;
  readonly session: ScoredSession;
  readonly from: number;
  readonly to: number;
  /** From this step on a word may announce it: not before the end of the window before. */
  readonly since: number;
}

interface JudgedFile {
  readonly sentences: readonly JudgedSentence[];
  readonly windows: readonly JudgedWindow[];
  readonly unplaced: readonly WindowLabel[];
}

function judgeFile(file: ScoredFile): JudgedFile {
  const found: PlacedWindow[] = [];
  const unplaced: WindowLabel[] = [];
  for (const label of file.windows) {
    const window = placeWindow(label, file.sessions);
    if (window) found.push(window);
    else unplaced.push(label);
  }
  const placed = found.map((window) => ({ ...window, since: findLead(window, found) }));
  const sentences = file.sessions.flatMap((session) =>
    listSaid(session).map((said): JudgedSentence => {
      const own = placed.filter((window) => window.session === session);
      return {
        file: file.file,
        session: session.name,
        runtime: file.runtime,
        ...said,
        verdict: judgeSentence(said, own, file.screened !== null),
        screened: file.screened !== null,
      };
    }),
  );
  const windows = placed
    .filter(({ label }) => !label.wrong)
    .map((window): JudgedWindow => {
      const { label, session, from, to } = window;
      const first = listSaid(session).find((said) => isWithin(said, window));
      const { file: path, runtime } = file;
      return {
        ...{ file: path, session: session.name, runtime, label },
        verdict: label.sure ? (first ? "noticed" : "missed") : "neither",
        after: first ? first.step - from : null,
        before: first ? to - first.step : null,
      };
    });
  return { sentences, windows, unplaced };
}

type Said = Pick<JudgedSentence, "anomaly" | "step" | "call" | "text">;

/** Sentences to the agent, and what its last words were read as, in one list. */
function listSaid({ fired, readings }: ScoredSession): readonly Said[] {
  const read = readings.flatMap((reading): Said[] => {
    const anomaly = READINGS[reading.class];
    const { step, call, words } = reading;
    return anomaly === undefined ? [] : [{ anomaly, step, call, text: words }];
  });
  return [...fired.map(({ anomaly, step, call, text }): Said => ({ anomaly, step, call, text })), ...read];
}

const READINGS: Readonly<Partial<Record<WordsReading["class"], (typeof READ_FROM_WORDS)[number]>>> = {
  "waiting-on-human": "last-words",
  failed: "provider",
};

function judgeSentence(said: Said, windows: readonly PlacedWindow[], screened: boolean): SentenceVerdict {
  const around = windows.filter((window) => isWithin(said, window));
  if (around.some(({ label }) => label.wrong)) return "false";
  if (around.some(({ label }) => label.sure)) return "right";
  // Words before the first call cannot be labelled: a label names calls.
  if (around.length > 0 || said.call.ordinal === 0) return "neither";
  return screened ? "false" : "neither";
}

function isWithin(said: Said, { label, since, to }: PlacedWindow): boolean {
  const sameFamily = familyOf(said.anomaly) === familyOf(label.anomaly);
  return sameFamily && said.step >= since && said.step <= to + (label.wrong ? 0 : GRACE_STEPS);
}

function findLead({ label, session, from }: PlacedWindow, all: readonly PlacedWindow[]): number {
  if (label.wrong || familyOf(label.anomaly) !== "context") return from;
  const before = all.filter(
    (other) =>
      other.session === session && !other.label.wrong && familyOf(other.label.anomaly) === "context" && other.to < from,
  );
  const ends = before.map(({ to }) => to + GRACE_STEPS + 1);
  return Math.min(from, Math.max(from - CONTEXT_LEAD_STEPS, ...ends));
}

function placeWindow(label: WindowLabel, sessions: readonly ScoredSession[]): PlacedWindow | undefined {
  for (const session of sessions) {
    const from = stepOf(label.from, session);
    const to = stepOf(label.to, session) ?? from;
    if (from === undefined || to === undefined) continue;
    // Words before the first call have no other label than that call's.
    const isFirst = isRead(label.anomaly) && from === 1;
    const begin = isFirst ? 0 : from;
    return { label, session, from: begin, to: Math.max(from, to), since: begin };
  }
  return undefined;
}

function stepOf({ id, ordinal, step }: WindowLabel["from"], { calls }: ScoredSession): number | undefined {
  if (step !== undefined) return calls.some((call) => call.step === step) ? step : undefined;
  const named = id === null ? undefined : calls.find((call) => call.id === id);
  return (named ?? (ordinal === null ? undefined : calls.find((call) => call.ordinal === ordinal)))?.step;
}

function hoursOf({ sessions }: ScoredFile, { hours }: ScreenedLabel): number {
  return hours ?? sumOf(sessions.map(({ workMs }) => workMs)) / 3_600_000;
}

/** One row for each anomaly and runtime that occurs, one for each anomaly, one for each runtime, one for all. */
function rowsOf(
  sentences: readonly JudgedSentence[],
  windows: readonly JudgedWindow[],
  hours: ReadonlyMap<string, number>,
): ScoreRow[] {
  const runtimes = uniqueOf([...hours.keys(), ...sentences.map(({ runtime }) => runtime)]);
  const anomalies = uniqueOf([
    ...sentences.map(({ anomaly }) => rowOf(anomaly)),
    ...windows.map(({ label }) => rowOf(label.anomaly)),
  ]);
  const pairs = [...anomalies, null].flatMap((anomaly) =>
    [null, ...runtimes].map((runtime) => [anomaly, runtime] as const),
  );
  return pairs
    .map(([anomaly, runtime]) => scoreRow(anomaly, runtime, sentences, windows, hours))
    .filter(
      (row) => row.runtime === null || row.right + row.wrong + row.neither + row.windows > 0 || row.anomaly === null,
    );
}

/** An urgent word about the context stands in the row of the context. */
function rowOf(anomaly: string): string {
  return anomaly === "context-urgent" ? "context" : anomaly;
}

function isRead(anomaly: string): boolean {
  return READ_FROM_WORDS.some((one) => one === anomaly);
}

function scoreRow(
  anomaly: string | null,
  runtime: string | null,
  sentences: readonly JudgedSentence[],
  windows: readonly JudgedWindow[],
  hours: ReadonlyMap<string, number>,
): ScoreRow {
  // All anomalies: what was said to agents. What was read from last words was said to nobody.
  const isOf = (name: string) => (anomaly === null ? !isRead(name) : rowOf(name) === anomaly);
  const said = sentences.filter((one) => isOf(one.anomaly) && (runtime === null || one.runtime === runtime));
  const due = windows.filter((one) => isOf(one.label.anomaly) && (runtime === null || one.runtime === runtime));
  const count = (verdict: SentenceVerdict) => said.filter((one) => one.verdict === verdict).length;
  const right = count("right");
  const wrong = count("false");
  const noticed = due.filter(({ verdict }) => verdict === "noticed");
  const missed = due.filter(({ verdict }) => verdict === "missed").length;
  const falseInScreened = said.filter(({ verdict, screened }) => screened && verdict === "false").length;
  const screenedHours = runtime === null ? sumOf(hours.values()) : (hours.get(runtime) ?? 0);
  return {
    anomaly,
    runtime,
    right,
    wrong,
    neither: count("neither"),
    windows: noticed.length + missed,
    noticed: noticed.length,
    missed,
    precision: right + wrong === 0 ? null : right / (right + wrong),
    recall: noticed.length + missed === 0 ? null : noticed.length / (noticed.length + missed),
    falsePer10Hours: screenedHours === 0 ? null : (10 * falseInScreened) / screenedHours,
    stepsAfterBegin: medianOf(noticed.flatMap(({ after }) => (after === null ? [] : [after]))),
    stepsBeforeEnd: medianOf(noticed.flatMap(({ before }) => (before === null ? [] : [before]))),
  };
}

function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted.length === 0 ? null : (sorted[Math.floor((sorted.length - 1) / 2)] ?? null);
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

function uniqueOf(words: readonly string[]): string[] {
  return [...new Set(words)].toSorted();
}

/**
 * The rules over a recorded course of work: what would have been said where, and what its last words were read as. Pure,
 * so that a trace gives the same answer everywhere, and fed one signal at a time, so that a long one needs no more room
 * than a short one. How right it was is judged elsewhere (replay-score.ts), but for the traces that say it themselves.
 */
import type { Fingerprint } from "./fingerprint.ts";
import { FINGERPRINT_KINDS, FINGERPRINT_MESSAGES, fingerprintOf } from "./fingerprint.ts";
import type { Pulse } from "./pulse.ts";
import { beat, newPulse } from "./pulse.ts";
import { afterSteering, decideSteering } from "./reflex.ts";
import type { Anomaly, ReflexRules } from "./reflex-rules.ts";
import { ANOMALIES } from "./reflex-rules.ts";
import type { Signal } from "./signal.ts";

/** A call by its place in the file and by its own name. */
export interface CallPlace {
  /** The how-many-eth call of the file, from 1. */
  readonly ordinal: number;
  readonly id: string;
}

export interface Fired {
  readonly anomaly: Anomaly;
  readonly step: number;
  readonly at: number;
  readonly text: string;
  /** The last call that was made before it was said. */
  readonly call: CallPlace;
  /** The last calls before it, for a person who is to judge it. */
  readonly evidence: readonly SeenCall[];
}

/** A call as a person sees it: which one, the beginning of its arguments, how it ended, the beginning of its result. */
export interface SeenCall extends CallPlace {
  readonly tool: string;
  readonly args: string;
  /** Null while it runs. */
  readonly ok: boolean | null;
  readonly result: string;
}

/** What the last words of a turn were read as, where they say anything; a call that asks a person is such a word. */
export interface WordsReading {
  readonly class: Fingerprint["class"];
  readonly step: number;
  readonly at: number;
  readonly words: string;
  readonly call: CallPlace;
}

/** In which step each call was made. */
export type StepOfCall = CallPlace & { readonly step: number };

export interface Replayed {
  readonly name: string;
  readonly labels: readonly string[] | null;
  readonly may: readonly string[];
  readonly fired: readonly Fired[];
  readonly readings: readonly WordsReading[];
  readonly steps: number;
  readonly calls: number;
  /** How long it was at work: a night in between is no work. 0 where the record has no times. */
  readonly workMs: number;
}

/** What is known of a trace before its first signal. */
export interface ReplayAbout {
  readonly name: string;
  readonly labels?: readonly string[] | null;
  readonly may?: readonly string[];
}

/** A pause longer than this is counted as this. */
const LONGEST_PAUSE_MS = 5 * 60_000;
const NO_CALL: CallPlace = { ordinal: 0, id: "" };
const WORDS_KEPT = 300;
const EVIDENCE_CALLS = 8;
const EVIDENCE_TEXT = 240;

export class Replay {
  private pulse: Pulse;
  private judged = 0;
  private workMs = 0;
  private last: number | null = null;
  private calls = 0;
  private call = NO_CALL;
  private readonly seen: SeenCall[] = [];
  /** Calls of the running step that have not ended; one that never does holds nothing up beyond its step. */
  private readonly open = new Set<string>();
  private step: string | undefined;
  private readonly fired: (Fired & { readonly window: number | null })[] = [];
  private readonly readings: WordsReading[] = [];
  private words: Signal[] = [];
  /** Its words were the last thing it did: it has stopped to say them. */
  private hasStopped = false;

  constructor(
    private readonly about: ReplayAbout,
    private readonly rules: ReflexRules,
    private readonly noteCall?: (call: StepOfCall) => void,
  ) {
    this.pulse = newPulse(0, about.name);
  }

  take(signal: Signal, ordinal = 0): void {
    // When a file says that it was begun is no work: some say it after the fact.
    if (signal.kind !== "session.started") this.countTime(signal.at);
    if (signal.kind === "turn.ended" || signal.kind === "notified") this.readWords(signal);
    this.pulse = beat(this.pulse, signal);
    if (signal.kind === "said" || signal.kind === "api.failed") this.hasStopped = true;
    if (signal.kind === "tool.started") this.hasStopped = false;
    if (signal.kind !== "turn.ended" && FINGERPRINT_KINDS.some((kind) => kind === signal.kind))
      this.words = [...this.words, signal].slice(-FINGERPRINT_MESSAGES);
    if (signal.kind === "tool.started") this.startCall(signal, ordinal);
    if (signal.kind === "tool.ended") {
      this.open.delete(signal.source);
      this.noteResult(signal);
      this.judge(signal.at);
    }
    if (signal.kind === "turn.ended" || signal.kind === "process.exited") this.open.clear();
  }

  finish(): Replayed {
    const { name, labels = null, may = [] } = this.about;
    const window = this.pulse.contextWindow;
    // More than the window was seen later: it is a wider one, and what was said about the narrow one was not.
    const fired = this.fired
      .filter((one) => !one.anomaly.startsWith("context") || one.window === window || (one.window ?? 0) > (window ?? 0))
      .map(({ window: _, ...one }) => one);
    const { readings, calls, workMs } = this;
    return { name, labels, may, fired, readings, steps: this.pulse.course?.steps ?? 0, calls, workMs };
  }

  private countTime(at: number): void {
    if (at <= 0) return;
    this.workMs += Math.min(Math.max(0, at - (this.last ?? at)), LONGEST_PAUSE_MS);
    this.last = Math.max(this.last ?? at, at);
  }

  private startCall(signal: Signal<"tool.started">, ordinal: number): void {
    if (signal.data.sub !== null) return;
    const { step } = signal.data;
    if (step !== undefined && step !== this.step) this.open.clear();
    this.step = step;
    this.open.add(signal.source);
    this.calls += 1;
    this.call = { ordinal: ordinal || this.calls, id: signal.source };
    const args = signal.data.args.slice(0, EVIDENCE_TEXT);
    this.seen.push({ ...this.call, tool: signal.data.tool, args, ok: null, result: "" });
    if (this.seen.length > EVIDENCE_CALLS) this.seen.shift();
    const now = this.pulse.course?.steps ?? 0;
    this.noteCall?.({ ...this.call, step: now });
    if (signal.data.does !== "ask-user") return;
    const words = signal.data.args.slice(0, WORDS_KEPT);
    this.readings.push({ class: "waiting-on-human", step: now, at: signal.at, words, call: this.call });
  }

  private noteResult({ source, data }: Signal<"tool.ended">): void {
    const at = this.seen.findLastIndex(({ id }) => id === source);
    const call = this.seen[at];
    if (call) this.seen[at] = { ...call, ok: data.ok, result: data.result.slice(0, EVIDENCE_TEXT) };
  }

  /** At a boundary: every call of the step has ended, and the step was not judged before. */
  private judge(at: number): void {
    const { course } = this.pulse;
    if (this.open.size > 0 || course === undefined || course.steps === this.judged) return;
    this.judged = course.steps;
    const steering = decideSteering(this.pulse, this.rules);
    if (!steering) return;
    this.pulse = afterSteering(this.pulse, steering, at);
    const { anomaly, step, text } = steering;
    const evidence = [...this.seen];
    this.fired.push({ anomaly, step, at, text, call: this.call, evidence, window: this.pulse.contextWindow });
  }

  /** What it says when it stops, be it for a person or until a program wakes it; what it says on the way is no last word. */
  private readWords({ at }: Signal): void {
    const { words, hasStopped } = this;
    this.words = [];
    this.hasStopped = false;
    const found = hasStopped ? fingerprintOf(words) : undefined;
    if (found === undefined) return;
    const said = words.findLast((one) => one.kind === "said" || one.kind === "api.failed");
    const text = said?.kind === "said" ? said.data.text : said?.kind === "api.failed" ? said.data.detail : "";
    const step = this.pulse.course?.steps ?? 0;
    this.readings.push({ class: found.class, step, at, words: text.slice(-WORDS_KEPT), call: this.call });
  }
}

export interface Score {
  readonly anomaly: Anomaly;
  readonly episodes: number;
  readonly noticed: number;
  readonly missed: number;
  /** Traces in which it was said without reason. */
  readonly falseAlarms: number;
  readonly precision: number;
  readonly recall: number;
}

export interface Tally {
  readonly traces: number;
  readonly labelled: number;
  readonly healthy: number;
  readonly scores: readonly Score[];
  readonly healthyHours: number;
  /** Sentences said to agents that were well. */
  readonly healthyAlarms: number;
  readonly falseAlarmsPerHour: number;
}

type Labelled = Pick<Replayed, "labels" | "may" | "fired" | "workMs">;

/** How right the rules were, over the traces that say what there is to be noticed. */
export function tally(replayed: readonly Labelled[]): Tally {
  const labelled = replayed.filter((one) => one.labels !== null);
  const healthy = labelled.filter((one) => one.labels?.length === 0);
  const healthyHours = healthy.reduce((sum, one) => sum + one.workMs, 0) / 3_600_000;
  const healthyAlarms = healthy.reduce((sum, one) => sum + one.fired.length, 0);
  return {
    traces: replayed.length,
    labelled: labelled.length,
    healthy: healthy.length,
    scores: ANOMALIES.map((anomaly) => scoreOf(anomaly, labelled)),
    healthyHours,
    healthyAlarms,
    falseAlarmsPerHour: healthyHours === 0 ? 0 : healthyAlarms / healthyHours,
  };
}

function scoreOf(anomaly: Anomaly, labelled: readonly Labelled[]): Score {
  const hasFired = (one: Labelled) => one.fired.some((fired) => fired.anomaly === anomaly);
  const due = labelled.filter((one) => one.labels?.includes(anomaly));
  const noticed = due.filter(hasFired).length;
  const falseAlarms = labelled.filter(
    (one) => hasFired(one) && !one.labels?.includes(anomaly) && !one.may.includes(anomaly),
  ).length;
  return {
    anomaly,
    episodes: due.length,
    noticed,
    missed: due.length - noticed,
    falseAlarms,
    precision: noticed + falseAlarms === 0 ? 1 : noticed / (noticed + falseAlarms),
    recall: due.length === 0 ? 1 : noticed / due.length,
  };
}

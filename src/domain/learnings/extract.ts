/**
 * What an agent discovers, found in what it is heard to do (SYNC-1): a failure and what ended it (remedy.ts), and what the
 * agent itself says it found out (statement.ts), each once however often it comes up. An **ear** is what one attempt was heard to do so far, bounded; each thing heard makes a new one and, now and then, a
 * discovery. Whether a discovery is worth telling anybody is in its score; who is told is not known here (relate.ts).
 * Everything heard is data of others: it is quoted, cut and never followed.
 */
import type { ShellWord } from "#domain/core/shell-words.ts";
import { shellWord } from "#domain/core/shell-words.ts";
import { failureIn } from "#domain/core/similarity.ts";
import type { ToolUse } from "#domain/core/tools.ts";
import { essentialParts, isLook, simplify } from "./command-shape.ts";
import { blameOf, looksFailed, wasDenied } from "./failure-blame.ts";
import { findRemedy, type OpenFailure, type Worked } from "./remedy.ts";
import { anchorsIn, findStatements } from "./statement.ts";

/** One thing that an attempt did or said, as the extractor hears it. */
export type Overheard =
  | {
      readonly kind: "call";
      readonly at: number;
      readonly id: string;
      readonly tool: string;
      readonly does: ToolUse;
      /** JSON, perhaps only its beginning. */
      readonly args: string;
      readonly ok: boolean;
      /** Redacted, perhaps only its beginning. */
      readonly result: string;
    }
  | { readonly kind: "said" | "report"; readonly at: number; readonly id: string; readonly text: string };

/** What one attempt was heard to do: plain data, bounded. */
export interface Ear {
  readonly failures: readonly OpenFailure[];
  readonly worked: readonly Worked[];
  /** When it last changed a file. */
  readonly editedAt: number | null;
  /** The last command failed, and nothing has worked since. */
  readonly inTrouble: boolean;
  /** What its commands named lately, in lower case. */
  readonly met: readonly string[];
  /** What it has discovered already, by what each names: the same in other words is no second discovery. */
  readonly told: readonly (readonly string[])[];
}

export const NEW_EAR: Ear = { failures: [], worked: [], editedAt: null, inTrouble: false, met: [], told: [] };

export interface Discovery {
  readonly kind: "failure-fix" | "fact";
  /** One or two sentences. */
  readonly text: string;
  /** The same discovery has the same key, whoever makes it. */
  readonly key: string;
  /** How the failure is recognised again (failureKey); null where nothing failed. */
  readonly failing: string | null;
  /** How the remedy is recognised again (commandKey); null where it is no command. */
  readonly fix: string | null;
  readonly paths: readonly string[];
  /** 0..1: how much it is worth to others. */
  readonly score: number;
  readonly via: "tool" | "reply" | "report";
  /** The signal it was heard in. */
  readonly id: string;
}

/** Failures, and commands that worked, which an ear remembers at once. */
const MOST_FAILURES = 12;
const MOST_WORKED = 12;
const MOST_MET = 60;
const MOST_TOLD = 40;
/** What failed longer ago than this has nothing to do with what works now. */
const FAILURE_LASTS_MS = 3 * 60 * 60_000;

export function listen(ear: Ear, heard: Overheard): { readonly ear: Ear; readonly found: readonly Discovery[] } {
  if (heard.kind !== "call") return hearWords(ear, heard);
  if (heard.does === "edit") return { ear: heard.ok ? { ...ear, editedAt: heard.at } : ear, found: [] };
  const command = heard.does === "shell" ? shellCommandIn(heard.args) : undefined;
  if (command === undefined || simplify(command).length === 0) return { ear, found: [] };
  if (!heard.ok && wasDenied(heard.result)) return { ear, found: [] };
  return hearCommand(ear, heard, command);
}

function hearCommand(ear: Ear, heard: Extract<Overheard, { kind: "call" }>, command: string) {
  const { at, id, result } = heard;
  const fresh = ear.failures.filter((one) => at - one.at < FAILURE_LASTS_MS);
  const met = [...ear.met, ...listNames(command)].slice(-MOST_MET);
  const isOnlyLooking = simplify(command).every(isLook);
  if (!heard.ok || (!isOnlyLooking && looksFailed(result))) {
    if (isOnlyLooking && !command.includes("commit")) return { ear: { ...ear, met }, found: [] };
    const failure = { at, command, failing: failureKey(command, result), result, blame: blameOf(result) };
    const failures = [...fresh, failure].slice(-MOST_FAILURES);
    return { ear: { ...ear, failures, met, inTrouble: true }, found: [] };
  }
  if (isOnlyLooking && !command.includes("commit")) return { ear: { ...ear, failures: fresh, met }, found: [] };
  const { failures: solved, remedy } = findRemedy({ ...ear, failures: fresh }, command);
  const next: Ear = {
    ...ear,
    failures: fresh.filter((one) => !solved.includes(one)),
    worked: [...ear.worked, { at, command }].slice(-MOST_WORKED),
    inTrouble: false,
    met,
  };
  const [first] = solved;
  if (!remedy || !first) return { ear: next, found: [] };
  const names = remedy.names.map((word) => word.toLowerCase());
  // By these two it is spoken of later.
  const named = [commandKey(first.command), commandKey(remedy.fix)].map((one) => one.toLowerCase());
  if (names.length > 0 && names.every((one) => isTold(ear, [one]))) return { ear: next, found: [] };
  const discovery: Discovery = {
    kind: "failure-fix",
    text: remedy.text,
    key: `${commandKey(first.command)} => ${names.toSorted().join(" ")}`.slice(0, LONGEST_KEY),
    failing: first.failing,
    fix: commandKey(remedy.fix),
    paths: pathsIn(`${first.command} ${command}`),
    score: remedy.score,
    via: "tool",
    id,
  };
  return { ear: remember(next, names.length > 0 ? names : named), found: [discovery] };
}

const LONGEST_KEY = 400;

function hearWords(ear: Ear, heard: Extract<Overheard, { kind: "said" | "report" }>) {
  const via = heard.kind === "report" ? "report" : "reply";
  const hasMet = (anchor: string) => ear.met.some((one) => one.includes(anchor) || anchor.includes(one));
  let now = ear;
  const found: Discovery[] = [];
  for (const { text, anchors, stance, score } of findStatements(heard.text, {
    via,
    inTrouble: ear.inTrouble,
    hasMet,
  })) {
    if (isTold(now, anchors)) continue;
    // What is not worth telling may be said again, better.
    if (score >= WORTH_REMEMBERING) now = remember(now, anchors);
    const key = `says ${anchors.toSorted().slice(0, 4).join(" ")} | ${stance}`.slice(0, LONGEST_KEY);
    found.push({ kind: "fact", text, key, failing: null, fix: null, paths: pathsIn(text), score, via, id: heard.id });
  }
  return { ear: now, found };
}

const WORTH_REMEMBERING = 0.5;

function remember(ear: Ear, anchors: readonly string[]): Ear {
  return { ...ear, told: [...ear.told, anchors.slice(0, 16)].slice(-MOST_TOLD) };
}

/** What others told an attempt is no discovery of its own, in whichever words it repeats it. */
export function rememberTold(ear: Ear, text: string): Ear {
  const anchors = anchorsIn(text);
  const isKnown = ear.told.some((known) => known.join("\n") === anchors.slice(0, 16).join("\n"));
  return anchors.length === 0 || isKnown ? ear : remember(ear, anchors);
}

/** Something that was told names what this names. */
function isTold({ told }: Ear, anchors: readonly string[]): boolean {
  return told.some((known) => {
    const shared = anchors.filter((one) => known.some((other) => one.includes(other) || other.includes(one))).length;
    return shared > 0 && shared * 2 >= Math.min(anchors.length, known.length);
  });
}

/** Variables, flags and other words by which one may speak of it later. */
function listNames(command: string): string[] {
  return simplify(command)
    .flatMap(({ variables, program, words }) => [...variables, program, ...words])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= 4);
}

/** The command of a shell's call; the arguments may be cut, and then nothing is known. */
export function shellCommandIn(args: string): string | undefined {
  try {
    const { command } = JSON.parse(args) as { readonly command?: unknown };
    return typeof command === "string" ? command : undefined;
  } catch {
    return undefined; // only the beginning of it was kept
  }
}

/** A quoted word stays one word. */
function keyWord({ text, quoted }: ShellWord): string {
  return quoted ? shellWord(text) : text;
}

/** How a shell command is recognised again: `npm test -- auth` and `npm test -- auth 2>&1 | tail` are one. */
export function commandKey(command: string): string {
  return essentialParts(command)
    .map(({ joint, assignments, words }, index) =>
      [index === 0 ? "" : joint, ...assignments.map(keyWord), ...words.map(keyWord)]
        .filter((word) => word !== "")
        .join(" "),
    )
    .join(" ")
    .trim();
}

const BETWEEN = " ! ";

/** How a failure is recognised again: the command, and how it failed. */
export function failureKey(command: string, result: string): string {
  return `${commandKey(command)}${BETWEEN}${failureIn(result, false, true)?.head ?? "?"}`;
}

/** The command of a failure (as commandKey names it). */
export function commandOfFailure(failing: string): string {
  return failing.slice(0, failing.lastIndexOf(BETWEEN));
}

const PATH = /(?:^|[\s'"=`(])((?:[\w.@-]+\/)+[\w.@-]+)/g;
const MOST_PATHS = 5;
const LOOKED_THROUGH = 1_000;

function pathsIn(text: string): string[] {
  const paths = [...text.slice(0, LOOKED_THROUGH).matchAll(PATH)].map(([, path = ""]) => path.replace(/^\.\//, ""));
  return [...new Set(paths)].slice(0, MOST_PATHS);
}

/**
 * What an agent discovers, found in what it is heard to do (SYNC-1): a command that failed and, changed, worked later.
 * An **ear** is what one attempt was heard to do so far, bounded; each thing heard makes a new one and, now and then, a
 * discovery. Whether a discovery is worth telling anybody is in its score; who is told is not known here (relate.ts).
 * Everything heard is data of others: it is quoted, cut and never followed.
 */
import { inline } from "#domain/core/quote.ts";
import type { ShellCommand } from "#domain/core/shell-words.ts";
import { shellCommands } from "#domain/core/shell-words.ts";
import { failureIn, tellingLine } from "#domain/core/similarity.ts";
import type { ToolUse } from "#domain/core/tools.ts";

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

/** A command that failed and has no remedy yet. */
interface OpenFailure {
  readonly command: string;
  readonly key: string;
  readonly says: string;
  readonly failing: string;
}

/** What one attempt was heard to do: plain data, bounded. */
export interface Ear {
  readonly failures: readonly OpenFailure[];
}

export const NEW_EAR: Ear = { failures: [] };

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

/** Failures an ear remembers at once. */
const MOST_FAILURES = 8;

export function listen(ear: Ear, heard: Overheard): { readonly ear: Ear; readonly found: readonly Discovery[] } {
  const command = heard.kind === "call" && heard.does === "shell" ? shellCommandIn(heard.args) : undefined;
  if (heard.kind !== "call" || command === undefined) return { ear, found: [] };
  const key = commandKey(command);
  if (key === "") return { ear, found: [] };
  if (!heard.ok) {
    const failure = { command, key, says: tellingLine(heard.result), failing: failureKey(command, heard.result) };
    const others = ear.failures.filter((one) => one.key !== key);
    return { ear: { failures: [...others, failure].slice(-MOST_FAILURES) }, found: [] };
  }
  const solved = ear.failures.findLast((one) => one.key !== key && programOf(one.key) === programOf(key));
  const left = ear.failures.filter((one) => one !== solved && one.key !== key);
  return { ear: { failures: left }, found: solved ? [discoveryOf(solved, command, heard.id)] : [] };
}

function discoveryOf({ command, failing, says }: OpenFailure, fix: string, id: string): Discovery {
  const why = says === "" ? "" : ` (${inline(says, 160)})`;
  return {
    kind: "failure-fix",
    text: `${inline(command, 160)} fails${why}; ${inline(fix, 160)} works.`,
    key: `${failing} => ${commandKey(fix)}`,
    failing,
    fix: commandKey(fix),
    paths: pathsIn(`${command} ${fix}`),
    score: says === "" ? 0.5 : 0.7,
    via: "tool",
    id,
  };
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

/** Filters behind a pipe that only shorten what is printed. */
const SHORTENERS: ReadonlySet<string> = new Set(["tail", "head", "cat", "less", "tee", "grep"]);

/** How a shell command is recognised again: `npm test -- auth` and `npm test -- auth 2>&1 | tail` are one. */
export function commandKey(command: string): string {
  const parts = shellCommands(command.slice(0, LONGEST_COMMAND));
  const kept = parts.filter((part, index) => !isMove(part, parts.length, index) && !isShortener(part));
  return kept
    .map(({ joint, assignments, words }, index) =>
      [index === 0 ? "" : joint, ...assignments.map(({ text }) => text), ...words.map(({ text }) => text)]
        .filter((word) => word !== "")
        .join(" "),
    )
    .join(" ")
    .trim();
}

const LONGEST_COMMAND = 4_096;

function isMove({ words }: ShellCommand, parts: number, index: number): boolean {
  return words[0]?.text === "cd" && index + 1 < parts;
}

function isShortener({ joint, words }: ShellCommand): boolean {
  return joint === "|" && SHORTENERS.has(words[0]?.text ?? "");
}

function programOf(key: string): string {
  return key.split(" ").find((word) => !/^\w+=/.test(word)) ?? "";
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

const PATH = /(?:^|[\s'"=])((?:[\w.@-]+\/)+[\w.@-]+)/g;
const MOST_PATHS = 5;

function pathsIn(text: string): string[] {
  const paths = [...text.matchAll(PATH)].map(([, path = ""]) => path.replace(/^\.\//, ""));
  return [...new Set(paths)].slice(0, MOST_PATHS);
}

/**
 * From the text of .overseer/config.yaml to a checked configuration, or to one error that lists everything wrong with
 * it, each with line and column. A missing or empty file is the defaults. Nothing in a file can make this hang or
 * throw anything but an OverseerError: size, depth and aliases are bounded, repeated keys are refused.
 * What only bad files need (the YAML reader with positions, the wording of problems) is loaded only for them.
 * zod comes with this file, so programs that must start fast read the checked copy in run/config.json instead.
 */
import type { Hold } from "#domain/health/settings.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { isRecord } from "./kinds.ts";
import type { LocatedText } from "./locate.ts";
import type { Problem } from "./problems.ts";
import { type Config, schema } from "./schema.ts";

const LONGEST_TEXT = 256 * 1024;
/** Counted after aliases are expanded; a hundred times what a real file holds. */
const MOST_VALUES = 10_000;
const MOST_PROBLEMS_SHOWN = 20;

/** What loading needs of the file system; `Files` of sys is one. */
export interface TextReader {
  /** The text, or undefined when there is no such file. */
  read(path: string): Promise<string | undefined>;
}

export interface LoadedConfig {
  readonly config: Config;
  /** As it stands in the file; undefined when there is none. */
  readonly text?: string;
  readonly path: string;
  /** Why the file is not what is in effect; absent when it is. */
  readonly hold?: Hold;
}

export async function loadConfig(files: TextReader, path: string): Promise<Config> {
  return (await loadConfigFile(files, path)).config;
}

/** Like `loadConfig`, and keeps the text, which tells what was set from what was left to the defaults. */
export async function loadConfigFile(files: TextReader, path: string): Promise<LoadedConfig> {
  const text = await files.read(path).catch((cause: unknown) => {
    const message = `${path} cannot be read: ${messageOf(cause)}`;
    throw new OverseerError("environment", "CONFIG_UNREADABLE", message, `Make ${path} readable for you.`, { cause });
  });
  return text === undefined ? { config: parseConfig("", path), path } : { config: parseConfig(text, path), text, path };
}

/** `source` is how the file is called in messages. */
export function parseConfig(text: string, source: string): Config {
  const raw = readValues(text, source);
  const result = schema.safeParse(raw);
  if (result.success && !text.includes("__proto__")) return result.data;
  const { problemsOf, unusableNames } = require("./problems.ts") as typeof import("./problems.ts");
  const problems = [...unusableNames(raw), ...problemsOf(result.error?.issues ?? [], raw)];
  if (result.success && problems.length === 0) return result.data;
  throw invalid(source, locateProblems(problems, text));
}

/** What a user should know about a file that is otherwise fine: keys it sets that nothing reads yet. */
export async function noticesOf({ text, path, hold }: Omit<LoadedConfig, "config">): Promise<string[]> {
  if (text === undefined || hold) return [];
  const [{ valuesOf }, { notBuiltNotices }] = await Promise.all([import("./keys.ts"), import("./not-built.ts")]);
  return notBuiltNotices(valuesOf(readValues(text, path)).map(({ key }) => key));
}

/** What the file sets, unchecked: an object of plain values, small enough to walk through. */
export function readValues(text: string, source: string): Record<string, unknown> {
  const start = { line: 1, column: 1 };
  if (text.length > LONGEST_TEXT) {
    throw invalid(source, [{ ...start, text: "the file is larger than 256 KB, which no configuration is." }]);
  }
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (isTooDeep(plain)) throw invalid(source, [{ ...start, text: "the file is nested too deeply to be read." }]);
  const raw = parseYaml(plain, source);
  if (raw === null || raw === undefined) return {};
  if (!isRecord(raw)) {
    const found = Array.isArray(raw) ? "a list" : "a single value";
    throw invalid(source, [{ ...start, text: `the file must hold keys with values, not ${found}.` }]);
  }
  const keys = countKeys(raw);
  const colons = plain.split(":").length - 1;
  if (keys === "too-many" || colons > MOST_VALUES) {
    throw invalid(source, [{ ...start, text: "the file holds too many values, perhaps through aliases." }]);
  }
  // A key in a block has its colon. As many colons as keys, and no sign that lets a key do without one or show twice,
  // means that no key was given twice; anything else, be it a colon in a comment, is worth the slower look.
  if (colons !== keys || /[&*?]|<<|\{[^}]/.test(plain)) refuseFaults(plain, source);
  return raw;
}

function parseYaml(text: string, source: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (cause) {
    refuseFaults(text, source);
    const reason = `the file is not valid YAML (${messageOf(cause).replace(/^YAML Parse error: /, "")}).`;
    throw invalid(source, [{ line: 1, column: 1, text: reason }], cause);
  }
}

function refuseFaults(text: string, source: string): void {
  const faults = readPositions(text).faults;
  if (faults.length === 0) return;
  throw invalid(
    source,
    faults.map((fault) => ({ ...fault, text: `${fault.text.replace(/\.$/, "")}.` })),
  );
}

/** The text with positions. Loaded here and at once, because a reader of good files never needs it. */
function readPositions(text: string): LocatedText {
  const { locate } = require("./locate.ts") as typeof import("./locate.ts");
  return locate(text);
}

const DEEPEST = 100;

/**
 * Both readers recurse, and the one with positions needs minutes for ten thousand levels. The configuration has four;
 * anything near a hundred brackets, dashes or steps of indentation is not one.
 */
function isTooDeep(text: string): boolean {
  if (new RegExp(`(?:[-?][ \\t]+){${DEEPEST}}|^ {${2 * DEEPEST}}`, "m").test(text)) return true;
  let open = 0;
  for (const [sign] of text.matchAll(/[[\]{}]/g)) {
    open = sign === "[" || sign === "{" ? open + 1 : Math.max(0, open - 1);
    if (open > DEEPEST) return true;
  }
  return false;
}

/** Walks with a list of its own instead of recursion, and stops early: aliases can make a small file endless. */
function countKeys(raw: Record<string, unknown>): number | "too-many" {
  let keys = 0;
  let values = 0;
  const waiting: unknown[] = [raw];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    const parts = Object.values(value);
    values += parts.length;
    if (!Array.isArray(value)) keys += parts.length;
    if (values > MOST_VALUES) return "too-many";
    for (const part of parts) waiting.push(part);
  }
  return keys;
}

interface PlacedText {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

function locateProblems(problems: readonly Problem[], text: string): PlacedText[] {
  const where = readPositions(text.startsWith("\uFEFF") ? text.slice(1) : text);
  return problems
    .map((problem) => ({
      ...where.place(problem.path, problem.at),
      text: problem.text,
    }))
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

function invalid(source: string, problems: readonly PlacedText[], cause?: unknown): OverseerError {
  const lines = problems
    .slice(0, MOST_PROBLEMS_SHOWN)
    .map(({ line, column, text }) => `${source}:${line}:${column}: ${text}`);
  const left = problems.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more.`);
  const hint = "Correct the file; `overseer config explain <key>` says what a key takes.";
  return new OverseerError("config", "CONFIG_INVALID", lines.join("\n"), hint, { cause });
}

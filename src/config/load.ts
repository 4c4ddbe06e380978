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
import { listPlaced, type PlacedText, type Problem, placeProblems, readPositions } from "./placed.ts";
import { type LiftedValues, liftOldNames, nameNow, tellOldNames } from "./renamed.ts";
import { type Config, schema } from "./schema.ts";

/** How much a file may hold. */
export interface TextBounds {
  readonly characters: number;
  /** Counted after aliases are expanded. */
  readonly values: number;
  /** Said of a file that is larger. */
  readonly tooLarge: string;
}

/** A hundred times what a real configuration holds. */
const CONFIG_BOUNDS: TextBounds = {
  characters: 256 * 1024,
  values: 10_000,
  tooLarge: "the file is larger than 256 KB, which no configuration is.",
};

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
  const read = liftOldNames(readValues(text, source));
  const { values } = read;
  const result = schema.safeParse(values);
  if (result.success && read.twice.length === 0 && !text.includes("__proto__")) return result.data;
  const { problemsOf, unusableNames } = require("./problems.ts") as typeof import("./problems.ts");
  const problems = [...unusableNames(values), ...problemsOf(result.error?.issues ?? [], values)];
  const asInFile = [...read.twice.map(setTwice), ...problems.map((problem) => atOldName(problem, read.lifted))];
  if (result.success && asInFile.length === 0) return result.data;
  throw invalid(source, placeProblems(asInFile, text));
}

function setTwice(was: string): Problem {
  const text = `${was} is the old name of ${nameNow(was)}, which is set too; leave one of them out.`;
  return { path: was.split("."), at: "key", text };
}

/** A problem stands where the file has the key, by whatever name. */
function atOldName(problem: Problem, lifted: LiftedValues["lifted"]): Problem {
  const was = lifted.get(problem.path.join("."));
  if (was === undefined) return problem;
  return { ...problem, path: was.split("."), text: `${was} has an old name: ${problem.text}` };
}

/** What the file sets, by the names that keys have now. */
export function readConfigValues(text: string, source: string): Record<string, unknown> {
  return liftOldNames(readValues(text, source)).values;
}

/** What a user should know about a file that is otherwise fine: old names, and keys it sets that nothing reads yet. */
export async function noticesOf({ text, path, hold }: Omit<LoadedConfig, "config">): Promise<string[]> {
  if (text === undefined || hold) return [];
  const [{ valuesOf }, { notBuiltNotices }] = await Promise.all([import("./keys.ts"), import("./not-built.ts")]);
  const read = liftOldNames(readValues(text, path));
  return [...tellOldNames(read), ...notBuiltNotices(valuesOf(read.values).map(({ key }) => key))];
}

/** What the file sets, unchecked: an object of plain values, small enough to walk through. */
export function readValues(text: string, source: string, bounds = CONFIG_BOUNDS): Record<string, unknown> {
  const start = { line: 1, column: 1 };
  if (text.length > bounds.characters) throw invalid(source, [{ ...start, text: bounds.tooLarge }]);
  const plain = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (isTooDeep(plain)) throw invalid(source, [{ ...start, text: "the file is nested too deeply to be read." }]);
  const raw = parseYaml(plain, source);
  if (raw === null || raw === undefined) return {};
  if (!isRecord(raw)) {
    const found = Array.isArray(raw) ? "a list" : "a single value";
    throw invalid(source, [{ ...start, text: `the file must hold keys with values, not ${found}.` }]);
  }
  const keys = countKeys(raw, bounds.values);
  const colons = plain.split(":").length - 1;
  if (keys === "too-many" || colons > bounds.values) {
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
function countKeys(raw: Record<string, unknown>, most: number): number | "too-many" {
  let keys = 0;
  let values = 0;
  const waiting: unknown[] = [raw];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    const parts = Object.values(value);
    values += parts.length;
    if (!Array.isArray(value)) keys += parts.length;
    if (values > most) return "too-many";
    for (const part of parts) waiting.push(part);
  }
  return keys;
}

function invalid(source: string, problems: readonly PlacedText[], cause?: unknown): OverseerError {
  const hint = "Correct the file; `overseer config explain <key>` says what a key takes.";
  return new OverseerError("config", "CONFIG_INVALID", listPlaced(source, problems), hint, { cause });
}

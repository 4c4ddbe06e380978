/**
 * The command line of the scripted agent: the part of Claude Code's that a driver uses, spelled the same. What it does
 * not know it refuses, so that a driver which invents a flag is found by the first test and not by the first user.
 */
import { OverseerError } from "#errors.ts";

export interface Flags {
  readonly prompt: string | undefined;
  readonly inputFormat: "text" | "stream-json";
  readonly outputFormat: "text" | "json" | "stream-json";
  readonly replayUserMessages: boolean;
  readonly sessionId: string | undefined;
  readonly resume: string | undefined;
  /** A file, or JSON as it stands. */
  readonly settings: string | undefined;
  readonly systemPrompt: string | undefined;
  readonly systemPromptFile: string | undefined;
  readonly model: string;
  /** How it speaks with its hooks, and what it calls its tools. */
  readonly dialect: "claude-code" | "plain";
  readonly permissionMode: string;
  readonly version: boolean;
}

const SWITCHES = [
  "--print",
  "--verbose",
  "--replay-user-messages",
  "--dangerously-skip-permissions",
  "--version",
] as const;
const VALUES = [
  "--input-format",
  "--output-format",
  "--session-id",
  "--resume",
  "--settings",
  "--append-system-prompt",
  "--append-system-prompt-file",
  "--model",
  "--dialect",
  "--permission-mode",
] as const;
const SHORT: Readonly<Record<string, string>> = { "-p": "--print", "-r": "--resume", "-v": "--version" };
const PERMISSION_MODES = ["default", "manual", "acceptEdits", "plan", "bypassPermissions", "dontAsk", "auto"] as const;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function parseFlags(argv: readonly string[]): Flags {
  const { given, words } = sortArguments(argv);
  if (words.length > 1) throw usage(`More than one prompt: ${words.slice(0, 3).join(" | ")}.`, "Quote the prompt.");
  const flags: Flags = {
    prompt: words[0],
    inputFormat: oneOf(given, "--input-format", ["text", "stream-json"]) ?? "text",
    outputFormat: oneOf(given, "--output-format", ["text", "json", "stream-json"]) ?? "text",
    replayUserMessages: given.has("--replay-user-messages"),
    sessionId: uuid(given, "--session-id"),
    resume: uuid(given, "--resume"),
    settings: given.get("--settings"),
    systemPrompt: given.get("--append-system-prompt"),
    systemPromptFile: given.get("--append-system-prompt-file"),
    model: given.get("--model") ?? "scripted-1",
    dialect: oneOf(given, "--dialect", ["claude-code", "plain"]) ?? "claude-code",
    permissionMode: given.has("--dangerously-skip-permissions")
      ? "bypassPermissions"
      : (oneOf(given, "--permission-mode", PERMISSION_MODES) ?? "default"),
    version: given.has("--version"),
  };
  if (!flags.version) refuseContradictions(flags, given);
  return flags;
}

function sortArguments(argv: readonly string[]): { given: Map<string, string>; words: string[] } {
  const given = new Map<string, string>();
  const words: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? "";
    if (word === "--") return { given, words: [...words, ...argv.slice(index + 1)] };
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const [spelled, inline] = word.startsWith("--") ? splitFlag(word) : [word, undefined];
    const name = SHORT[spelled] ?? spelled;
    if (includes(SWITCHES, name)) given.set(name, "");
    else if (!includes(VALUES, name))
      throw usage(`Unknown option ${spelled}.`, `Known: ${[...SWITCHES, ...VALUES].join(" ")}.`);
    else if (inline !== undefined) given.set(name, inline);
    else {
      index += 1;
      const value = argv[index];
      if (value === undefined) throw usage(`${name} needs a value.`, "Give one.");
      given.set(name, value);
    }
  }
  return { given, words };
}

function refuseContradictions(flags: Flags, given: ReadonlyMap<string, string>): void {
  if (!given.has("--print")) throw usage("The scripted agent has no interactive screen.", "Start it with -p.");
  if (flags.outputFormat === "stream-json" && !given.has("--verbose")) {
    throw usage("With -p, --output-format stream-json needs --verbose.", "Add --verbose.");
  }
  if (flags.inputFormat === "stream-json" && flags.outputFormat !== "stream-json") {
    throw usage("--input-format stream-json needs --output-format stream-json.", "Add it.");
  }
  if (flags.inputFormat === "stream-json" && flags.prompt !== undefined) {
    throw usage("With --input-format stream-json the prompt comes on stdin.", "Send it as a user message.");
  }
  if (flags.sessionId !== undefined && flags.resume !== undefined) {
    throw usage("--session-id names a new session, --resume an old one.", "Give one of the two.");
  }
}

function splitFlag(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function includes(list: readonly string[], item: string): boolean {
  return list.includes(item);
}

function oneOf<T extends string>(given: ReadonlyMap<string, string>, name: string, known: readonly T[]): T | undefined {
  const value = given.get(name);
  if (value === undefined) return undefined;
  const match = known.find((item) => item === value);
  if (match === undefined) throw usage(`${name} is "${value}".`, `Give one of: ${known.join(", ")}.`);
  return match;
}

function uuid(given: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = given.get(name);
  if (value !== undefined && !UUID.test(value)) throw usage(`${name} must be a UUID, got "${value}".`, "Give a UUID.");
  return value;
}

function usage(message: string, hint: string): OverseerError {
  return new OverseerError("usage", "SCRIPTED_AGENT_USAGE", message, hint);
}

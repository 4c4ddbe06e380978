/**
 * From the words typed to the values of a call, checked against the command's description. Pure, so that every way of
 * mistyping is a row in a table. It reads the forms people expect (`--name value`, `--name=value`, `-n value`, `-nvalue`,
 * `-ab`, and `--` to end the options) and refuses what it would have to guess: a value that begins with a dash must be
 * given with `=`, and an option that holds one value may be given once. It knows nothing of menus, files or terminals.
 */
import { nearest } from "#domain/core/nearest.ts";
import type { Argument, Command, Option } from "./command.ts";

/** Understood by every command, before or after its name. No command may use these names for its own. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  { name: "json", summary: "Print the answer, or the error, as JSON" },
  { name: "root", value: "dir", summary: "Use the repository in this directory instead of the current one" },
  { name: "help", short: "h", summary: "Show help, with examples" },
];

export interface CallValues {
  readonly args: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
  /** By long name; a switch that was given has an empty list. Global options are here too. */
  readonly options: ReadonlyMap<string, readonly string[]>;
}

/** What is wrong with the words, and what to do about it. */
export interface UsageProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export type Parsed =
  | { readonly ok: true; readonly values: CallValues }
  | { readonly ok: false; readonly problem: UsageProblem };

/**
 * `calledAs` is how the command was reached ("overseer goal create"), for the messages. A call for help is never wrong: people
 * ask for it exactly when the rest is.
 */
export function parseCall(
  command: Command<never>,
  words: readonly string[],
  calledAs: string = `overseer ${command.name}`,
): Parsed {
  const read = readWords([...(command.options ?? []), ...GLOBAL_OPTIONS], words, calledAs);
  const placed = placeArguments(command.args ?? [], read.positionals, calledAs);
  const values = { args: placed.args, rest: placed.rest, options: read.options };
  const problem = read.problem ?? placed.problem;
  return problem === undefined || read.options.has("help") ? { ok: true, values } : { ok: false, problem };
}

/** The global options that stand before a command's name, and the words from that name on. */
export function splitGlobals(words: readonly string[]): { globals: readonly string[]; rest: readonly string[] } {
  let at = 0;
  while (at < words.length && isOption(words[at])) {
    const option = GLOBAL_OPTIONS.find(({ name, short }) => words[at] === `--${name}` || words[at] === `-${short}`);
    at += option?.value !== undefined && words[at + 1] !== undefined && !isOption(words[at + 1]) ? 2 : 1;
  }
  return { globals: words.slice(0, at), rest: words.slice(at) };
}

interface WordsRead {
  readonly options: Map<string, string[]>;
  readonly positionals: string[];
  /** The first thing that was wrong; reading continues, because a later `--help` still counts. */
  problem?: UsageProblem;
}

function readWords(known: readonly Option[], words: readonly string[], calledAs: string): WordsRead {
  const read: WordsRead = { options: new Map(), positionals: [] };
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") {
      read.positionals.push(...words.slice(at + 1));
      break;
    }
    if (!isOption(word)) {
      read.positionals.push(word);
      continue;
    }
    const next = words[at + 1];
    const taken = word.startsWith("--")
      ? readLong(known, { word, next, calledAs }, read)
      : readShorts(known, { word, next, calledAs }, read);
    if (taken) at++;
  }
  return read;
}

interface WordInPlace {
  readonly word: string;
  readonly next: string | undefined;
  readonly calledAs: string;
}

/** Reads `--name`, `--name=value` or `--name value`; true when the next word was its value. */
function readLong(known: readonly Option[], { word, next, calledAs }: WordInPlace, read: WordsRead): boolean {
  const equals = word.indexOf("=");
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
  const attached = equals < 0 ? undefined : word.slice(equals + 1);
  const option = known.find((candidate) => candidate.name === name);
  if (option === undefined) {
    read.problem ??= unknownOption(known, name, calledAs);
    return false;
  }
  if (option.value === undefined && attached !== undefined) {
    read.problem ??= {
      code: "UNEXPECTED_VALUE",
      message: `--${name} is a switch and takes no value.`,
      hint: `Write --${name} alone.`,
    };
    return false;
  }
  return readValue(option, { shown: `--${name}`, attached, next }, read);
}

/** Reads `-a`, several switches in one word, or `-n value` and `-nvalue`; true when the next word was its value. */
function readShorts(known: readonly Option[], { word, next, calledAs }: WordInPlace, read: WordsRead): boolean {
  for (let at = 1; at < word.length; at++) {
    const short = word[at] ?? "";
    const option = known.find((candidate) => candidate.short === short);
    if (option === undefined) {
      read.problem ??= unknownShort(known, { word, short, calledAs });
      return false;
    }
    if (option.value === undefined) {
      keep(option, [], read);
      continue;
    }
    const rest = word.slice(at + 1);
    const attached = rest === "" ? undefined : rest.replace(/^=/, "");
    return readValue(option, { shown: `-${short}`, attached, next }, read);
  }
  return false;
}

function readValue(
  option: Option,
  { shown, attached, next }: { shown: string; attached: string | undefined; next: string | undefined },
  read: WordsRead,
): boolean {
  if (option.value === undefined) {
    keep(option, [], read);
    return false;
  }
  const value = attached ?? (next === undefined || isOption(next) ? undefined : next);
  if (value === undefined) {
    read.problem ??= {
      code: "MISSING_VALUE",
      message: `${shown} needs a value: ${shown} <${option.value}>.`,
      hint:
        next === undefined
          ? `Add the ${option.value} after ${shown}.`
          : `A value that begins with a dash is written --${option.name}=${next}`,
    };
    return false;
  }
  if (option.repeat !== true && read.options.has(option.name)) {
    read.problem ??= {
      code: "GIVEN_TWICE",
      message: `--${option.name} was given twice and holds one value.`,
      hint: "Keep the one you mean.",
    };
  }
  read.problem ??= notAChoice(`--${option.name}`, value, option.choices);
  keep(option, [value], read);
  return attached === undefined;
}

function keep(option: Option, values: readonly string[], read: WordsRead): void {
  const before = read.options.get(option.name);
  if (before === undefined) read.options.set(option.name, [...values]);
  else before.push(...values);
}

interface ArgumentsPlaced {
  readonly args: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
  readonly problem?: UsageProblem;
}

function placeArguments(described: readonly Argument[], words: readonly string[], calledAs: string): ArgumentsPlaced {
  const args = new Map<string, string>();
  let rest: readonly string[] = [];
  let problem: UsageProblem | undefined;
  const help = `See: ${calledAs} --help`;
  for (const [at, argument] of described.entries()) {
    const given = argument.rest === true ? words.slice(at) : words.slice(at, at + 1);
    const first = given[0];
    if (first === undefined) {
      if (argument.optional === true) continue;
      problem ??= { code: "MISSING_ARGUMENT", message: `${calledAs} needs a <${argument.name}>.`, hint: help };
      continue;
    }
    for (const word of given) problem ??= notAChoice(`<${argument.name}>`, word, argument.choices);
    args.set(argument.name, first);
    if (argument.rest === true) rest = given;
  }
  const surplus = described.at(-1)?.rest === true ? undefined : words[described.length];
  if (surplus !== undefined) {
    const room =
      described.length === 0
        ? "no arguments"
        : described.length === 1
          ? "one argument"
          : `${described.length} arguments`;
    problem ??= {
      code: "TOO_MANY_ARGUMENTS",
      message: `${calledAs} takes ${room}, and "${surplus}" is one too many.`,
      hint: described.length === 0 ? help : `Put words that belong together in quotes. ${help}`,
    };
  }
  return problem === undefined ? { args, rest } : { args, rest, problem };
}

function notAChoice(shown: string, value: string, choices: readonly string[] | undefined): UsageProblem | undefined {
  if (choices === undefined || choices.includes(value)) return undefined;
  const guess = nearest(value, choices);
  return {
    code: "NOT_A_CHOICE",
    message: `"${value}" is not a value of ${shown}; it takes ${choices.join(", ")}.`,
    hint: guess === undefined ? "Choose one of these." : `Did you mean ${guess}?`,
  };
}

function unknownOption(known: readonly Option[], name: string, calledAs: string): UsageProblem {
  const names = known.map((option) => option.name);
  const guess = nearest(name, names);
  return {
    code: "UNKNOWN_OPTION",
    message: `${calledAs} has no option --${name}.`,
    hint: guess === undefined ? `See: ${calledAs} --help` : `Did you mean --${guess}?`,
  };
}

function unknownShort(
  known: readonly Option[],
  { word, short, calledAs }: { word: string; short: string; calledAs: string },
): UsageProblem {
  const long = known.find((option) => option.name === word.slice(1));
  const hint = /^-[\d.]/.test(word)
    ? `To pass ${word} as a plain word, put -- before it, or write it as --option=${word}`
    : long === undefined
      ? `See: ${calledAs} --help`
      : `Did you mean --${long.name}?`;
  return { code: "UNKNOWN_OPTION", message: `${calledAs} has no option -${short}.`, hint };
}

/** A lone dash is a word: many programs read it as "standard input". */
function isOption(word: string | undefined): boolean {
  return word !== undefined && word.length > 1 && word.startsWith("-");
}

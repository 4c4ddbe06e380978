/**
 * A failure and what ended it. A command that failed is remembered; one that works later is held against it: the same
 * with a variable or a flag more, behind another command, through another program, or simply again after something else
 * was run. What the failed tries had already is no remedy, and what worked only after the agent had changed its own code
 * is its own business. So is what fails and works again by itself.
 */
import { inline } from "#domain/core/quote.ts";
import { tellingLine } from "#domain/core/similarity.ts";
import type { SimpleCommand } from "./command-shape.ts";
import { flagName, isFlag, isLook, isWrapper, simplify, verbOf } from "./command-shape.ts";
import { type FailureBlame, namesIn, remediesNamed } from "./failure-blame.ts";

/** A command that failed and has no remedy yet. */
export interface OpenFailure {
  readonly at: number;
  readonly command: string;
  /** How the failure is recognised again (extract.ts). */
  readonly failing: string;
  readonly result: string;
  readonly blame: FailureBlame;
}

/** A command that worked since. */
export interface Worked {
  readonly at: number;
  readonly command: string;
}

export interface Remedied {
  /** Those it solved, the oldest first. */
  readonly failures: readonly OpenFailure[];
  /** Undefined where there is nothing to learn from it. */
  readonly remedy:
    | {
        readonly text: string;
        /** The command that ended it. */
        readonly fix: string;
        /** What only the remedy names. */
        readonly names: readonly string[];
        readonly score: number;
      }
    | undefined;
}

export interface Past {
  readonly failures: readonly OpenFailure[];
  /** What worked lately, the oldest first. */
  readonly worked: readonly Worked[];
  /** When the agent last changed a file; null when it has not. */
  readonly editedAt: number | null;
}

export function findRemedy(past: Past, command: string): Remedied {
  const now = simplify(command);
  const related = past.failures.filter((failure) => doesConcern(failure, now));
  const [first] = related;
  if (first === undefined) return { failures: [], remedy: undefined };
  return { failures: related, remedy: describe(first, related, past, command, now) };
}

function describe(
  first: OpenFailure,
  related: readonly OpenFailure[],
  past: Past,
  command: string,
  now: readonly SimpleCommand[],
): Remedied["remedy"] {
  const tried = related.flatMap(({ command: one }) => simplify(one));
  const more = moreThan(tried, now);
  const last = related.at(-1) ?? first;
  const edited = (past.editedAt !== null && past.editedAt >= last.at) || now.some(isEdit);
  const blame = related.some((one) => one.blame === "surroundings") ? "surroundings" : first.blame;
  const between = more.length > 0 ? [] : runBetween(last, past.worked);
  const run = between.length > 0 ? between.flatMap(simplify) : now;
  const named =
    related.some(({ result }) => remediesNamed(result).some((one) => isRun(one, run))) || isNamed(related, run);
  const score = scoreOf({ more, between, edited, blame, named, isCommit: isCommit(first) && isCommit({ command }) });
  if (score === 0) return undefined;
  const says = tellingLine(last.result);
  const why = says === "" ? "" : ` (${inline(says, 160)})`;
  const fails = quoteCommand(first.command);
  const ran = (between.length > 0 ? between : [command]).map(quoteCommand);
  if (fails === undefined || ran.some((one) => one === undefined)) return undefined;
  const works = between.length > 0 ? `it works after ${ran.join(" and ")}` : `${ran[0]} works`;
  return {
    text: `${fails} fails${why}; ${works}.`,
    fix: between.at(-1) ?? command,
    names: newWords(tried, between.length > 0 ? between.flatMap(simplify) : now),
    score,
  };
}

/** The failure speaks of something by name that only the remedy does something about. */
function isNamed(related: readonly OpenFailure[], run: readonly SimpleCommand[]): boolean {
  const before = related.map(({ command }) => command).join(" ");
  const names = related.flatMap(({ result }) => namesIn(result)).filter((name) => !before.includes(name));
  return run.some((one) => !isLook(one) && !isTidying(one) && one.words.some((word) => names.includes(word)));
}

/** Files changed by a command are changed all the same. */
function isEdit({ program, words }: SimpleCommand): boolean {
  return /^(?:sed|perl|xargs)$/.test(program) && words.some((word) => /^-i/.test(word) || word === "-pi");
}

interface Signs {
  readonly more: readonly string[];
  readonly between: readonly string[];
  readonly edited: boolean;
  readonly blame: FailureBlame;
  readonly named: boolean;
  readonly isCommit: boolean;
}

function scoreOf({ more, between, edited, blame, named, isCommit: commits }: Signs): number {
  if (more.length === 0 && between.length === 0) return 0;
  if (commits) return blame === "surroundings" ? 0.7 : 0;
  if (named) return 0.85;
  const sets = more.some((word) => /^[A-Z_][A-Z0-9_]{2,}=/.test(word));
  if (edited) return sets && blame !== "code" ? 0.55 : 0;
  if (sets) return blame === "code" ? 0.65 : 0.8;
  if (more.length > 0) return blame === "surroundings" ? 0.7 : 0.55;
  return blame === "surroundings" ? 0.65 : 0;
}

function isCommit({ command }: { readonly command: string }): boolean {
  return simplify(command).some(({ program, words }) => program === "git" && words.includes("commit"));
}

/** Whether a command does again what had failed. */
function doesConcern({ command, result }: OpenFailure, now: readonly SimpleCommand[]): boolean {
  const failed = simplify(command).filter((one) => !isLook(one) || isCommitWords(one));
  const worked = now.filter((one) => !isLook(one) || isCommitWords(one));
  if (failed.some((one) => worked.some((other) => doesAgain(one, other)))) return true;
  return remediesNamed(result).some((one) => isRun(one, worked));
}

function isCommitWords({ program, words }: SimpleCommand): boolean {
  return program === "git" && words.includes("commit");
}

function doesAgain(failed: SimpleCommand, worked: SimpleCommand): boolean {
  if (isCommitWords(failed) || isCommitWords(worked)) return isCommitWords(failed) && isCommitWords(worked);
  const all = [worked.program, ...worked.words];
  if (worked.program === failed.program) {
    const verb = verbOf(failed);
    return verb === "" || verbOf(worked) === verb || worked.variables.length > 0 || sharesTarget(failed, worked);
  }
  // Through another program: `poetry run pytest` does what `pytest` does.
  if (isWrapper(worked.program) && all.some((word) => word.replace(/@[\w.^~-]+$/, "") === failed.program)) return true;
  if (isWrapper(failed.program) && failed.words.includes(worked.program)) return true;
  if (isPackageManager(failed.program) && isPackageManager(worked.program)) return setsUp(failed) === setsUp(worked);
  return sharesTarget(failed, worked);
}

function isPackageManager(program: string): boolean {
  return /^(?:npm|pnpm|yarn|bun|pip3?|poetry|uv|pipenv|pdm)$/.test(program);
}

/** What a package manager does, by one name for all of them. */
function setsUp(command: SimpleCommand): string {
  const verb = verbOf(command);
  return /^(?:i|ci|install|sync)$/.test(verb) ? "install" : verb;
}

/** A file or target that both were given. */
function sharesTarget(one: SimpleCommand, other: SimpleCommand): boolean {
  const targets = new Set(one.words.filter(isTarget));
  return other.words.some((word) => isTarget(word) && targets.has(word));
}

function isTarget(word: string): boolean {
  return !isFlag(word) && word.length >= 4 && /[./:_+]/.test(word) && !/^(?:\.\/)?\.{1,3}$/.test(word);
}

function wordsOf({ variables, program, words }: SimpleCommand): string[] {
  return [...variables, program, ...words];
}

/** What only the remedy names, by which somebody may speak of it later. */
function newWords(tried: readonly SimpleCommand[], run: readonly SimpleCommand[]): string[] {
  const old = new Set(tried.flatMap(wordsOf));
  const fresh = run.filter((one) => !isLook(one)).flatMap((one) => wordsOf(one).filter((word) => !old.has(word)));
  return [...new Set(fresh)].filter((word) => word.length >= 4 && !isQuiet(word));
}

/** What it has more than all that was tried: variables, flags, programs before it. Other targets are no more. */
function moreThan(tried: readonly SimpleCommand[], now: readonly SimpleCommand[]): string[] {
  const variables = new Set(tried.flatMap((one) => one.variables));
  const flags = new Set(tried.flatMap(({ words }) => words.filter(isFlag).map(flagName)));
  const programs = new Set(
    tried.flatMap(({ program, words }) => [program, `${program} ${verbOf({ variables: [], program, words })}`]),
  );
  const more: string[] = [];
  for (const one of now) {
    if (isLook(one) && !isCommitWords(one)) continue;
    more.push(...one.variables.filter((word) => !variables.has(word)));
    const named = `${one.program} ${verbOf(one)}`;
    if (isCommitWords(one)) more.push(...one.words.filter((word) => word.includes(" ")));
    else if (!programs.has(named) && !isTidying(one)) more.push(named.trim());
    if (isTidying(one)) continue;
    more.push(...one.words.filter((word) => isFlag(word) && !flags.has(flagName(word)) && !isQuiet(word)));
  }
  return [...new Set(more)];
}

/** Flags that change what is printed, and nothing else. */
function isQuiet(word: string): boolean {
  return /^(?:-q|-v|-vv|-s|-x|-l|-a|-p|-r|-m|-am|--quiet|--verbose|--silent|--no-color|--color|--stat|--short|--console|--reporter|--watch|--bail|--tb|--no-header|--nocapture|--runInBand|--noEmit|--check|--write|--fix|--oneline|--headed|--only|--only-testing|--filter|--grep|--run|--no-cache|--clear-cache|--forceExit|--detectOpenHandles|--update|-u|-k|-t|-n|-f|-j\d*|-c|-e|-o|-count|-run|-race|-w|-d|-i|--force|--count|--no-coverage|--coverage|--seed|--retries|--timeout|--maxWorkers|--ci)\b/.test(
    flagName(word),
  );
}

const TIDIES = /^(?:rm|mkdir|touch|cp|mv|chmod|ln|kill|pkill|clear|sed|perl|tee|git|truncate)$/;
const FORMATS =
  /\b(?:prettier|eslint|black|ruff|isort|gofmt|goimports|rustfmt|fmt|format|rubocop|clang-format|ktlint)\b/;

/** What the agent itself has made necessary: a package that its own code wants. */
function isInstall({ program, words }: SimpleCommand): boolean {
  return isPackageManager(program) && /^(?:i|install|add|ci)$/.test(words[0] ?? "");
}

/** It clears away or formats what the agent itself has made. */
function isTidying(one: SimpleCommand): boolean {
  return TIDIES.test(one.program) || FORMATS.test([one.program, ...one.words.slice(0, 3)].join(" "));
}

/** What worked between a failure and now and could have ended it: commands that change something. */
function runBetween(failure: OpenFailure, worked: readonly Worked[]): string[] {
  return worked
    .filter(({ at }) => at >= failure.at)
    .map(({ command }) => command)
    .filter((command) => simplify(command).some((one) => !isLook(one) && !isTidying(one) && !isInstall(one)))
    .slice(-2);
}

/** Whether a command that a failure named is among those that were run. */
function isRun(named: string, now: readonly SimpleCommand[]): boolean {
  const wanted = simplify(named)[0];
  if (!wanted || isTidying(wanted)) return false;
  return now.some(
    (one) =>
      one.program.replace(/^\.\//, "") === wanted.program.replace(/^\.\//, "") &&
      (verbOf(wanted) === "" || one.words.includes(verbOf(wanted))) &&
      wanted.words.filter(isFlag).every((flag) => one.words.some((word) => flagName(word) === flagName(flag))),
  );
}

const FILTERS_BEHIND = /\s*(?:2>&1\s*)?\|\s*(?:tail|head|cat|less|sort|uniq|wc|xcbeautify)\b[^|&;<>`'"\n]{0,80}$/;

/**
 * As it was typed, quotes and all, without the filters behind it: others may run it. Undefined where that does not fit
 * on one line unchanged, because a command that was changed on the way is another command.
 */
export function quoteCommand(command: string): string | undefined {
  let text = command.trim();
  while (FILTERS_BEHIND.test(text)) text = text.replace(FILTERS_BEHIND, "");
  return /[\n\r`]|\s{2}/.test(text) || text.length > LONGEST_SHOWN ? undefined : inline(text, LONGEST_SHOWN + 2);
}

const LONGEST_SHOWN = 300;

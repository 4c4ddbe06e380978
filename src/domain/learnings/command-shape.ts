/**
 * A shell command as what it does: the simple commands in it, without what only moves, waits or shortens, each with its
 * variables, flags and other words. What two commands share and what one has more is what makes a failure and its
 * remedy recognisable. Reading only; nothing here judges.
 */
import type { ShellCommand } from "#domain/core/shell-words.ts";
import { shellCommands } from "#domain/core/shell-words.ts";

export interface SimpleCommand {
  /** `NAME=value` in front of it, or exported before it. */
  readonly variables: readonly string[];
  readonly program: string;
  readonly words: readonly string[];
}

/** More than this of a command is not looked at. */
const LONGEST_COMMAND = 4_096;

/** Filters behind a pipe that only shorten what is printed. */
const SHORTENERS: ReadonlySet<string> = new Set(
  "tail head cat less tee grep rg sed awk sort uniq wc jq xcbeautify tr cut".split(" "),
);
const IDLE: ReadonlySet<string> = new Set(
  "cd sleep echo printf true : exit set pushd popd wait time clear pwd kill".split(" "),
);

/** Without filters that shorten, and without the moves before it. */
export function essentialParts(command: string): ShellCommand[] {
  const parts = shellCommands(command.slice(0, LONGEST_COMMAND));
  return parts.filter((part, index) => !isMove(part, parts.length, index) && !isShortener(part));
}

function isMove({ words }: ShellCommand, parts: number, index: number): boolean {
  return words[0]?.text === "cd" && index + 1 < parts;
}

function isShortener({ joint, words }: ShellCommand): boolean {
  return joint === "|" && SHORTENERS.has(words[0]?.text ?? "");
}

/** What it runs, in order; variables that were exported on the way belong to what follows. */
export function simplify(command: string): SimpleCommand[] {
  const exported: string[] = [];
  const simple: SimpleCommand[] = [];
  for (const { assignments, words } of essentialParts(command)) {
    const [program = "", ...rest] = words.map(({ text }) => text);
    const variables = assignments.map(({ text }) => text);
    if (program === "export") exported.push(...rest.filter((word) => word.includes("=")));
    else if (program === "") exported.push(...variables);
    else if (program === "env") simple.push(unwrapEnv(rest, [...exported, ...variables]));
    else if (!IDLE.has(program)) simple.push({ variables: [...exported, ...variables], program, words: rest });
  }
  return simple;
}

function unwrapEnv(words: readonly string[], before: readonly string[]): SimpleCommand {
  const at = words.findIndex((word) => !word.includes("=") && !word.startsWith("-"));
  const [program = "env", ...rest] = at < 0 ? [] : words.slice(at);
  const set = words.slice(0, at < 0 ? words.length : at).filter((word) => word.includes("="));
  return { variables: [...before, ...set], program, words: rest };
}

const LOOKERS: ReadonlySet<string> = new Set(
  "ls cat head tail less grep rg find which type file env printenv ps df du wc tree stat jq awk sort diff cmp test [ man column id uname date history lsof ss netstat hexdump xxd readelf ldd whoami md5sum sha256sum curl wget ping nproc free".split(
    " ",
  ),
);
const LOOKING_VERBS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: new Set(
    "status log diff show branch ls-files blame rev-parse remote worktree describe grep tag stash add checkout restore reset fetch pull push rebase config mv rm cherry-pick merge".split(
      " ",
    ),
  ),
  docker: new Set("ps logs images inspect version info".split(" ")),
  kubectl: new Set("get describe logs version config".split(" ")),
  npm: new Set("ls view outdated why audit config".split(" ")),
  pip: new Set("list show freeze".split(" ")),
  cargo: new Set("tree metadata search".split(" ")),
  go: new Set("env list version doc".split(" ")),
};

/** It only looks, or moves files and history about: it neither fails nor works in a way that teaches anything. */
export function isLook({ program, words }: SimpleCommand): boolean {
  if (LOOKERS.has(program)) return true;
  if (program === "sed") return words[0] === "-n" || !words.some((word) => word.startsWith("-i"));
  if (words.some((word) => word === "--version" || word === "--help" || word === "-h" || word === "-V")) return true;
  return LOOKING_VERBS[program]?.has(words.find((word) => !word.startsWith("-")) ?? "") === true;
}

/** Programs that run another one. */
const WRAPPERS: ReadonlySet<string> = new Set(
  "npx bunx pnpx corepack poetry uv pipenv bundle mise asdf direnv nix-shell devbox sudo xvfb-run time timeout make just task docker rye hatch pdm yarn pnpm npm bun dotenv doppler op".split(
    " ",
  ),
);

export function isWrapper(program: string): boolean {
  return WRAPPERS.has(program);
}

export function isFlag(word: string): boolean {
  return /^-{1,2}[A-Za-z]/.test(word);
}

/** What a flag is called, without its value. */
export function flagName(word: string): string {
  return word.replace(/=.*$/s, "");
}

/** The first word that is no flag: `test` of `npm test`. */
export function verbOf({ words }: SimpleCommand): string {
  return words.find((word) => !word.startsWith("-")) ?? "";
}

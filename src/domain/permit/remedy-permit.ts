/**
 * What a remediating agent may do with its tools (GUARD-7). It works in the user's own checkout without a person beside
 * it, so everything is refused that is not on a list: the settings it may write, the commands that only read, and `rm`
 * of a lock file of git's. Other than in permit-shell.ts nothing passes because it could not be understood: a shell
 * line that holds anything a plain reader does not need (expansions, subshells, redirects, variables in front) is
 * refused with a sentence that says what to do instead. Pure: where a path leads is for the caller to say.
 */
import { type ShellCommand, type ShellRedirect, type ShellWord, shellCommands } from "#domain/core/shell-words.ts";
import { setsUpAgents } from "./agent-files.ts";
import { isInside, type ResolvePath } from "./permit.ts";
import { gitCall } from "./permit-shell.ts";

/** Written beside the settings of the remediating agent; its permit knows nothing else about it. */
export interface RemedyPolicy {
  readonly v: 1;
  readonly kind: "remedy";
  /** Absolute and free of symlinks, like the others. */
  readonly project: string;
  readonly userDir: string;
  readonly state: string;
  readonly gitCommonDir: string;
  /** Checkouts of this repository other than the project. */
  readonly worktrees: readonly string[];
  /** guard.allowRepoEdits. */
  readonly allowRepoEdits: boolean;
  /** Where the permit leaves its mark for each call that it lets pass. */
  readonly heard: string;
}

/** What of the user's directory it may write. */
const SETTINGS =
  /^(?:config\.yaml|hooks\.yaml|(?:roles|agents)\/[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:yaml|yml|md)|manual_intervention_needed_[A-Za-z0-9_.:+-]*\.txt)$/;

/** Why a file may not be written; undefined when it may. `path` is absolute and resolved. */
export function judgeRemedyWrite(policy: RemedyPolicy, path: string): string | undefined {
  const { project, userDir, state, gitCommonDir, worktrees } = policy;
  // Asked first: in a bare repository the user's directory is the state directory.
  if (isInside(userDir, path) && SETTINGS.test(path.slice(userDir.length + 1))) return undefined;
  if (isInside(state, path)) {
    return `${path} is Overseer's own (its database, run files and logs): leave it; what is wrong with it, say in ${asksPerson(policy)}.`;
  }
  if (isInside(gitCommonDir, path) || isGits(path)) {
    return `${path} is git's own: the only thing to do there is to remove a stale lock file, with \`rm <file>\` as a command of its own.`;
  }
  if (isInside(userDir, path)) {
    return `Of ${userDir} only config.yaml, hooks.yaml, roles/, agents/ and manual_intervention_needed_*.txt may be written.`;
  }
  if (worktrees.some((one) => one !== project && isInside(one, path))) {
    return `${path} is in another worktree, where somebody else's work is: leave it as it is.`;
  }
  if (!isInside(project, path) || path === project) {
    return `${path} is outside this project: change nothing there; say in ${asksPerson(policy)} what a person should do.`;
  }
  if (!policy.allowRepoEdits) {
    return `Files of the project are not yours to change (guard.allowRepoEdits is off): say in ${asksPerson(policy)} what should be changed.`;
  }
  const relative = path.slice(project.length + 1);
  return setsUpAgents(relative)
    ? `${relative} sets up the agents themselves, so only people change it; say in ${asksPerson(policy)} what should be in it.`
    : undefined;
}

/** The git directory of a repository inside this one, or a worktree's pointer to its own. */
function isGits(path: string): boolean {
  return path.split("/").some((part) => part.toLowerCase() === ".git");
}

function asksPerson({ userDir }: RemedyPolicy): string {
  return `${userDir}/manual_intervention_needed_<timestamp>.txt`;
}

/** Why a writing tool may not be used as asked. */
export function judgeRemedyFileTool(
  policy: RemedyPolicy,
  call: { readonly tool: string; readonly path: string | undefined; readonly cwd: string },
  resolve: ResolvePath,
): string | undefined {
  const { path } = call;
  if (path === undefined || path === "" || path.includes("\0"))
    return `${call.tool} names no file; give an absolute path.`;
  return judgeRemedyWrite(policy, resolve(call.cwd, path));
}

const LONGEST_COMMAND = 8 * 1024;

/** Why a shell command may not be run; undefined when it only reads, or removes lock files of git's. */
export function judgeRemedyShell(
  policy: RemedyPolicy,
  line: string,
  cwd: string,
  resolve: ResolvePath,
): string | undefined {
  if (line.length > LONGEST_COMMAND) return "This command is too long to be judged: run a shorter one.";
  const unclear = findUnclear(line);
  if (unclear !== undefined) return unclear;
  const commands = shellCommands(line);
  if (commands.length === 0) return "There is no command in this line.";
  const [only] = commands;
  if (only && commands.length === 1 && isRemoval(only)) return judgeRemoval(policy, only, cwd, resolve);
  for (const command of commands) {
    const reason = judgeReader(command);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/**
 * What a plain line of readers has no need of, and what a shell could read otherwise than we do. Walks over quotes as a
 * shell does; what is left is words, pipes, `&&`, `||`, `;` and redirects, which shell-words.ts reads as any shell.
 */
function findUnclear(line: string): string | undefined {
  let quote: "'" | '"' | undefined;
  let wordStarts = true;
  for (let at = 0; at < line.length; at += 1) {
    const sign = line[at] ?? "";
    const next = line[at + 1] ?? "";
    const code = sign.charCodeAt(0);
    if ((code < 0x20 && sign !== "\n" && sign !== "\t") || code === 0x7f)
      return "Leave control characters out of commands.";
    if (quote === "'") {
      if (sign === "'") quote = undefined;
      continue;
    }
    if (sign === "`" || (sign === "$" && /[\w({['"@*#?$!-]/.test(next) && !(quote === '"' && next === '"'))) {
      return "No variables and no commands inside commands: write out what you mean, and run one command after the other. A pattern with $ or backquotes goes between single quotes.";
    }
    if (sign === "\\") {
      if (next === "\n" || next === "") return "Write the command on one line, without a backslash at its end.";
      at += 1;
      wordStarts = false;
      continue;
    }
    if (quote === '"') {
      if (sign === '"') quote = undefined;
      continue;
    }
    if (sign === "'" || sign === '"') quote = sign;
    else if (sign === "(" || sign === ")")
      return "No subshells and no functions: run the commands one after the other.";
    else if (sign === "<") return "No input from elsewhere: name the file as an argument of the command that reads it.";
    else if (sign === "{" || sign === "}") return "No braces: write each word out.";
    else if (sign === "#" && wordStarts) return "Leave comments out of commands.";
    else if (sign === "|" && next === "&") return "Write 2>&1 | instead of |&.";
    // `&>file` is one redirect to some shells, and to others an end in the background and a redirect.
    else if (sign === "&" && line[at - 1] !== "&" && next !== "&" && line[at - 1] !== ">") {
      return "Nothing may run in the background: run the command and wait for it.";
    }
    wordStarts = /[\s;&|]/.test(sign);
  }
  return quote === undefined ? undefined : "A quote in this command is not closed.";
}

const READS_ONLY =
  "Only commands that read may be run here (ls, cat, head, tail, grep, rg, find, git status, log, diff, show, overseer status, why, events, report, doctor): change files with your tools for editing files.";

/** Commands that only read whatever they are given. */
const READERS: ReadonlySet<string> = new Set(
  "ls cat head grep egrep fgrep wc stat file du df pgrep pwd which uname id whoami basename dirname realpath readlink cut tr nl od cmp diff md5sum sha256sum uptime free true false echo jq".split(
    " ",
  ),
);

/** Options that make a reader write, run something else, or never end. Git takes every unique beginning of one. */
const UNFIT: Readonly<Record<string, RegExp>> = {
  // `tail -n5f` and `tail -5f` follow too.
  tail: /^(?:-[^-]*[fF]|--(?:f|ret|pid))/,
  rg: /^--(?:pre|hostname)/,
  find: /^-(?:delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)$/,
  file: /^(?:-[^-]*C|--c)/,
  sort: /^(?:-[^-]*[oST]|--)/,
  git: /^--(?:ou|ext)/,
};

function judgeReader(command: ShellCommand): string | undefined {
  const { keywords, assignments, words, redirects } = command;
  if (keywords.length > 0) return "No loops and no conditions: run the commands one after the other.";
  if (assignments.length > 0) return "No variables in front of a command: run it as it is.";
  const wrong = redirects.find((one) => !isHarmless(one));
  if (wrong)
    return `Nothing may be written by redirects (only 2>&1 and /dev/null): leave out ${wrong.op} ${wrong.target.text}.`;
  const [program, ...operands] = words;
  // A name that a pattern or a quote takes part in is one that we may read otherwise than the shell.
  if (!program || program.expands || program.quoted) return READS_ONLY;
  const name = program.text;
  if (isRemoval(command)) return ONLY_LOCKS;
  if (name === "cd") return "Stay where you are: name files by their absolute paths.";
  const unfit = Object.hasOwn(UNFIT, name) ? UNFIT[name] : undefined;
  if (operands.some(({ text, expands }) => expands && text.startsWith("-")))
    return "No patterns in options: write them out.";
  if (operands.some(({ text }) => /^\/proc(?:\/|$)/.test(text)))
    return "Leave /proc alone: 'overseer status' says who runs.";
  const option = unfit && operands.find(({ text }) => unfit.test(text));
  if (option) return `${name} with ${option.text} does more than read: leave that option out.`;
  if (name === "git") return judgeGit(operands);
  if (name === "overseer") return judgeOverseer(operands);
  return READERS.has(name) || unfit !== undefined ? undefined : READS_ONLY;
}

/** `2>&1`, `>&2`, and into nothing. */
function isHarmless({ op, target }: ShellRedirect): boolean {
  if (target.expands || target.quoted) return false;
  if (op === ">&") return /^[12]$/.test(target.text);
  return (op === ">" || op === ">>") && target.text === "/dev/null";
}

const GIT_READS: ReadonlySet<string> = new Set(
  "status log diff show rev-parse rev-list ls-files ls-tree blame merge-base for-each-ref describe shortlog".split(" "),
);

function judgeGit(words: readonly ShellWord[]): string | undefined {
  const call = gitCall(words);
  const verb = call?.verb ?? "";
  // Another directory may be a repository with settings of its own, by which git runs whatever they name.
  const before = words.findIndex(({ text }) => !/^--no-(?:pager|optional-locks)$/.test(text));
  if (words[before]?.text !== verb) return "Run git here, without options in front of its verb except --no-pager.";
  const operands = call?.operands ?? [];
  if (GIT_READS.has(verb) || (verb === "worktree" && operands[0] === "list")) return undefined;
  return `git ${verb} may change the repository: only ${[...GIT_READS].slice(0, 4).join(", ")} and their like may be run here.`;
}

const OVERSEER_READS: ReadonlySet<string> = new Set(["status", "why", "events", "report", "doctor"]);
const CONFIG_READS: ReadonlySet<string> = new Set(["show", "explain", "get", "schema", "example"]);

function judgeOverseer(words: readonly ShellWord[]): string | undefined {
  const [verb = "", sub = ""] = words.map(({ text }) => text);
  const looks = OVERSEER_READS.has(verb) || (verb === "config" && CONFIG_READS.has(sub));
  if (!looks) {
    return `'overseer ${verb}' is not yours to run: only status, why, events, report, doctor, config show and config explain; the guard restarts the daemon when you are done.`;
  }
  const option = words.find(
    ({ text }) => /^--(?:fix|rebuild|follow|watch|root)/.test(text) || /^-[^-]*[fw]/.test(text),
  );
  return option
    ? `'overseer ${verb}' with ${option.text} does more than look once at this project: leave that option out.`
    : undefined;
}

function isRemoval({ words }: ShellCommand): boolean {
  return words[0]?.text === "rm" || words[0]?.text === "unlink";
}

const ONLY_LOCKS =
  "Only stale lock files of git may be removed, by their names: `rm <git directory>/index.lock`, without patterns, as a command of its own.";

function judgeRemoval(
  policy: RemedyPolicy,
  { keywords, assignments, words, redirects }: ShellCommand,
  cwd: string,
  resolve: ResolvePath,
): string | undefined {
  const [program, ...operands] = words;
  const isPlain =
    keywords.length + assignments.length === 0 && redirects.every(isHarmless) && program?.quoted === false;
  const named = operands.filter(({ text }) => !/^(?:-f|-v|--force|--)$/.test(text));
  if (!isPlain || named.length === 0) return ONLY_LOCKS;
  for (const word of named) {
    if (word.expands || /^[-~]|[{}\0]/.test(word.text) || !isLock(policy, resolve(cwd, word.text))) {
      return `${ONLY_LOCKS} ${word.text.slice(0, 200)} is none.`;
    }
  }
  return undefined;
}

/** `path` is resolved, so that no link leads elsewhere. */
function isLock({ gitCommonDir, state }: RemedyPolicy, path: string): boolean {
  return path.endsWith(".lock") && isInside(gitCommonDir, path) && !isInside(state, path);
}

/** The rules in the text of a policy file; undefined when they are not whole, or are an attempt's. */
export function readRemedyPolicy(value: Readonly<Record<string, unknown>> | undefined): RemedyPolicy | undefined {
  const policy = value as Partial<RemedyPolicy> | undefined;
  const paths = [policy?.project, policy?.userDir, policy?.state, policy?.gitCommonDir, policy?.heard];
  const whole =
    policy?.v === 1 &&
    policy.kind === "remedy" &&
    typeof policy.allowRepoEdits === "boolean" &&
    Array.isArray(policy.worktrees) &&
    [...paths, ...policy.worktrees].every((path) => typeof path === "string" && path.startsWith("/"));
  return whole ? (policy as RemedyPolicy) : undefined;
}

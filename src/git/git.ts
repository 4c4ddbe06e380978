/**
 * The one way git is run. Git belongs to the user, with hooks, pagers, editors, prompts, automatic repacking and a
 * language of its own; each of those can hang an unattended fleet or change something behind the user's back, so all
 * are switched off here, once. A held lock is waited for, a full disk and a missing git have names of their own, and
 * everything else that fails says which command it was and what git answered.
 *
 * Deliberately not here: any knowledge of what a command is for. Arguments come from arguments.ts.
 */
import { OverseerError } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { Exec, ExecResult } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import type { Ids } from "#sys/ids.ts";
import { type GitVersion, isOlder, OLDEST_GIT, parseGitVersion } from "./version.ts";

export interface GitRunOptions {
  readonly cwd: string;
  /** Added to the environment of git, e.g. a private GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

export interface GitFacts {
  readonly version: GitVersion;
  /** `git merge-tree --write-tree`, from 2.38 on: merges without a checkout. */
  readonly mergeTreeWriteTree: boolean;
  /** `git merge-tree --merge-base`, from 2.40 on. */
  readonly mergeTreeMergeBase: boolean;
  /** `git worktree list -z`, from 2.36 on. */
  readonly worktreeListZ: boolean;
}

export interface Git {
  /**
   * Runs git and returns what it printed. Throws OverseerError `environment`: GIT_FAILED (command and the end of
   * stderr), GIT_LOCKED (a lock outlived our patience), GIT_TIMED_OUT, DISK_FULL, GIT_MISSING; `not-found`
   * NOT_A_REPOSITORY. Whether it may be called twice is up to the command.
   */
  run(args: readonly string[], options: GitRunOptions): Promise<string>;
  /** Like run, but an ordinary non-zero exit is a value. Still throws for a missing git, a deadline, locks, a full disk. */
  attempt(args: readonly string[], options: GitRunOptions): Promise<ExecResult>;
  /** Which git this is; asked once and remembered. Throws GIT_MISSING, or GIT_TOO_OLD below 2.31. */
  probe(): Promise<GitFacts>;
}

/** What the functions of this room work with. */
export interface GitTools {
  readonly git: Git;
  readonly exec: Exec;
  readonly files: Files;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface GitRunnerParts {
  readonly exec: Exec;
  readonly clock: Clock;
  /** The environment git starts from; what would steer it to another repository or index is taken out. */
  readonly env: Readonly<Record<string, string>>;
}

/** Waits between tries when somebody else holds a lock: about three seconds in all. */
export const LOCK_BACKOFF_MS: readonly number[] = [50, 100, 200, 400, 800, 1600];

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/** Before every command. Each line is something a user may have configured and an unattended run must not trip over. */
const QUIET_CONFIG: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "rerere.enabled=false",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "color.ui=false",
];

const QUIET_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
};

/** Variables that point git at a repository, an index or settings other than those of the directory it runs in. */
const STEERING_VARIABLES: readonly string[] = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_CEILING_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_LITERAL_PATHSPECS",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_QUARANTINE_PATH",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

export function gitRunner(parts: GitRunnerParts): Git {
  const baseEnv = gitEnvironment(parts.env);
  let facts: Promise<GitFacts> | undefined;

  const attempt: Git["attempt"] = async (args, options) => {
    for (let tries = 0; ; tries += 1) {
      const result = await runOnce(parts.exec, baseEnv, args, options);
      if (result.code === 0) return result;
      const lock = findHeldLock(result.stderr);
      const midway = isMidway(result.stderr);
      if (lock === undefined && !midway) return result;
      const waitMs = LOCK_BACKOFF_MS[tries];
      if (waitMs === undefined) {
        if (lock === undefined) return result;
        throw stillLocked(args, lock);
      }
      await parts.clock.sleep(waitMs);
    }
  };
  const run: Git["run"] = async (args, options) => {
    const result = await attempt(args, options);
    if (result.code !== 0) throw gitFailure(args, options.cwd, result);
    return result.stdout;
  };
  const probe = async (): Promise<GitFacts> => {
    facts ??= probeFacts(attempt).catch((error: unknown) => {
      facts = undefined;
      throw error;
    });
    return facts;
  };
  return { run, attempt, probe };
}

/** The whole command line of a git run: the quiet settings, then the command. */
export function gitCommandLine(args: readonly string[]): string[] {
  return ["git", "--no-pager", ...QUIET_CONFIG.flatMap((setting) => ["-c", setting]), ...args];
}

/** The environment git gets: the caller's, without what steers git elsewhere, and quiet. */
export function gitEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) => !STEERING_VARIABLES.includes(name) && !/^GIT_(CONFIG_(KEY|VALUE)_|TRACE)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...QUIET_ENVIRONMENT };
}

/** The lock file another process holds, if that is why git failed. A lost compare-and-set is not one: it stays lost. */
export function findHeldLock(stderr: string): string | undefined {
  const unable = /Unable to create '([^']+\.lock)': File exists/.exec(stderr);
  if (unable?.[1] !== undefined) return unable[1];
  const config = /could not lock config file (.+): File exists/.exec(stderr);
  return config?.[1] === undefined ? undefined : `${config[1]}.lock`;
}

/**
 * True when git stumbled over a worktree that another git is just making: its directory is listed and its files are
 * not written yet. Git takes no lock for that; a moment later the same command works.
 */
export function isMidway(stderr: string): boolean {
  return /failed to read \S*worktrees\/\S+\/(commondir|gitdir|HEAD)/.test(stderr);
}

/** The error for a git run that failed, by what git said. */
export function gitFailure(args: readonly string[], cwd: string, result: ExecResult): OverseerError {
  const command = formatCommand(args);
  const said = tailOf(result.stderr === "" ? result.stdout : result.stderr);
  if (isDiskFull(result.stderr)) return diskFull(`git ${command} found no space left on the disk.`);
  if (/not a git repository/i.test(result.stderr)) {
    const hint = "Run inside a git repository, or make one with `git init` and a first commit.";
    return new OverseerError("not-found", "NOT_A_REPOSITORY", `${cwd} is not in a git repository.`, hint);
  }
  if (/dubious ownership/.test(result.stderr)) {
    const hint = `If you trust it: git config --global --add safe.directory '${cwd}'`;
    return new OverseerError("environment", "UNSAFE_DIRECTORY", `Git refuses ${cwd}: another user owns it.`, hint);
  }
  const end = result.signal === null ? `exit ${result.code}` : `signal ${result.signal}`;
  const hint = `Run it by hand in ${cwd} to see more; \`overseer doctor\` looks for broken repositories and stale locks.`;
  return new OverseerError("environment", "GIT_FAILED", `git ${command} failed (${end}): ${said}`, hint);
}

export function isDiskFull(text: string): boolean {
  return /No space left on device|Disk quota exceeded/i.test(text);
}

export function diskFull(message: string, cause?: unknown): OverseerError {
  const hint = "Free some space (old worktrees: `overseer worktree clean --completed`), then try again.";
  return new OverseerError("environment", "DISK_FULL", message, hint, { cause });
}

async function runOnce(
  exec: Exec,
  baseEnv: Readonly<Record<string, string>>,
  args: readonly string[],
  options: GitRunOptions,
): Promise<ExecResult> {
  const result = await exec
    .run(gitCommandLine(args), {
      cwd: options.cwd,
      env: { ...baseEnv, ...options.env },
      stdin: options.stdin,
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    })
    .catch((cause: unknown) => {
      throw isProgramMissing(cause) ? gitMissing(cause) : cause;
    });
  const command = formatCommand(args);
  if (result.timedOut) {
    const hint = "Look whether the disk or a network file system hangs, then try again.";
    throw new OverseerError("environment", "GIT_TIMED_OUT", `git ${command} did not end in time.`, hint);
  }
  if (result.truncated) {
    const hint = "The repository is larger than Overseer reads at once; please report it.";
    throw new OverseerError("environment", "GIT_OUTPUT_TOO_LARGE", `git ${command} printed too much.`, hint);
  }
  // A full disk must not be mistaken for an answer such as "no, not an ancestor".
  if (result.code !== 0 && isDiskFull(result.stderr)) throw gitFailure(args, options.cwd, result);
  return result;
}

async function probeFacts(attempt: Git["attempt"]): Promise<GitFacts> {
  const printed = await attempt(["version"], { cwd: "/" });
  const version = parseGitVersion(printed.stdout);
  if (version === undefined) {
    const hint = "Put the git you want first on PATH; Overseer needs 2.31 or newer.";
    throw new OverseerError("environment", "GIT_TOO_OLD", `Cannot read a version in "${printed.stdout.trim()}".`, hint);
  }
  if (isOlder(version, OLDEST_GIT)) {
    const found = `${version.major}.${version.minor}.${version.patch}`;
    const hint = "Install git 2.38 or newer (2.31 is the oldest that works at all).";
    throw new OverseerError("environment", "GIT_TOO_OLD", `git ${found} is too old.`, hint);
  }
  // The usage text is what this very binary can do; distributions backport, and version numbers do not tell.
  const usage = await attempt(["merge-tree", "-h"], { cwd: "/" });
  const text = usage.stdout + usage.stderr;
  return {
    version,
    mergeTreeWriteTree: text.includes("--write-tree"),
    mergeTreeMergeBase: text.includes("--merge-base"),
    worktreeListZ: !isOlder(version, { major: 2, minor: 36 }),
  };
}

function isProgramMissing(error: unknown): boolean {
  return error instanceof OverseerError && error.code === "PROGRAM_MISSING";
}

function gitMissing(cause: unknown): OverseerError {
  return new OverseerError("environment", "GIT_MISSING", "git is not on PATH.", "Install git 2.38 or newer.", {
    cause,
  });
}

function stillLocked(args: readonly string[], lock: string): OverseerError {
  const message = `git ${formatCommand(args)} could not continue: ${lock} is held by another process.`;
  const hint = `Wait for the other git process to end. If none is running, remove the stale file ${lock}.`;
  return new OverseerError("environment", "GIT_LOCKED", message, hint);
}

function formatCommand(args: readonly string[]): string {
  const text = args.map((arg) => (/^[\w@%+=:,./^{}~-]+$/.test(arg) ? arg : JSON.stringify(arg))).join(" ");
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function tailOf(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > 800 ? `…${trimmed.slice(-800)}` : trimmed;
}

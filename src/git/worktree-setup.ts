/**
 * The project's own set-up of a fresh worktree (`worktree.setup` in the config): dependencies, generated files,
 * submodules. It is the user's command, run verbatim by their shell; here it gets a deadline, and its output a place
 * to be read afterwards, without the secrets it printed. A set-up that fails fails the start of the agent: without its
 * tools every check would.
 */
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import type { Exec } from "#sys/exec.ts";
import type { Files } from "#sys/files.ts";
import { redact } from "#telemetry/redact.ts";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { splitLines, unquotePath } from "./quoted-path.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";

export interface SetupRequest {
  readonly worktree: string;
  /** As it stands in the config. */
  readonly command: string;
  readonly timeoutMs: number;
  /** Complete; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
}

/**
 * Throws `environment` SETUP_FAILED or SETUP_TIMED_OUT with the end of the output; the log is written in any case.
 * Whether it may run twice is the command's affair; the log holds the last run.
 */
export async function setupWorktree(tools: { exec: Exec; files: Files }, request: SetupRequest): Promise<void> {
  const result = await tools.exec.run(["sh", "-c", request.command], {
    cwd: request.worktree,
    env: request.env,
    timeoutMs: request.timeoutMs,
  });
  const end = result.timedOut
    ? "timed out"
    : result.signal === null
      ? `exit ${result.code}`
      : `signal ${result.signal}`;
  const output = redact([result.stdout, result.stderr].filter((text) => text !== "").join("\n"));
  await tools.files.write(request.logFile, `$ ${redact(request.command)}\n${output}\n[${end}]\n`, { mode: 0o600 });
  if (result.code === 0 && !result.timedOut) return;
  const tail = output.trim().slice(-1000);
  const message = `The set-up command failed (${end}): ${tail === "" ? "it printed nothing" : tail}`;
  const hint = `Read ${request.logFile}; change worktree.setup in .overseer/config.yaml or its timeout.`;
  throw new OverseerError("environment", result.timedOut ? "SETUP_TIMED_OUT" : "SETUP_FAILED", message, hint);
}

/** Beside the worktree's own git files: it goes when the worktree goes. */
const SET_UP_FILE = "overseer-set-up";

export interface SetUpMade {
  /** Written when the set-up had ended: what is newer is not its work. */
  readonly file: string;
  /** What was ignored by git then, as seen from the worktree. */
  readonly paths: ReadonlySet<string>;
}

/** Writes down what is ignored by git right after a set-up: it can be made again, so its removal loses nothing. */
export async function noteSetUp(tools: Pick<GitTools, "git" | "files">, worktree: string): Promise<void> {
  const gitDir = (await tools.git.run(args.gitDir(), within(worktree))).trim();
  await tools.files.write(
    join(gitDir, SET_UP_FILE),
    await tools.git.run(snapshotArgs.listIgnoredFiles(), within(worktree)),
  );
}

/** Undefined where nothing was set up. */
export async function readSetUp(tools: Pick<GitTools, "files">, gitDir: string): Promise<SetUpMade | undefined> {
  const file = join(gitDir, SET_UP_FILE);
  const text = await tools.files.read(file);
  return text === undefined
    ? undefined
    : { file, paths: new Set(splitLines(text).map((path) => unquotePath(path) ?? path)) };
}

/**
 * Runs the pool's command so that no crash of ours loses what it said (AUTO-12). Whoever prints a task has given it away, so
 * its output and its exit code go into files of this asking, written by the shell itself and not through us: a daemon that
 * is killed meanwhile finds them, or the command still at work, and continues as if nothing had been. What it prints is
 * bounded on the way to the disk. The command is the user's own line; what it prints never reaches a shell.
 */
import type { ActParts } from "#act/parts.ts";
import type { PoolRun } from "#domain/auto/pool-answer.ts";

export interface PoolCommand {
  readonly line: string;
  readonly cwd: string;
  readonly timeoutMs: number;
}

export interface PoolAsking {
  /** Which asking it is; the next one is another. */
  readonly pull: string;
  /** Null where nobody saw it end: the machine went down with it. */
  readonly run: PoolRun | null;
  readonly beganAt: number;
  readonly endedAt: number;
  /** It was begun by a daemon that is no more. */
  readonly adopted: boolean;
}

type CommandParts = Pick<ActParts, "root" | "files" | "exec" | "processes" | "clock" | "ids" | "env">;

/**
 * `$1` is the user's line, `$2` the directory of this asking, `$3` and `$4` how many bytes of output and of errors are
 * kept. The code is moved into place, and only when everything that was printed is on the disk: whoever finds it finds the
 * rest. Written sooner, a daemon that came just then would have taken a task for none; and so would one that has ended what
 * the command had left behind on its output, since what was on its way through the pipe is gone then.
 */
const SCRIPT = `{ { sh -c "$1" 2>&3 3>&-; printf '%s' "$?" >"$2/code.new"; } | head -c "$3" >"$2/stdout" 3>&-; } 3>&1 | head -c "$4" >"$2/stderr"; mv "$2/code.new" "$2/code"`;

/** Everything that the command starts carries it, so that a daemon that comes later finds what is still at work. */
const ENVIRONMENT_MARK = "OVERSEER_PULL";

const STDERR_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 50;

/** Asks once; the answer lies in its directory until `forgetAsking`. */
export async function askPool(parts: CommandParts, command: PoolCommand, maxBytes: number): Promise<PoolAsking> {
  const pull = parts.ids.next("P_");
  const dir = `${placeOf(parts)}/${pull}`;
  const beganAt = parts.clock.now();
  await parts.files.makeDir(dir, { mode: 0o700 });
  const argv = ["sh", "-c", SCRIPT, "task-pool", command.line, dir, String(maxBytes + 1), String(STDERR_BYTES)];
  const { timedOut } = await parts.exec.run(argv, {
    cwd: command.cwd,
    env: { ...parts.env, [ENVIRONMENT_MARK]: pull },
    timeoutMs: command.timeoutMs,
  });
  const run = await readRun(parts, dir, maxBytes, timedOut);
  return { pull, run, beganAt, endedAt: parts.clock.now(), adopted: false };
}

/** An asking whose answer nobody has taken; undefined where there is none. One that is still at work is waited for. */
export async function finishAsking(
  parts: CommandParts,
  timeoutMs: number,
  maxBytes: number,
): Promise<PoolAsking | undefined> {
  const [pull] = ((await parts.files.list(placeOf(parts))) ?? []).toSorted();
  if (pull === undefined) return undefined;
  const dir = `${placeOf(parts)}/${pull}`;
  const beganAt = (await parts.files.facts(dir))?.mtimeMs ?? parts.clock.now();
  const until = parts.clock.now() + timeoutMs;
  let hung = false;
  while (!(await hasEnded(parts, dir)) && isAtWork(parts, pull)) {
    if (parts.clock.now() >= until) {
      hung = true;
      for (const one of parts.processes.withEnvironment(ENVIRONMENT_MARK, pull)) parts.processes.signal(one, "SIGKILL");
    }
    await parts.clock.sleep(LOOK_EVERY_MS);
  }
  const isKnown = hung || (await hasEnded(parts, dir));
  const run = isKnown ? await readRun(parts, dir, maxBytes, hung) : null;
  return { pull, run, beganAt, endedAt: parts.clock.now(), adopted: true };
}

/** Its answer is in the log. */
export async function forgetAsking(parts: Pick<CommandParts, "root" | "files">, pull: string): Promise<void> {
  await parts.files.remove(`${placeOf(parts)}/${pull}`);
}

function placeOf({ root }: Pick<CommandParts, "root">): string {
  return `${root.state}/run/pool`;
}

function isAtWork({ processes }: CommandParts, pull: string): boolean {
  return processes.withEnvironment(ENVIRONMENT_MARK, pull).length > 0;
}

async function hasEnded({ files }: CommandParts, dir: string): Promise<boolean> {
  return (await files.facts(`${dir}/code`)) !== undefined;
}

async function readRun({ files }: CommandParts, dir: string, maxBytes: number, hung: boolean): Promise<PoolRun> {
  const code = await files.read(`${dir}/code`);
  const bytes = (await files.facts(`${dir}/stdout`))?.size ?? 0;
  const stdout = (await files.read(`${dir}/stdout`)) ?? "";
  const stderr = (await files.read(`${dir}/stderr`)) ?? "";
  return { code: code === undefined ? null : Number(code), hung, stdout, bytes, overflowed: bytes > maxBytes, stderr };
}

/**
 * Runs the pool's command so that no crash of ours loses what it said (AUTO-12). Whoever prints a task has given it away, so
 * its output and its exit code go into files of this asking, written by the shell itself and not through us: a daemon that
 * is killed meanwhile finds them, or the command still at work, and continues as if nothing had been. What it prints is
 * bounded on the way to the disk. The command is the user's own line; what it prints never reaches a shell.
 */
import type { ActParts } from "#act/parts.ts";
import type { PoolRun } from "#domain/auto/pool-answer.ts";
import { OverseerError } from "#errors.ts";

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
  /** What it had printed by then, for the log. */
  readonly printed?: Pick<PoolRun, "stdout" | "stderr">;
  readonly beganAt: number;
  readonly endedAt: number;
  /** It was begun by a daemon that is no more. */
  readonly adopted: boolean;
}

type CommandParts = Pick<ActParts, "root" | "files" | "exec" | "processes" | "clock" | "ids" | "env">;

/**
 * `$1` is the user's line, `$2` the directory of this asking, `$3` and `$4` how many bytes of output and of errors are
 * kept, `$5` the asking. The code is moved into place, so that one that is there is whole; what was printed is whole only
 * once `end` is there, because whoever copies it holds the last of it back until then, and a full disk takes less than all.
 */
const SCRIPT = `{ { OVERSEER_POOL_COMMAND="$5" sh -c "$1" 2>&3 3>&-; printf '%s' "$?" >"$2/code.new" && mv "$2/code.new" "$2/code"; } | head -c "$3" >"$2/stdout" 3>&- && : >"$2/whole"; } 3>&1 | head -c "$4" >"$2/stderr"; if [ -e "$2/whole" ]; then : >"$2/end"; fi`;

/** Everything of an asking carries it, so that a daemon that comes later finds what is still at work. */
const ASKING_MARK = "OVERSEER_PULL";
/** What the user's command is, without those who write down what it says. */
const COMMAND_MARK = "OVERSEER_POOL_COMMAND";

const STDERR_BYTES = 64 * 1024;
const LOOK_EVERY_MS = 50;
/** What a command left in the background has this long to let go of its output, and then to end when asked. */
const LINGER_MS = 500;

/** Asks once; the answer lies in its directory until `forgetAsking`. */
export async function askPool(parts: CommandParts, command: PoolCommand, maxBytes: number): Promise<PoolAsking> {
  const pull = parts.ids.next("P_");
  const dir = `${placeOf(parts)}/${pull}`;
  const beganAt = parts.clock.now();
  await listAskings(parts); // refuses a place that is not ours
  await parts.files.makeDir(dir, { mode: 0o700 });
  const argv = ["sh", "-c", SCRIPT, "task-pool", command.line, dir, String(maxBytes + 1), String(STDERR_BYTES), pull];
  let isRunning = true;
  const running = parts.exec
    .run(argv, {
      cwd: command.cwd,
      env: { ...parts.env, [ASKING_MARK]: pull },
      timeoutMs: command.timeoutMs + 10 * LINGER_MS, // it is ended sooner, so that what it printed is kept
    })
    .finally(() => {
      isRunning = false;
    });
  let hung = false;
  try {
    [hung] = await Promise.all([watchRun(parts, dir, pull, command.timeoutMs, () => isRunning), running]);
  } catch (error) {
    await forgetAsking(parts, pull); // it was not begun at all, so nothing was given away
    throw error;
  }
  return { pull, run: await readRun(parts, dir, maxBytes, hung), beganAt, endedAt: parts.clock.now(), adopted: false };
}

/** An asking whose answer nobody has taken; undefined where there is none. One that is still at work is waited for. */
export async function finishAsking(
  parts: CommandParts,
  timeoutMs: number,
  maxBytes: number,
): Promise<PoolAsking | undefined> {
  const [pull] = await listAskings(parts);
  if (pull === undefined) return undefined;
  const dir = `${placeOf(parts)}/${pull}`;
  const beganAt = (await parts.files.facts(dir))?.mtimeMs ?? parts.clock.now();
  const isRunning = async () => !(await exists(parts, `${dir}/end`)) && isAtWork(parts, pull);
  const hung = await watchRun(parts, dir, pull, timeoutMs, isRunning);
  // Without its end nobody knows whether all that was printed is there: an empty answer would lose a task in silence.
  const isKnown = hung || (await exists(parts, `${dir}/end`));
  const printed = await readRun(parts, dir, maxBytes, hung);
  return { pull, run: isKnown ? printed : null, printed, beganAt, endedAt: parts.clock.now(), adopted: true };
}

/**
 * Waits for the end of an asking, and ends a command that takes too long, or what one that has ended left behind: as long
 * as that holds the output open, nobody knows what was printed. True where the command itself took too long.
 */
async function watchRun(
  parts: CommandParts,
  dir: string,
  pull: string,
  timeoutMs: number,
  isRunning: () => boolean | Promise<boolean>,
): Promise<boolean> {
  const until = parts.clock.now() + timeoutMs;
  let overAt: number | undefined;
  let hung = false;
  while (await isRunning()) {
    const now = parts.clock.now();
    if (overAt === undefined && (await exists(parts, `${dir}/code`))) overAt = now + LINGER_MS;
    if (overAt === undefined && now >= until) [overAt, hung] = [now, true];
    if (overAt !== undefined && now >= overAt) endMarked(parts, pull, now - overAt);
    await parts.clock.sleep(LOOK_EVERY_MS);
  }
  return hung;
}

/** The command first, asked and then ended; whoever writes down what it said only when that did not help. */
function endMarked({ processes }: CommandParts, pull: string, lateMs: number): void {
  const mark = lateMs < 4 * LINGER_MS ? COMMAND_MARK : ASKING_MARK;
  const signal = lateMs < LINGER_MS ? "SIGTERM" : "SIGKILL";
  for (const one of processes.withEnvironment(mark, pull)) processes.signal(one, signal);
}

/** Ours, and nothing else: what is found here is removed in the end, so a link or a stranger's name is never followed. */
async function listAskings({ files, root }: Pick<CommandParts, "files" | "root">): Promise<string[]> {
  const place = placeOf({ root });
  const facts = await files.facts(place);
  if (facts === undefined) return [];
  if (facts.kind !== "directory") {
    const hint = `Remove it; Overseer keeps what the pool's command says there: rm ${place}`;
    throw new OverseerError("environment", "POOL_PLACE_TAKEN", `${place} is no directory of ours.`, hint);
  }
  return ((await files.list(place)) ?? []).filter((name) => ASKING.test(name)).toSorted();
}

const ASKING = /^P_[0-9A-Z]+$/;

/** Its answer is in the log. */
export async function forgetAsking(parts: Pick<CommandParts, "root" | "files">, pull: string): Promise<void> {
  await parts.files.remove(`${placeOf(parts)}/${pull}`);
}

function placeOf({ root }: Pick<CommandParts, "root">): string {
  return `${root.state}/run/pool`;
}

function isAtWork({ processes }: CommandParts, pull: string): boolean {
  return processes.withEnvironment(ASKING_MARK, pull).length > 0;
}

async function exists({ files }: CommandParts, path: string): Promise<boolean> {
  return (await files.facts(path)) !== undefined;
}

/** Of one that was ended, because it took too long or by somebody else, the code says nothing about its answer. */
async function readRun(parts: CommandParts, dir: string, maxBytes: number, hung: boolean): Promise<PoolRun> {
  const { files } = parts;
  const isWhole = !hung && (await exists(parts, `${dir}/end`));
  const code = isWhole ? await files.read(`${dir}/code`) : undefined;
  const bytes = (await files.facts(`${dir}/stdout`))?.size ?? 0;
  const stdout = (await files.read(`${dir}/stdout`)) ?? "";
  const stderr = (await files.read(`${dir}/stderr`)) ?? "";
  return { code: code === undefined ? null : Number(code), hung, stdout, bytes, overflowed: bytes > maxBytes, stderr };
}

/**
 * The one door through which other programs are run to their end. Arguments are a list, never a shell string; every
 * run has a deadline and a cap on what it may print.
 */
import { statSync } from "node:fs";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import { systemProcesses } from "./processes.ts";

export interface ExecOptions {
  readonly cwd?: string;
  /** The complete environment of the child; nothing is inherited beside it. Default: this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Default 60 s. On expiry the child's whole process group is ended, and `timedOut` is true. */
  readonly timeoutMs?: number;
  /** Cap per stream, default 16 MiB; what is beyond is dropped and `truncated` is true. */
  readonly maxBytes?: number;
  /** When it aborts, the child's group is ended as at its deadline; the result says by which signal. */
  readonly signal?: AbortSignal;
  /** Which part of a flood is kept: its start (the default), or both ends, where most tools sum up. */
  readonly keep?: "start" | "ends";
}

export interface ExecResult {
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
}

export interface Exec {
  /**
   * Runs `argv` and waits for its end. A non-zero exit is a value, not an exception. Rejects with OverseerError
   * `environment`/`PROGRAM_MISSING` when there is no such program, `environment`/`CWD_MISSING` when cwd is gone.
   */
  run(argv: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
/** Between asking a group to end and ending it. */
const GRACE_MS = 2_000;
const GROUP_POLL_MS = 50;
/** A grandchild may keep the pipes open for ever; this long without a byte after the child's end, and we let go. */
const DRAIN_IDLE_MS = 250;
/** And one that keeps writing would keep us for ever; after this long we let go of the pipe whatever comes through it. */
const DRAIN_MOST_MS = 3_000;

/**
 * Each child leads a process group (and session) of its own, so a deadline ends what it started as well, a Ctrl-C
 * meant for us does not reach it, and it cannot ask for a password on our terminal.
 */
export function systemExec(): Exec {
  return { run };
}

async function run(argv: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const child = spawnChild(argv, options);
  const stdout = collect(child.stdout, maxBytes, options.keep ?? "start");
  const stderr = collect(child.stderr, maxBytes, options.keep ?? "start");

  let ending: Promise<void> | undefined;
  let timedOut = false;
  const end = () => {
    ending ??= endGroup(child.pid);
  };
  const deadline = setTimeout(() => {
    timedOut = true;
    end();
  }, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  if (options.signal?.aborted) end();
  options.signal?.addEventListener("abort", end, { once: true });
  await child.exited;
  clearTimeout(deadline);
  options.signal?.removeEventListener("abort", end);
  await ending;
  await Promise.all([stdout.settle(), stderr.settle()]);

  return {
    code: child.signalCode === null ? child.exitCode : null,
    signal: child.signalCode === null ? null : String(child.signalCode),
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut,
    truncated: stdout.isTruncated() || stderr.isTruncated(),
  };
}

type Child = Bun.Subprocess<Uint8Array | "ignore", "pipe", "pipe">;

function spawnChild(argv: readonly string[], options: ExecOptions): Child {
  const env = options.env ?? withoutUndefined(process.env);
  const stdin = typeof options.stdin === "string" ? new TextEncoder().encode(options.stdin) : options.stdin;
  try {
    return Bun.spawn([programPath(argv, env), ...argv.slice(1)], {
      argv0: argv[0],
      cwd: options.cwd,
      env,
      stdin: stdin ?? "ignore",
      stdout: "pipe",
      stderr: "pipe",
      detached: true,
    });
  } catch (cause) {
    throw spawnFailure(argv, options, cause);
  }
}

/** Looked up in the child's own PATH; a program named by a path is left as it is. */
function programPath(argv: readonly string[], env: Readonly<Record<string, string>>): string {
  const program = argv[0] ?? "";
  if (program.includes("/")) return program;
  const found = program === "" ? null : Bun.which(program, { PATH: env.PATH ?? "/usr/bin:/bin" });
  if (found === null) throw programMissing(program);
  return found;
}

function spawnFailure(argv: readonly string[], options: ExecOptions, cause: unknown): unknown {
  if (cause instanceof OverseerError && !cwdMissing(options.cwd)) return cause;
  if (cwdMissing(options.cwd)) {
    const hint = "Choose a directory that exists; a worktree may have been removed meanwhile.";
    return new OverseerError("environment", "CWD_MISSING", `There is no directory ${options.cwd}.`, hint, { cause });
  }
  const code = systemCode(cause);
  if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR") return programMissing(argv[0] ?? "", cause);
  const message = `Could not start ${argv[0]}: ${messageOf(cause)}`;
  const hint = "Look at the limits of this machine (processes, memory, length of arguments), then try again.";
  return new OverseerError("environment", "SPAWN_FAILED", message, hint, { cause });
}

function programMissing(program: string, cause?: unknown): OverseerError {
  const message = `There is no program "${program}" that can be run.`;
  return new OverseerError("environment", "PROGRAM_MISSING", message, `Install ${program}, or put it on PATH.`, {
    cause,
  });
}

function cwdMissing(cwd: string | undefined): boolean {
  return cwd !== undefined && !(statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function withoutUndefined(env: NodeJS.ProcessEnv): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) defined[name] = value;
  return defined;
}

/** Reads a stream to its end but keeps at most `maxBytes`, so a flood neither fills memory nor blocks the child. */
function collect(stream: ReadableStream<Uint8Array>, maxBytes: number, keep: "start" | "ends") {
  const reader = stream.getReader();
  const kept: Uint8Array[] = [];
  const headBytes = keep === "start" ? maxBytes : Math.floor(maxBytes / 2);
  const tail = lastBytes(maxBytes - headBytes);
  let keptBytes = 0;
  let chunks = 0;
  let ended = false;

  const finished = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks += 1;
      const room = value.subarray(0, headBytes - keptBytes);
      tail.add(value.subarray(room.length));
      if (room.length > 0) kept.push(room);
      keptBytes += room.length;
    }
    ended = true;
  })();

  /** Waits for the end of the stream, or for silence on one that somebody else still holds open. */
  const settle = async (): Promise<void> => {
    let seen = -1;
    const most = Date.now() + DRAIN_MOST_MS;
    while (!ended && seen !== chunks && Date.now() < most) {
      seen = chunks;
      await Promise.race([finished, Bun.sleep(DRAIN_IDLE_MS)]);
    }
    if (!ended) await reader.cancel();
    await finished;
  };

  const text = () => new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat([...kept, ...tail.pieces()]));
  return { settle, text, isTruncated: () => tail.countDropped() > 0 };
}

/** The last so many bytes of what is added, with a line before them that says how many are missing. */
function lastBytes(most: number) {
  const pieces: Uint8Array[] = [];
  let held = 0;
  let dropped = 0;
  return {
    add(piece: Uint8Array): void {
      if (piece.length === 0) return;
      pieces.push(piece);
      held += piece.length;
      for (let over = held - most; over > 0; over = held - most) {
        const first = pieces[0];
        if (first === undefined) break;
        const cut = Math.min(over, first.length);
        if (cut === first.length) pieces.shift();
        else pieces[0] = first.subarray(cut);
        held -= cut;
        dropped += cut;
      }
    },
    pieces: () => (dropped > 0 && most > 0 ? [Buffer.from(`\n[… ${dropped} bytes left out]\n`), ...pieces] : pieces),
    countDropped: () => dropped,
  };
}

/** The group id stays taken while any member lives, so it cannot come to mean strangers before the last has ended. */
async function endGroup(group: number): Promise<void> {
  signalGroup(group, "SIGTERM");
  for (let waited = 0; waited < GRACE_MS; waited += GROUP_POLL_MS) {
    await Bun.sleep(GROUP_POLL_MS);
    if (!groupLives(group)) return;
  }
  signalGroup(group, "SIGKILL");
}

/** Asked of the process table, not of kill(2): orphans that nobody collects yet would count as alive there. */
function groupLives(group: number): boolean {
  return systemProcesses()
    .list()
    .some((each) => each.group === group && !each.zombie);
}

function signalGroup(group: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    // ESRCH: all have ended. EPERM: what is left changed its user, and is not ours to end.
    if (systemCode(error) !== "ESRCH" && systemCode(error) !== "EPERM") throw error;
  }
}

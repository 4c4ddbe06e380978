/**
 * The agent's process as the runner holds it: in a session of its own, its output always drained, its input written
 * line by line. An agent that reads nothing or is gone makes a write answer false; it never blocks the runner for good.
 */
import type { Launch } from "#runtimes/runtime.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { Exit } from "./leg.ts";
import { lines } from "./lines.ts";

export interface Child {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<Exit>;
  /** True when the line was handed to the pipe, or waits for an agent that does not read just now. */
  write(line: string): Promise<boolean>;
  /** No more input; a well-behaved CLI ends after its turn. */
  closeInput(): void;
}

export interface ChildEars {
  line(text: string): void;
  error(text: string): void;
}

/** How long a write is waited for. */
const PATIENCE_MS = 2_000;

export function startChild(launch: Launch, processes: Processes, ears: ChildEars): Child {
  const child = Bun.spawn([...launch.argv], {
    cwd: launch.cwd,
    env: { ...launch.env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // A session of its own: a signal to our group is not a signal to the agent.
    detached: true,
  });
  const identity = processes.identify(child.pid) ?? { pid: child.pid, start: "" };
  const drained = Promise.all([lines(child.stdout, ears.line), lines(child.stderr, ears.error)]);
  const exited = child.exited.then(async () => {
    // A grandchild may hold the pipes open for ever; what has arrived by now is what there is to read.
    await Promise.race([drained, Bun.sleep(500)]);
    return { code: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  });
  let open = true;
  return {
    identity,
    exited,
    async write(line) {
      if (!open || child.exitCode !== null) return false;
      const written = writeAll(child.stdin, line);
      // An agent that was suspended, or reads nothing, must not hold up a stop: the rest of the line waits in the sink.
      return Promise.race([written, child.exited.then(() => false), Bun.sleep(PATIENCE_MS).then(() => true)]);
    },
    closeInput() {
      if (!open) return;
      open = false;
      void Promise.resolve(child.stdin.end()).catch(() => undefined); // the pipe may have no reader any more
    },
  };
}

/** False when nobody reads any more. */
async function writeAll(sink: Bun.FileSink, line: string): Promise<boolean> {
  try {
    await sink.write(line);
    await sink.flush();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && CLOSED.has(String(error.code))) return false;
    throw error;
  }
}

const CLOSED: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET", "EBADF", "ERR_STREAM_DESTROYED"]);

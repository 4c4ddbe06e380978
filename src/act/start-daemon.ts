/**
 * Starts the daemon as a process of its own: in its own session, so that neither the end of whoever started it nor a
 * closed terminal reaches it, with what it says beside its log in a file. It only starts; whether it came up is for the
 * caller to see.
 */
import { closeSync, constants, openSync } from "node:fs";
import { messageOf, OverseerError } from "#errors.ts";
import { PLAINLY_COMPILED } from "#sys/plain-compiler.ts";

export interface DaemonProcess {
  readonly pid: number;
  /** Resolves with its exit code, should it end while somebody waits. */
  readonly exited: Promise<number>;
}

export interface DaemonStart {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its output; replaced, because only the last start matters. */
  readonly output: string;
}

export function startDaemon({ argv, cwd, env, output }: DaemonStart): DaemonProcess {
  const { O_CREAT, O_WRONLY, O_TRUNC, O_NOFOLLOW } = constants;
  let file: number | undefined;
  try {
    file = openSync(output, O_CREAT | O_WRONLY | O_TRUNC | O_NOFOLLOW, 0o600);
    const streams = { stdin: "ignore", stdout: file, stderr: file } as const;
    const child = Bun.spawn([...argv], { cwd, env: { ...PLAINLY_COMPILED, ...env }, ...streams, detached: true });
    child.unref();
    return { pid: child.pid, exited: child.exited };
  } catch (cause) {
    const message = `The daemon could not be started: ${messageOf(cause)}.`;
    const hint = "'overseer up --foreground' shows why; check the disk and the installation.";
    throw new OverseerError("environment", "DAEMON_NOT_STARTED", message, hint, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

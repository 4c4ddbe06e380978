/**
 * Starts the exporter of traces and metrics as a process of its own, in which the weight of its SDK does not matter. What
 * it is told goes by its standard input, which stays open for as long as it may live: it ends with whoever started it.
 */
import { closeSync, constants, openSync } from "node:fs";
import { PLAINLY_COMPILED } from "#sys/plain-compiler.ts";
import { ownCommand } from "#sys/self.ts";

export interface ExporterProcess {
  readonly pid: number;
  /** Its exit code; null while it runs. */
  exitCode(): number | null;
  /** Tells it to end; it does within seconds, whatever its target does. */
  end(): void;
}

export interface ExporterStart {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
  /** One line that says where to send to. */
  readonly order: string;
  /** Called when it has ended. */
  onEnd(): void;
  /** What it says when something goes wrong; replaced, because only the last start matters. */
  readonly output: string;
}

export function startExporter({ project, env, order, output, onEnd }: ExporterStart): ExporterProcess {
  const { O_CREAT, O_WRONLY, O_TRUNC, O_NOFOLLOW } = constants;
  const file = openSync(output, O_CREAT | O_WRONLY | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    const child = Bun.spawn([...ownCommand("exporter"), "--root", project], {
      cwd: "/",
      env: { ...PLAINLY_COMPILED, ...env },
      ...{ stdin: "pipe", stdout: file, stderr: file },
    });
    child.unref();
    void child.exited.then(onEnd);
    child.stdin.write(`${order}\n`);
    child.stdin.flush();
    return {
      pid: child.pid,
      exitCode: () => child.exitCode ?? (child.signalCode === null ? null : 1),
      end: () => child.kill("SIGTERM"),
    };
  } finally {
    closeSync(file);
  }
}

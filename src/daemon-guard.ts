/**
 * Entry of the guard's bundle: `daemon-guard [--root <project>] [--once] [flags of up …]`, as `overseer guard` starts it. It
 * loads nothing of the daemon: what takes that down leaves this alone. The program behind it is guard/guard.ts.
 */

import { readGuardWords } from "#domain/guard/guard-words.ts";
import { EXIT_CODES, messageOf, OverseerError } from "#errors.ts";
import { Guard } from "#guard/guard.ts";
import { sqliteLocks } from "#store/sqlite/locks.ts";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemIds } from "#sys/ids.ts";
import { forgetCompiler } from "#sys/plain-compiler.ts";
import { systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { ownProgram } from "#sys/self.ts";
import { redact } from "#telemetry/redact.ts";
import { version } from "../package.json" with { type: "json" };

async function main(): Promise<number> {
  const env: Record<string, string> = Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  forgetCompiler(env);
  const { root: flag, once, respectsDown, flags } = readGuardWords(Bun.argv.slice(2));
  const cwd = process.cwd();
  const root = await findRoot({ cwd, flag, env });
  const files = systemFiles();
  for (const name of ["run", "logs"]) await files.makeDir(`${root.state}/${name}`, { mode: 0o700 });
  const guard = new Guard(
    {
      ...{ root, env, version, clock: systemClock(), ids: systemIds(), files, exec: systemExec() },
      ...{ processes: systemProcesses(), takeLock: (path) => sqliteLocks.take(path), program: ownProgram() },
      print,
      colour: process.stdout.isTTY === true && env.NO_COLOR === undefined,
    },
    { flags, once, respectsDown, cwd },
  );
  let asked = 0;
  const stop = () => {
    asked += 1;
    // GUARD-6: the second time means now.
    if (asked > 1) process.exit(130);
    guard.stop("stop");
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.on("SIGUSR1", () => guard.stop("leave"));
  process.on("SIGHUP", () => undefined); // whoever started it may close their terminal
  const end = await guard.run();
  return end.kind === "gave-up" ? EXIT_CODES.environment : 0;
}

/** A terminal that was closed takes no words; the guard's log has them. */
function print(text: string): void {
  try {
    console.log(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

void main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const hint = error instanceof OverseerError ? `\n  hint: ${error.hint}` : "";
    console.error(`overseer: ${redact(messageOf(error))}${redact(hint)}`);
    process.exit(error instanceof OverseerError ? error.exitCode : 1);
  },
);

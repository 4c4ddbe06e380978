/**
 * The guard as if it were of another version: bun test/support/guard-harness.ts <repository> <version> <program> [words of up …].
 * Everything about it is real but the number it goes by; an Overseer of another version cannot be installed in a test.
 */
import { Guard } from "#guard/guard.ts";
import { sqliteLocks } from "#store/sqlite/locks.ts";
import { systemClock } from "#sys/clock.ts";
import { systemExec } from "#sys/exec.ts";
import { systemFiles } from "#sys/files.ts";
import { systemIds } from "#sys/ids.ts";
import { systemProcesses } from "#sys/processes.ts";
import { findRoot } from "#sys/root.ts";
import { testEnvironment } from "./git-tools.ts";

const [repo = "", version = "", program = "", ...flags] = Bun.argv.slice(2);
const env = testEnvironment();
const root = await findRoot({ cwd: repo, env });
const guard = new Guard(
  {
    ...{ root, env, version, clock: systemClock(), ids: systemIds(), files: systemFiles(), exec: systemExec() },
    ...{ processes: systemProcesses(), takeLock: (path) => sqliteLocks.take(path), program: [program] },
    ...{ print: (text: string) => console.log(text), colour: false },
  },
  { flags, once: false, cwd: repo },
);
process.on("SIGTERM", () => guard.stop("stop"));
process.on("SIGUSR1", () => guard.stop("leave"));
await guard.run();
process.exit(0);

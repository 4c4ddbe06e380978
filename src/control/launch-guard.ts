/** `up --guarded`: the guard started as a process of its own, and waited for until it watches a daemon. */
import { startDaemon } from "#act/start-daemon.ts";
import { judgeOtherGuard } from "#domain/guard/succession.ts";
import { OverseerError } from "#errors.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import { assertMayStart, leaveWord, livingDaemon } from "./daemon.ts";
import { type GuardStatus, readGuard } from "./guard.ts";
import type { World } from "./world.ts";

const LOOK_MS = 50;
const UP_MS = 120_000;

export interface GuardOrder {
  /** What starts the guard; its words follow. */
  readonly command: readonly string[];
  readonly version: string;
  /** What `up` is told. */
  readonly words: readonly string[];
  /** Where whoever says them stands. */
  readonly cwd: string;
}

export interface Guarded {
  readonly guard: GuardStatus;
  /** The daemon ran already, and is watched as it is. */
  readonly adopted: boolean;
}

/** Starts the guard as a process of its own and waits until it watches a daemon. Refuses when one watches, naming it. */
export async function launchGuard(world: World, order: GuardOrder): Promise<Guarded> {
  await assertMayStart(world);
  const other = readGuard(world);
  if (other?.alive && judgeOtherGuard(other.version, order.version) === "refuse") {
    throw new OverseerError(
      ...(["conflict", "GUARD_RUNNING"] as const),
      `A guard already watches this repository (pid ${other.pid}, version ${other.version}).`,
      "'overseer guard status' shows it; 'overseer guard stop' ends it and leaves the daemon running.",
    );
  }
  const before = livingDaemon(world);
  await leaveWord(world); // an earlier 'down' is over: somebody wants it to run
  const startedAt = world.clock.now();
  const { cwd, command, words } = order;
  const started = startDaemon({
    argv: [...command, "--root", world.root.project, ...words],
    ...{ cwd, env: world.env, output: runFiles(world.root.state).guardOutput },
  });
  let exit: number | undefined;
  void started.exited.then((code) => {
    exit = code;
  });
  const guard = await awaitGuard(world, () => exit, startedAt);
  return { guard, adopted: before !== undefined && before.instance === guard.daemon?.instance };
}

/** Waits until a guard that was started watches a daemon, or says why it does not. */
async function awaitGuard(world: World, exited: () => number | undefined, startedAt: number): Promise<GuardStatus> {
  for (const until = world.clock.now() + UP_MS; world.clock.now() < until; ) {
    const guard = readGuard(world);
    const isNew = guard !== null && guard.since >= startedAt;
    if (isNew && guard.phase === "running" && guard.daemon !== null) return guard;
    if (isNew && guard.gaveUp)
      throw new OverseerError(
        "environment",
        guard.gaveUp.code,
        guard.gaveUp.why,
        "'overseer guard status' shows its last words.",
      );
    const code = exited();
    if (code !== undefined) {
      const output = runFiles(world.root.state).guardOutput;
      const [, said, next] = /^overseer: (.+)(?:\n {2}hint: (.+))?/m.exec(readNow(output) ?? "") ?? [];
      throw new OverseerError(
        ...(["environment", "GUARD_ENDED"] as const),
        said ?? `The guard ended with ${code} before the daemon was up.`,
        next ?? `Its last output is in ${output}; 'overseer guard' in a terminal shows it.`,
      );
    }
    await world.clock.sleep(LOOK_MS);
  }
  throw new OverseerError(
    "environment",
    "GUARD_SILENT",
    "The guard has not brought the daemon up.",
    "'overseer guard status' shows its last words.",
  );
}

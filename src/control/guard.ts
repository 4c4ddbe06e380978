/** What one may ask about the guard: how it is, that it ends, and that one watches from now on. Read from its file, proven by its pid. */
import { type GuardFile, parseGuardFile } from "#domain/guard/guard-file.ts";
import { OverseerError } from "#errors.ts";
import { readNow } from "#sys/read-now.ts";
import { runFiles } from "#sys/run-files.ts";
import type { World } from "./world.ts";

export interface GuardStatus extends Omit<GuardFile, "start" | "memory" | "watched" | "stoodBy"> {
  /** Its very process lives. */
  readonly alive: boolean;
}

/** Null where none ever watched here. */
export function readGuard(world: Pick<World, "root" | "processes">): GuardStatus | null {
  const file = parseGuardFile(readNow(runFiles(world.root.state).guard));
  if (!file) return null;
  const { start, memory: _memory, watched: _watched, stoodBy: _stoodBy, ...rest } = file;
  return { ...rest, alive: world.processes.alive({ pid: file.pid, start }) };
}

const STOP_MS = 30_000;
const LOOK_MS = 50;

/** Ends the guard; the daemon keeps running. Null where none watched. */
export async function stopGuard(world: World): Promise<number | null> {
  const file = parseGuardFile(readNow(runFiles(world.root.state).guard));
  if (!file || !world.processes.alive(file)) return null;
  world.processes.signal(file, "SIGUSR1");
  for (const until = world.clock.now() + STOP_MS; world.processes.alive(file); ) {
    if (world.clock.now() > until) {
      const hint = `It may be in the middle of a remediation; 'kill ${file.pid}' ends it together with the daemon.`;
      throw new OverseerError("environment", "GUARD_STAYS", `The guard (pid ${file.pid}) did not end.`, hint);
    }
    await world.clock.sleep(LOOK_MS);
  }
  return file.pid;
}

const UP_MS = 120_000;

/** Waits until a guard that was started watches a daemon, or says why it does not. */
export async function awaitGuard(
  world: World,
  exited: () => number | undefined,
  startedAt: number,
): Promise<GuardStatus> {
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
      const hint = `Its last output is in ${world.root.state}/logs/guard.out; 'overseer guard' in a terminal shows it.`;
      throw new OverseerError(
        "environment",
        "GUARD_ENDED",
        `The guard ended with ${code} before the daemon was up.`,
        hint,
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

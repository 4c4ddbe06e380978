/** What one may ask about the guard: how it is, and that it ends. Read from its file, proven by its pid. */
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

/**
 * Ending one process that is known by pid and start time: ask, wait, insist. Nothing is ever sent to a pid that
 * belongs to another by now. Children are not looked for: the sweep of a whole attempt is a task of its own.
 */
import type { Clock } from "#sys/clock.ts";
import type { Processes, ProcessIdentity } from "#sys/processes.ts";
import type { KillOutcome } from "./terminal.ts";

export const DEFAULT_GRACE_MS = 2_000;
/** The kernel needs a moment to take down a large process after SIGKILL. */
const AFTER_KILL_MS = 2_000;
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 100;

export interface ProcessEnding {
  readonly processes: Processes;
  readonly clock: Clock;
  readonly graceMs?: number;
}

export async function endProcess(identity: ProcessIdentity, ending: ProcessEnding): Promise<KillOutcome> {
  const { processes, graceMs = DEFAULT_GRACE_MS } = ending;
  if (!processes.signal(identity, "SIGTERM")) return processes.alive(identity) ? "still-running" : "already-gone";
  // A stopped process would sit on its SIGTERM until the grace period ends.
  processes.signal(identity, "SIGCONT");
  if (await waitUntilGone(identity, graceMs, ending)) return "ended";
  processes.signal(identity, "SIGKILL");
  return (await waitUntilGone(identity, AFTER_KILL_MS, ending)) ? "ended" : "still-running";
}

async function waitUntilGone(
  identity: ProcessIdentity,
  withinMs: number,
  { processes, clock }: ProcessEnding,
): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  for (let pause = FIRST_LOOK_MS; processes.alive(identity); pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
    if (clock.monotonic() >= deadline) return false;
    await clock.sleep(pause);
  }
  return true;
}

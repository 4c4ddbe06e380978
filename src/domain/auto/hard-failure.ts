/**
 * Failures of the ground that the daemon stands on (AUTO-7), beside those of the pool: nothing it could try would help, so
 * it ends with a report, and agents are stopped only where they would do harm. Pure.
 */
import type { HardFailure } from "#domain/model/auto.ts";

export function failForState(problem: string): HardFailure {
  const hint =
    "Safe mode is on. 'overseer doctor' says what is wrong; 'overseer thaw' lets work continue, then 'overseer up --auto'.";
  return { code: STATE_CORRUPT, problem: `The state cannot be trusted: ${problem}`, hint };
}

export function failForDisk(problem: string): HardFailure {
  const hint = "Free some space, then 'overseer up --auto'; the agents continue where they were.";
  return { code: DISK_FULL, problem: `The disk is full: ${problem}`, hint };
}

const STATE_CORRUPT = "STATE_CORRUPT";
const DISK_FULL = "DISK_FULL";

/** Their agents would write into what is broken; all others are left at work, to be adopted. */
export function endsAgents({ code }: HardFailure): boolean {
  return code === STATE_CORRUPT || code === DISK_FULL;
}

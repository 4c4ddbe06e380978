/**
 * PACE: primary, alternate, contingent, emergency. The level is computed and never set: from the steps that led nowhere
 * and from the failures that were not made good, each against the role's own patience. So there is always a way back:
 * progress takes the level down again, and nobody has to remember to.
 */
import type { Doctrine, PaceLevel } from "#domain/model/role.ts";
import { PACE_LEVELS } from "#domain/model/role.ts";

/** So many failures beyond the successes take the agent one level further. */
export const FAILURES_PER_LEVEL = 3;

export interface Trouble {
  /** Steps since the last progress that brought nothing new either. */
  readonly idle: number;
  /** Failed calls, less those that were made good since. */
  readonly strain: number;
}

export function paceOf(trouble: Trouble, { maxStepsWithoutProgress }: Doctrine): PaceLevel {
  // One patience is what a stall takes; each further one is a further level.
  const byIdling = Math.floor(Math.max(0, trouble.idle - 1) / maxStepsWithoutProgress);
  const byFailing = Math.floor(trouble.strain / FAILURES_PER_LEVEL);
  const rank = Math.min(Math.max(byIdling, byFailing), PACE_LEVELS.length - 1);
  return PACE_LEVELS[rank] ?? "emergency";
}

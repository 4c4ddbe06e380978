/**
 * One hand on the wheel. Reflex, watch and tick ask this before they say anything to an agent, so that no two of them
 * speak about the same trouble at the same time. A steering by the reflex counts as the hint for its cause; the next
 * step waits until the promised pause has ended and the agent had its time to react.
 */
import { isDue } from "#domain/core/elapsed.ts";
import type { LadderLimits, Recovery } from "#domain/model/ladder-state.ts";

export type MayIntervene =
  | { readonly may: true }
  | { readonly may: false; readonly until: number; readonly because: string };

export function mayIntervene(
  recovery: Pick<Recovery, "lastStepAt" | "backoffUntil" | "cause"> | undefined,
  cause: string,
  now: number,
  limits: Pick<LadderLimits, "patienceMs">,
): MayIntervene {
  if (!recovery || recovery.lastStepAt === null) return { may: true };
  const patient = recovery.lastStepAt + limits.patienceMs;
  const until = Math.max(patient, recovery.backoffUntil ?? 0);
  if (isDue(until, recovery.lastStepAt, now)) return { may: true };
  const because = recovery.cause === cause ? "same-cause-was-just-handled" : "another-step-was-just-taken";
  return { may: false, until, because };
}

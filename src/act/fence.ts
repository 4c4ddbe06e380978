/**
 * FENCE-1: that somebody spoke for an attempt that had ended, or that was not theirs, stays in the log, once per attempt
 * and kind however often it happens; it changes nothing else. Told by the runner that came or stayed too late, by hooks
 * and permit of an agent that continues, and by the door that was shown no secret, or another's.
 */

import { attemptEvent } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { wasFencedBefore } from "#store/events.ts";
import type { Store } from "#store/store.ts";

/** `not-the-agent`: it could not show the attempt's secret. `not-the-person`: its process left its attempt out. */
export type FencedBecause = "attempt-over" | "not-the-agent" | "not-the-person";

/** Writes nothing of an attempt that nobody knows, which is false, or of which it is known already. */
export async function recordFenced(
  store: Pick<Store, "commit">,
  late: { readonly attempt: number; readonly what: string; readonly now: number; readonly because?: FencedBecause },
): Promise<boolean> {
  const { because = "attempt-over" } = late;
  const outcome = await store.commit({
    at: late.now,
    reads: { attempt: attemptByNumber(late.attempt), before: wasFencedBefore(late.attempt, because) },
    decide: ({ attempt, before }): Decision<boolean> =>
      accept(
        attempt && !before ? [attemptEvent(attempt, "overseer", "agent.fenced", because, { what: late.what })] : [],
        attempt !== undefined,
      ),
  });
  return outcome.ok && outcome.value;
}

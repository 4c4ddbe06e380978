/**
 * FENCE-1: that somebody spoke for an attempt that was over stays in the log, once per attempt however often it
 * happens; it changes nothing else. Told by the runner that came or stayed too late, and by hooks and guard of an agent
 * that goes on.
 */
import { attemptEvent } from "#domain/attempt.ts";
import type { Decision } from "#domain/refusal.ts";
import { accept } from "#domain/refusal.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { fencedBefore } from "#store/events.ts";
import type { Store } from "#store/store.ts";

/** Writes nothing of an attempt that nobody knows, or of which it is known already. */
export async function recordFenced(
  store: Pick<Store, "commit">,
  late: { readonly attempt: number; readonly what: string; readonly now: number },
): Promise<void> {
  await store.commit({
    at: late.now,
    reads: { attempt: attemptByNumber(late.attempt), before: fencedBefore(late.attempt) },
    decide: ({ attempt, before }): Decision<null> =>
      accept(
        attempt && !before
          ? [attemptEvent(attempt, "overseer", "agent.fenced", "attempt-over", { what: late.what })]
          : [],
        null,
      ),
  });
}

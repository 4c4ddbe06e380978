/**
 * Writes into the log what the reflex said and why: it counts as the hint for its cause. Only steered agents come here,
 * so what it loads slows nobody else down.
 */

import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { addressIn, openForWriting } from "#store/open.ts";

/** The word itself waits for this, and whoever answers hooks waits with it. */
const PATIENCE_MS = 1_000;

/** Never rejects: the word to the agent matters more than its record. */
export async function recordSteering(state: string, attempt: number, steering: Steering, at: number): Promise<void> {
  try {
    const store = await openForWriting({ address: addressIn(state), patienceMs: PATIENCE_MS });
    await store.commit({
      at,
      reads: { attempt: attemptByNumber(attempt) },
      decide: ({ attempt: known }) => {
        const { anomaly, fact, step, text } = steering;
        const data = { anomaly, fact, step, text };
        return accept(known ? [attemptEvent(known, "overseer", "agent.steered", anomaly, data)] : [], null);
      },
    });
    await store.close();
  } catch {
    // Busy for long, or damaged: the pulse knows that it was said.
  }
}

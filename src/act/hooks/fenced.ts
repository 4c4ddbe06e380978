/**
 * Writes into the log that an agent continued after its attempt had ended, or that somebody spoke for it who was not it
 * (act/fence.ts). Only such come here, so what it loads slows nobody else down.
 */
import { type FencedBecause, recordFenced as record } from "#act/fence.ts";
import { addressIn, openForWriting } from "#store/open.ts";

/** The refusal itself waits for this, and must be given before the CLI loses its patience. */
const PATIENCE_MS = 1_000;

/** False when there never was such an attempt. Never rejects: when the store will not have it now, the agent's next step tells it again. */
export async function tryRecordFenced(
  state: string,
  attempt: number,
  what: string,
  because: FencedBecause = "attempt-over",
): Promise<boolean> {
  try {
    const store = await openForWriting({ address: addressIn(state), patienceMs: PATIENCE_MS });
    const isKnown = await record(store, { attempt, what, because, now: Date.now() });
    await store.close();
    return isKnown;
  } catch {
    // The refusal matters more than its record.
    return true;
  }
}

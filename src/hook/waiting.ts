/** Does anything wait for an attempt? Asked at every boundary, so with as little as possible around it. */
import { isAnythingQueued } from "#store/messages.ts";
import { addressIn, askOnce } from "#store/open.ts";

/** How long a boundary waits for the answer; a reader seldom waits at all. */
const BUSY_MS = 100;

/** False also when it cannot be known: what waits is handed over at the next boundary, and nothing is lost by waiting. */
export async function somethingWaits(state: string, attempt: number): Promise<boolean> {
  try {
    return await askOnce(addressIn(state), isAnythingQueued(attempt), BUSY_MS);
  } catch {
    return false;
  }
}

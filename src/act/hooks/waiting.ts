/** Does anything wait for an attempt? Asked at every boundary, so with as little as possible around it. */
import { isAnythingQueued } from "#store/messages.ts";
import type { HookDesk } from "./desk.ts";

/** How long a boundary waits for the answer; a reader seldom waits at all. */
const BUSY_MS = 100;

/** False also when it cannot be known: what waits is handed over at the next boundary, and nothing is lost by waiting. */
export async function somethingWaits(desk: Pick<HookDesk, "attempt" | "ask">): Promise<boolean> {
  try {
    return await desk.ask(isAnythingQueued(desk.attempt), BUSY_MS);
  } catch {
    return false;
  }
}

/** STORE-6: signals older than `store.signalsKept` become milestones, a little at a time: agents write there meanwhile. */

import type { ActParts } from "#act/parts.ts";
import { addressIn, openSignalLog } from "#store/open.ts";

const AT_ONCE = 2_000;
const PAUSE_MS = 50;
const MOST_STEPS = 500;

/** How many went. */
export async function compactSignals({
  root,
  clock,
  config,
}: Pick<ActParts, "root" | "clock" | "config">): Promise<number> {
  const before = clock.now() - (await config()).store.signalsKept;
  const signals = openSignalLog(addressIn(root.state));
  let gone = 0;
  try {
    for (let step = 0; step < MOST_STEPS; step += 1) {
      const removed = await signals.compact(before, AT_ONCE);
      gone += removed;
      if (removed < AT_ONCE) break;
      await clock.sleep(PAUSE_MS);
    }
  } finally {
    signals.close();
  }
  return gone;
}

/**
 * The sync in the daemon: a loop beside the tick that has what agents found out kept, passed on and judged (SYNC-2). It
 * decides nothing itself (engine/sync.ts), and rests as every loop does where something fails.
 */
import type { World } from "#control/world.ts";
import { speakingAs } from "#control/world.ts";
import { SyncMemory, turnSync } from "#engine/sync.ts";
import type { DaemonLog } from "./log.ts";
import type { Loop } from "./loops.ts";

export interface SyncLoopParts {
  readonly log: Pick<DaemonLog, "record">;
  everyMs(): number;
  world(): World;
  /** There is more to hear at once. */
  wakeAgain(): void;
}

export function makeSyncLoop({ log, everyMs, world, wakeAgain }: SyncLoopParts): Loop {
  const memory = new SyncMemory();
  return {
    name: "sync",
    everyMs,
    async run() {
      const { found, relayed, unheard, more } = await turnSync(speakingAs(world(), "overseer"), memory);
      if (found > 0 || relayed > 0) log.record("info", "learnings.passed_on", { found, relayed });
      if (unheard > 0) log.record("warn", "learnings.unheard", { unheard });
      if (more) wakeAgain();
    },
  };
}

/** How agents do, looked at beside the ticks and by the same eyes: judged, or by thresholds alone where that fails. */
import type { World } from "#control/world.ts";
import { addressIn, openHealthLog } from "#store/open.ts";
import { type DegradedCycle, DegradedWatch } from "./degraded-watch.ts";
import type { Reconciler } from "./lanes.ts";
import { Watch, type WatchCycle } from "./watch.ts";

export interface WatchRounds {
  look(world: World): Promise<WatchCycle>;
  /** By thresholds alone; what is decided is carried out at once, because no tick may come that does it. */
  lookBlindly(world: World, only?: ReadonlySet<number>): Promise<DegradedCycle>;
}

export function makeWatchRounds({ observe, wakeSpeaking }: Pick<Reconciler, "observe" | "wakeSpeaking">): WatchRounds {
  const watch = new Watch({ observer: observe, openHealth: ({ root }) => openHealthLog(addressIn(root.state)) });
  const blind = new DegradedWatch((attempt, beats) => watch.readQuiet(attempt, beats));
  return {
    look: (world) => watch.look(world),
    async lookBlindly(world, only) {
      const cycle = await blind.look(world, only);
      wakeSpeaking(world);
      return cycle;
    },
  };
}

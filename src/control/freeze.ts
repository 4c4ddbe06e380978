/** Freeze and thaw: a row of the store, read by whoever dispatches in its own transaction; it needs no daemon. */
import type { Decision } from "#domain/model/decision.ts";
import type { Fleet } from "#domain/model/fleet.ts";
import { type FleetChange, freezeFleet, thawFleet } from "#domain/model/fleet.ts";
import { orThrow } from "#errors.ts";
import { theFleet } from "#store/fleet.ts";
import { livingDaemon, writeIntent } from "./daemon.ts";
import { leaveSafeMode } from "./upkeep/doctor.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

/** FREEZE-1: nothing is dispatched, delivered or recovered from here on, by anybody. */
export async function freeze(world: World, reason: string | null): Promise<FleetChange> {
  const change = await move(world, reason, freezeFleet);
  await writeIntent(world, "frozen", reason);
  return change;
}

/** Ends a freeze, and safe mode too: a person has looked. */
export async function thaw(world: World, reason: string | null): Promise<FleetChange & { readonly safeMode: boolean }> {
  const change = await move(world, reason, thawFleet);
  const safeMode = await leaveSafeMode(world);
  await writeIntent(world, livingDaemon(world) ? "up" : "down", reason);
  return { ...change, safeMode };
}

async function move(
  world: World,
  reason: string | null,
  rule: (
    fleet: Fleet | undefined,
    reason: string | null,
    moment: { now: number; actor: World["actor"] },
  ) => Decision<FleetChange>,
): Promise<FleetChange> {
  await assertFits(world, { reason });
  const moment = { now: world.clock.now(), actor: world.actor };
  const store = await world.writer();
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { now: theFleet() },
      decide: ({ now }) => rule(now, reason, moment),
    }),
  );
}

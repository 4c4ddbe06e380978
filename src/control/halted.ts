/**
 * Why nothing is to be given out, delivered or recovered now: a person froze the fleet, the store is under suspicion, or
 * reconciling is switched off. The tick asks this first, and so does whoever puts an agent to work by hand.
 */
import { OverseerError } from "#errors.ts";
import { theFleet } from "#store/fleet.ts";
import { readSafeMode } from "./status.ts";
import type { World } from "./world.ts";

/** Empty when nothing stands in the way of a tick. */
export async function haltedBy(world: World): Promise<string[]> {
  const { reconcile } = await world.config();
  return [...(await heldBack(world)), ...(reconcile.enabled ? [] : ["reconcile.enabled is false"])];
}

/** Throws while the fleet is frozen or the store under suspicion: a person says `thaw` first. */
export async function assertNotHalted(world: World): Promise<void> {
  const [held] = await heldBack(world);
  if (held === undefined) return;
  throw new OverseerError(
    "conflict",
    held === "frozen" ? "FLEET_FROZEN" : "SAFE_MODE",
    held === "frozen" ? "The fleet is frozen; nobody is put to work." : "Safe mode is on; nobody is put to work.",
    "'overseer status' says since when and why; 'overseer thaw' lets the fleet go on.",
  );
}

async function heldBack(world: World): Promise<("frozen" | "safe mode")[]> {
  const { fleet } = await (await world.writer()).read({ fleet: theFleet() });
  return [
    ...(fleet?.status === "frozen" ? (["frozen"] as const) : []),
    ...((await readSafeMode(world)) ? (["safe mode"] as const) : []),
  ];
}

/**
 * Why nothing is to be dispatched, delivered or recovered now: a person froze the fleet, the store is under suspicion, or
 * reconciling is switched off. The tick asks this first, and so does whoever puts an agent to work by hand.
 */
import { doubtStore } from "#act/safe-mode.ts";
import type { Hold } from "#domain/health/settings.ts";
import { OverseerError } from "#errors.ts";
import { theFleet } from "#store/fleet.ts";
import { readSafeMode } from "./status.ts";
import type { World } from "./world.ts";

/** Empty when nothing stands in the way of a tick. */
export async function listHalts(world: World): Promise<string[]> {
  const { reconcile } = await world.config();
  return [...(await listStoreHalts(world)), ...(reconcile.enabled ? [] : ["reconcile.enabled is false"])];
}

/** Why the settings hold the fleet back; null where nothing does, or where a configuration says itself what is wrong. */
export async function readHold(world: World): Promise<Hold | null> {
  try {
    return (await world.settings()).hold;
  } catch (error) {
    if (error instanceof OverseerError) return null;
    throw error;
  }
}

/** Throws while the fleet is frozen or the store under suspicion: a person says `thaw` first. */
export async function assertNotHalted(world: World): Promise<void> {
  const [held] = await listStoreHalts(world);
  if (held === undefined) return;
  if (held === "safe mode") throw inSafeMode("no agent is started");
  throw new OverseerError(
    "conflict",
    "FLEET_FROZEN",
    "The fleet is frozen; no agent is started.",
    "'overseer status' says since when and why; 'overseer thaw' ends it.",
  );
}

/** Throws in safe mode: what a store in doubt says of a branch is not landed, not even when a person asks for that one. */
export async function assertNotInDoubt(world: World): Promise<void> {
  await doubtStore(world, await world.writer());
  const safeMode = await readSafeMode(world);
  if (safeMode) throw inSafeMode("nothing lands");
}

function inSafeMode(what: string): OverseerError {
  return new OverseerError(
    "conflict",
    "SAFE_MODE",
    `Safe mode is on; ${what}.`,
    "'overseer status' says since when and why; 'overseer thaw' ends it.",
  );
}

/** Without what only holds back ticks: a fleet that nobody reconciles can still be looked at. */
export async function listStoreHalts(world: World): Promise<("frozen" | "safe mode")[]> {
  const store = await world.writer();
  const { fleet } = await store.read({ fleet: theFleet() });
  await doubtStore(world, store);
  return [
    ...(fleet?.status === "frozen" ? (["frozen"] as const) : []),
    ...((await readSafeMode(world)) ? (["safe mode"] as const) : []),
  ];
}

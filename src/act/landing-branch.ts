/**
 * Which branch work starts from and lands on: one answer for everybody who asks, whatever happens to be checked out. It
 * reads the store, so it is not for the git room.
 */
import type { BranchTip } from "#git/repository.ts";
import { targetTip } from "#git/repository.ts";
import { eventsMatching } from "#store/events.ts";
import type { Store } from "#store/store.ts";
import type { ActParts } from "./parts.ts";

/** Readers ask too, so the store comes by the way in which they may open it. */
export interface LandingParts extends Pick<ActParts, "git" | "root" | "config"> {
  reader(): Promise<Pick<Store, "read">>;
}

/** Throws what targetBranch throws: a branch that was named and does not exist, or none that can be told. */
export async function landingBranch(world: LandingParts): Promise<string> {
  return (await landingTip(world)).branch;
}

/** The same with the commit it is at; a flag wins over everything else. */
export async function landingTip(world: LandingParts, flag?: string): Promise<BranchTip> {
  const { repo } = await world.config();
  return targetTip(world.git.git, world.root.project, {
    flag,
    config: repo.targetBranch ?? undefined,
    atInit: await branchAtInit(world),
  });
}

async function branchAtInit(world: LandingParts): Promise<string | undefined> {
  const { first } = await (await world.reader()).read({
    first: eventsMatching({ type: "overseer.initialised", limit: 1 }),
  });
  const event = first[0];
  return event?.type === "overseer.initialised" ? (event.data.targetBranch ?? undefined) : undefined;
}

/**
 * Which branch work starts from and lands on: one answer for everybody who asks, whatever happens to be checked out. It
 * reads the store, so it is not for the git room.
 */

import type { ActParts } from "#act/parts.ts";
import type { BranchTip, TargetBranchWishes } from "#git/repository.ts";
import { branchExists, branchTip, findNamedTarget, targetBranch, targetTip } from "#git/repository.ts";
import { eventsMatching } from "#store/events.ts";
import type { Store } from "#store/store.ts";

/** Readers ask too, so the store comes by the way in which they may open it. */
export interface LandingParts extends Pick<ActParts, "git" | "root" | "config"> {
  reader(): Promise<Pick<Store, "read">>;
}

/** For those who have the store open for writing anyway. Spreading the parts would make those that nobody asked for. */
export function withWriter(parts: Pick<ActParts, "git" | "root" | "config" | "writer">): LandingParts {
  return { git: parts.git, root: parts.root, config: () => parts.config(), reader: () => parts.writer() };
}

/** Throws what targetBranch throws: a branch that was named and does not exist, or none that can be told. */
export async function landingBranch(world: LandingParts): Promise<string> {
  const wishes = await wishesOf(world);
  return (await readFromFiles(world, wishes)) ?? (await targetBranch(world.git.git, world.root.project, wishes));
}

/** The same answer without starting git, where its files have it: landing asks for every branch it lands. */
async function readFromFiles(world: LandingParts, wishes: TargetBranchWishes): Promise<string | undefined> {
  const repository = world.root.gitCommonDir;
  const named = findNamedTarget(wishes)?.branch;
  if (named !== undefined) return (await branchExists(world.git, repository, named)) ? named : undefined;
  // A symbolic ref is a file of its own, never packed; only where refs are kept in another way does git alone know it.
  if ((await world.git.files.facts(`${repository}/reftable`)) !== undefined) return undefined;
  const remote = (await world.git.files.read(`${repository}/refs/remotes/origin/HEAD`))?.trim();
  const theirs = remote?.startsWith(ORIGIN) ? remote.slice(ORIGIN.length) : undefined;
  const branch = theirs ?? wishes.atInit;
  return branch !== undefined && (await branchExists(world.git, repository, branch)) ? branch : undefined;
}

const ORIGIN = "ref: refs/remotes/origin/";

/** The same with the commit it is at; a flag wins over everything else. */
export async function landingTip(world: LandingParts, flag?: string): Promise<BranchTip> {
  const wishes = { flag, ...(await wishesOf(world)) };
  const branch = await readFromFiles(world, wishes);
  const commit = branch === undefined ? undefined : await branchTip(world.git, world.root.gitCommonDir, branch);
  if (branch !== undefined && commit !== undefined) return { branch, commit };
  return targetTip(world.git.git, world.root.project, wishes);
}

async function wishesOf(world: LandingParts): Promise<TargetBranchWishes> {
  const { repo } = await world.config();
  return { config: repo.targetBranch ?? undefined, atInit: await branchAtInit(world) };
}

async function branchAtInit(world: LandingParts): Promise<string | undefined> {
  const { first } = await (await world.reader()).read({
    first: eventsMatching({ type: "overseer.initialised", limit: 1 }),
  });
  const event = first[0];
  return event?.type === "overseer.initialised" ? (event.data.targetBranch ?? undefined) : undefined;
}

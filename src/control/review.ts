/**
 * What a person sees of finished work before it lands, and their three words for it: accept, reject, pick. The thing
 * reviewed may be named by its node or by the agent that did it. Looking never writes; each word is one decision about
 * the claim as it stands in that moment, so two people cannot decide it twice.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import { checksOf, returnPolicy } from "#act/checks/check.ts";
import { decideClaim, type NodeRef } from "#act/checks/claim-store.ts";
import { limitsFor, listDroppedOfNode } from "#act/landing/stage.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import type { TakenBackCommit } from "#domain/landing/landing-end.ts";
import { refuseOtherCommit } from "#domain/landing/may-land.ts";
import type { Overreach } from "#domain/landing/overreach.ts";
import { overreach } from "#domain/landing/overreach.ts";
import type { NotHeld } from "#domain/landing/report-done.ts";
import { rejectWork, type TakenOver, takeOver, withdrawOpenQuestions } from "#domain/landing/review.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { Receipt } from "#domain/model/check.ts";
import { type Claim, tellUnchanged } from "#domain/model/claim.ts";
import type { MergeTier } from "#domain/model/merge.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { changesBetween, type FileChange } from "#git/landing.ts";
import * as landingArgs from "#git/landing-arguments.ts";
import { branchTip, findCommit } from "#git/repository.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { nodeById, nodesInStatus } from "#store/work.ts";
import { awaitStopped } from "./agents.ts";
import { type Landed, land } from "./landing.ts";
import { assertOneMeaning, type IsMeant, resolveWork } from "./names.ts";
import { assertAllowed, assertFits, type World } from "./world.ts";

/** A node by its id, or the node that an agent works on or worked on last. */
export interface ReviewWords {
  readonly what: string;
  readonly goal?: string;
  /** The commit that the person has seen; a word about it is refused when another one is reported now. */
  readonly commit?: string;
}

export interface ReviewRow {
  readonly node: string;
  readonly name: string;
  readonly agent: string;
  readonly commit: string;
  readonly state: "unchecked" | "checked" | "unverified" | "asked";
  readonly claimedAt: number;
  readonly detail: string | null;
  /** That it is what a person sent back before, and why that was; null where it is not. */
  readonly unchanged: string | null;
}

export interface Review extends ReviewRow {
  readonly attempt: number;
  readonly branch: string | null;
  readonly target: string;
  readonly summary: string;
  readonly changes: readonly FileChange[];
  /** What only a person may let through; null when there is nothing of the kind. */
  readonly overreach: Overreach | null;
  /** Commits that were taken out of the target and would come back with it; what is to become of them is asked. */
  readonly takenBack: readonly TakenBackCommit[];
  readonly receipts: readonly Receipt[];
  /** Its last conflict with the target, and by which tier the two came together where that is known. */
  readonly conflict: { readonly files: readonly string[]; readonly tier: MergeTier | null } | null;
  /** Checks that have said nothing about this commit yet. */
  readonly missing: readonly string[];
  readonly diff: string;
}

/** Everything that is reported done and has not landed, the oldest first. */
export async function reviews(world: World): Promise<ReviewRow[]> {
  const { working, blocked } = await (await world.reader()).read({
    working: nodesInStatus("in_progress", MOST_ROWS),
    blocked: nodesInStatus("blocked", MOST_ROWS),
  });
  return [...working, ...blocked]
    .flatMap((node) => (node.claim ? [rowOf(node, node.claim)] : []))
    .sort((one, other) => one.claimedAt - other.claimedAt);
}

const MOST_ROWS = 10_000;

function rowOf(node: WorkNode, claim: Claim): ReviewRow {
  const { agent, attempt, commit, verdict, claimedAt, waiting } = claim;
  const checked = verdict === null ? "unchecked" : verdict === "pass" ? "checked" : "unverified";
  return {
    node: nodeKey(node.goalId, node.workNodeId),
    name: node.name,
    agent: `${agent}#${attempt}`,
    commit,
    state: node.status === "blocked" ? "asked" : checked,
    claimedAt,
    detail: waiting?.detail ?? node.blockedReason?.detail ?? null,
    unchanged: claim.unchanged ? tellUnchanged(claim.unchanged) : null,
  };
}

/** One piece of finished work: what it changes, and what our checks say of it. Throws NOTHING_TO_REVIEW. */
export async function review(world: World, words: ReviewWords): Promise<Review> {
  const { node, claim } = await findFinishedWork(world, words);
  const config = await world.config();
  const repository = world.root.gitCommonDir;
  const target = await landingBranch(world);
  const { of } = await (await world.reader()).read({ of: attemptsOfNode(node.goalId, node.workNodeId) });
  const attempt = of.find((one) => one.attempt === claim.attempt);
  const gone = (await findCommit(world.git.git, repository, claim.commit)) === undefined;
  const tip = gone ? undefined : await branchTip(world.git, repository, target);
  const from = gone ? claim.commit : await parting(world, tip ?? claim.base, claim);
  const changes = gone ? [] : await changesBetween(world.git, repository, from, claim.commit);
  const done = checksOf(config, "done").map(({ name }) => name);
  const receipts = claim.receipts.filter(({ commit }) => commit === claim.commit);
  const files = changes.map(({ path }) => path);
  return {
    ...rowOf(node, claim),
    attempt: claim.attempt,
    branch: claim.branch,
    target,
    summary: claim.summary,
    changes,
    overreach: gone ? null : (overreach(files, await limitsFor(world, config, attempt, from)) ?? null),
    takenBack:
      tip === undefined ? [] : await listDroppedOfNode(world, of, { branch: target, from: tip, commit: claim.commit }),
    receipts,
    conflict: conflictOf(node, claim),
    missing: done.filter((name) => !receipts.some((one) => one.name === name)),
    diff: gone ? "" : await world.git.git.run(landingArgs.patchBetween(from, claim.commit), { cwd: repository }),
  };
}

/** What is reported done on it in this moment; null where nothing is. */
export async function findClaimedCommit(world: World, what: string): Promise<string | null> {
  return (await findWork(world, { what })).node.claim?.commit ?? null;
}

/** A commit reported after the conflict is its author's answer to it; how it came out is judged when it lands. */
function conflictOf({ conflict }: WorkNode, claim: Claim): Review["conflict"] {
  if (!conflict) return null;
  const tier = claim.prepared?.tier ?? (conflict.commit === claim.commit ? null : "author");
  return { files: conflict.files, tier };
}

/** Where branch and target parted: what the branch itself has changed is measured from there. */
async function parting(world: World, tip: string, claim: Claim): Promise<string> {
  const found = await world.git.git.attempt(landingArgs.mergeBase(tip, claim.commit), { cwd: world.root.gitCommonDir });
  return found.code === 0 && found.stdout.trim() !== "" ? found.stdout.trim() : claim.base;
}

/** Lands it with this person's consent; checks that have not run yet run first. */
export async function acceptWork(world: World, words: ReviewWords, reason?: string): Promise<Landed> {
  await assertOneMeaning(await world.reader(), words.what, words.goal);
  const { node, claim } = await findFinishedWork(world, words);
  return land(world, { node: nodeKey(node.goalId, node.workNodeId) }, reason, claim);
}

export interface Rejected {
  readonly node: string;
  readonly outcome: NotHeld["kind"];
}

export async function rejectLanding(world: World, words: ReviewWords, reason: string): Promise<Rejected> {
  await assertFits(world, { reason });
  await assertOneMeaning(await world.reader(), words.what, words.goal);
  const { node, claim, place } = await findFinishedWork(world, words);
  const { messageId, questionId } = await returnPolicy(world, await world.config());
  const { open } = await (await world.writer()).read({ open: openQuestions() });
  const outcome = await decideClaim(world, place, claim, (seen, { now }) => {
    const moment = { now, actor: world.actor };
    const other = refuseOtherCommit(seen.node, claim.commit);
    if (other) return other;
    return withdrawOpenQuestions(rejectWork(seen, reason, { messageId, questionId }, moment), seen.node, open, moment);
  });
  await wakeRunner(world, claim.attempt);
  return { node: nodeKey(node.goalId, node.workNodeId), outcome: outcome.kind };
}

/** The agent is ended; its branch and worktree stay, for the person to continue with. */
export async function pick(world: World, words: ReviewWords, reason: string | null): Promise<TakenOver> {
  await assertFits(world, { reason });
  await assertOneMeaning(await world.reader(), words.what, words.goal);
  const { place, attempt } = await findWork(world, words);
  if (!attempt) throw nothingThere(nodeKey(place.goalId, place.nodeId));
  const { open } = await (await world.writer()).read({ open: openQuestions() });
  const taken = await decideClaim(world, place, attempt, (seen, { now }) => {
    const moment = { now, actor: world.actor };
    return withdrawOpenQuestions(takeOver(seen, reason, moment), seen.node, open, moment);
  });
  if (taken.stopped !== null) await awaitStopped(world, [{ type: "agent.stop_requested", attempt: taken.stopped }]);
  return taken;
}

export interface FoundWork {
  readonly place: NodeRef;
  readonly node: WorkNode;
  /** The one that made the claim, else the newest. */
  readonly attempt: Attempt | undefined;
}

async function findFinishedWork(world: World, words: ReviewWords): Promise<FoundWork & { readonly claim: Claim }> {
  // Every sentence that is slung makes a T1: whoever says it to a reviewer's command means the one that is finished.
  const found = await findWork(world, words, ({ claim }) => claim !== undefined);
  const { claim } = found.node;
  if (!claim) throw nothingThere(nodeKey(found.place.goalId, found.place.nodeId));
  assertAllowed(refuseOtherCommit(found.node, words.commit));
  return { ...found, claim };
}

/** The work that a node or an agent stands for. Throws where there is none. */
export async function findWork(world: World, { what, goal }: ReviewWords, isMeant?: IsMeant): Promise<FoundWork> {
  const store = await world.reader();
  const place = await resolveWork(store, what, goal, isMeant);
  const { node, of } = await store.read({
    node: nodeById(place.goalId, place.nodeId),
    of: attemptsOfNode(place.goalId, place.nodeId),
  });
  if (!node) throw nothingThere(nodeKey(place.goalId, place.nodeId));
  const newest = [...of].sort((one, other) => other.attempt - one.attempt);
  const attempt = newest.find((one) => one.attempt === node.claim?.attempt) ?? newest.find(isLiving) ?? newest[0];
  return { place, node, attempt };
}

function nothingThere(label: string): OverseerError {
  const hint = `'overseer review' lists what waits; 'overseer why ${label}' shows its progress.`;
  return new OverseerError("conflict", "NOTHING_TO_REVIEW", `There is no finished work for ${label}.`, hint);
}

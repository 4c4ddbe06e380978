/**
 * Something on its way into a target branch: what is claimed for a node, or a branch that a person brought. Each has its
 * entry in the queue. Here is where the two differ beside the merge itself (stage.ts): whether it may land at all, how
 * the intention is written down, and what follows from how it ended. The way into the branch is the same (land.ts).
 */

import { returnPolicy } from "#act/checks/check.ts";
import { decideClaim, momentNow, type NodeRef, readClaim } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import { type AfterLanding, afterBrought, afterLanding, prepareLanding } from "#domain/landing/after-landing.ts";
import type { LandingEnd } from "#domain/landing/landing-end.ts";
import { type LandingMode, mayLand, waitForReview } from "#domain/landing/may-land.ts";
import type { ClaimSeen } from "#domain/landing/report-done.ts";
import type { Claim, LandingStrategy, PreparedLanding } from "#domain/model/claim.ts";
import { accept } from "#domain/model/decision.ts";
import { isQueued, type Merge, mergeIdOf, queueClaim } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { dropStaged } from "#git/claim-refs.ts";
import { bringBumps } from "#git/landed-submodules.ts";
import { holds } from "#git/landing.ts";
import { leaveRecoveryRef } from "#git/worktree-removal.ts";
import { goalById } from "#store/goals.ts";
import { mergeById, verdictsOn } from "#store/merges.ts";
import { commandAfterLand } from "./command-after-land.ts";
import { rulesNow } from "./rules.ts";
import { landingBranch, withWriter } from "./target-branch.ts";

export interface LandOrder extends NodeRef {
  /** Whether a person accepts each landing; what the configuration says unless told otherwise. */
  readonly mode?: LandingMode;
  readonly strategy?: LandingStrategy;
}

export type LandOutcome = AfterLanding | { readonly kind: "nothing"; readonly why: string };

export interface Candidate {
  readonly parts: ActParts;
  readonly config: Config;
  /** Its place in the queue. */
  readonly entry: Merge;
  readonly target: string;
  readonly strategy: LandingStrategy;
  /** The claim that it is; null for a branch that a person brought. */
  readonly work: WorkBehind | null;
}

export interface WorkBehind {
  readonly order: LandOrder;
  readonly seen: ClaimSeen;
  readonly claim: Claim;
}

export function isCandidate(found: Candidate | LandOutcome): found is Candidate {
  return "entry" in found;
}

/** What is claimed for a node, if it may land now; it has its place in the queue from here on. */
export async function findClaimed(
  parts: ActParts,
  order: LandOrder,
  known?: { readonly seen: ClaimSeen; readonly entry: Merge },
): Promise<Candidate | LandOutcome> {
  const seen = known?.seen ?? (await readClaim(parts, order));
  if (!seen) return { kind: "nothing", why: "no-node" };
  const config = await parts.config();
  const rules = await rulesNow(parts);
  const may = mayLand(seen.node, order.mode ?? rules.mode);
  if (!may.ok) {
    const { claim } = seen.node;
    if (may.why !== "review" || !claim) return { kind: "nothing", why: may.why };
    await decideClaim(parts, order, claim, ({ node }, moment) => waitForReview(node, moment));
    return { kind: "waiting" };
  }
  const { claim } = may;
  // Without what was taken out of the target, no commit of the author's own history can land: one stands for them all.
  const own = claim.takenBack?.consent === "own";
  const strategy = own ? "squash" : (order.strategy ?? rules.strategy);
  const target = known?.entry.target ?? (await landingBranch(withWriter(parts)));
  const entry = known?.entry ?? (await entryOf(parts, seen.node, claim, target));
  return { parts, config, entry, target, strategy, work: { order, seen, claim } };
}

async function entryOf(parts: ActParts, node: WorkNode, claim: Claim, target: string): Promise<Merge> {
  await enqueue(parts, [node], target);
  const { entry } = await (await parts.writer()).read({ entry: mergeById(mergeIdOf(claim)) });
  if (!entry)
    throw new OverseerError("internal", "ENTRY_MISSING", "A claim has no place in the queue.", "Report this.");
  return entry;
}

/** A branch that a person brought, if it has not ended. */
export async function findBrought(parts: ActParts, mergeId: string): Promise<Candidate | LandOutcome> {
  const { entry } = await (await parts.writer()).read({ entry: mergeById(mergeId) });
  if (!entry || !isQueued(entry)) return { kind: "stale" };
  // A revert is one commit with words of its own, however work lands here.
  const strategy = entry.takesBack ? "squash" : (await rulesNow(parts)).strategy;
  return { parts, config: await parts.config(), entry, target: entry.target, strategy, work: null };
}

/** The same as it is now; undefined when it does not want to land any more. */
export async function findAgain({ parts, entry, work }: Candidate): Promise<Candidate | undefined> {
  const found = work ? await findClaimed(parts, work.order) : await findBrought(parts, entry.mergeId);
  return isCandidate(found) && found.entry.mergeId === entry.mergeId ? found : undefined;
}

/** Puts what is claimed for these nodes into the queue, unless it is or was there; all in one commit. */
export async function enqueue(parts: ActParts, nodes: readonly WorkNode[], target: string): Promise<void> {
  if (nodes.length === 0) return;
  const moment = momentNow(parts);
  const store = await parts.writer();
  const goals = await store.read(eachOnce(nodes, ({ goalId }) => [goalId, goalById(goalId)]));
  await store.commit({
    at: moment.now,
    reads: eachOnce(nodes, ({ claim }) => (claim ? [mergeIdOf(claim), mergeById(mergeIdOf(claim))] : undefined)),
    decide: (known) => {
      const events = nodes.flatMap((node) => {
        const entry = node.claim && known[mergeIdOf(node.claim)];
        return queueClaim(entry, node, { target, priority: goals[node.goalId]?.priority ?? "normal" }, moment);
      });
      return accept(events, null);
    },
  });
}

/** Questions by name, each asked once. */
function eachOnce<Q>(
  nodes: readonly WorkNode[],
  ask: (node: WorkNode) => readonly [name: string, query: Q] | undefined,
): Readonly<Record<string, Q>> {
  return Object.fromEntries(nodes.flatMap((node) => [ask(node) ?? []].filter((pair) => pair.length === 2)));
}

/** What an earlier, interrupted try has moved already is not moved again. */
export async function findEarlierLanding({ parts, work }: Candidate): Promise<LandingEnd | undefined> {
  const prepared = work?.claim.prepared;
  if (!prepared || !(await holds(parts.git, parts.root.gitCommonDir, prepared.target, prepared.to))) return undefined;
  const { target, from, to, strategy, tier } = prepared;
  const tree = prepared.gateTree ?? prepared.tree;
  const { known } = await (await parts.writer()).read({ known: verdictsOn(tree) });
  const receipts = known.filter(({ verdict, on }) => verdict === "pass" && on === "land");
  return { kind: "landed", target, from, to, strategy, already: false, receipts, ...(tier ? { tier } : {}) };
}

/**
 * Before the branch is moved. False when the claim is no longer valid. What a person brought needs none: a
 * repeat finds it in the target.
 */
export async function recordIntent({ parts, work }: Candidate, wanted: PreparedLanding): Promise<boolean> {
  if (!work) return true;
  const { order, claim } = work;
  try {
    await decideClaim(parts, order, claim, ({ node }, moment) => prepareLanding(node, claim.commit, wanted, moment));
    return true;
  } catch (error) {
    if (error instanceof OverseerError && error.code === "CLAIM_GONE") return false;
    throw error;
  }
}

/** Records what follows from how it ended, for the claim and for its place in the queue. */
export async function recordOutcome(candidate: Candidate, end: LandingEnd): Promise<LandOutcome> {
  const { parts, config, entry, work } = candidate;
  await dropStaged(parts.git, parts.root.gitCommonDir, entry.mergeId);
  if (work) return recordClaimOutcome(candidate, work, end);
  const policy = {
    lookAgain: config.landing.dirtyWait,
    push: config.repo.remote === "push",
    afterLand: (await commandAfterLand(parts)) !== null,
  };
  const moment = momentNow(parts);
  const outcome = await (await parts.writer()).commit({
    at: moment.now,
    reads: { now: mergeById(entry.mergeId) },
    decide: ({ now }) => afterBrought(now, end, policy, moment),
  });
  return outcome.ok ? outcome.value : { kind: "stale" };
}

async function recordClaimOutcome(
  { parts, config, entry }: Candidate,
  { order, seen, claim }: WorkBehind,
  end: LandingEnd,
): Promise<AfterLanding> {
  const { gitCommonDir: repository, project } = parts.root;
  // Its author is told to rebase, which leaves this commit behind; no work is ever out of reach.
  if (end.kind === "conflict" && end.strategy === "squash") {
    await leaveRecoveryRef(parts.git, repository, `${claim.agent}-${claim.attempt}`, claim.commit);
  }
  // Before the worktree may go, which is decided together with the landing.
  const bumps = (from: string, to: string) =>
    bringBumps(parts.git, { repository, project, from, to, worktree: seen.attempt?.worktree });
  const told = end.kind === "landed" ? { ...end, submodules: await bumps(end.from, end.to) } : end;
  const policy = await returnPolicy(parts, config);
  return decideClaim(
    parts,
    order,
    claim,
    (now, moment) => afterLanding(now, claim.commit, told, policy, moment),
    entry.mergeId,
  );
}

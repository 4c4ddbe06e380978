/**
 * Landing one checked claim: merge in the object database, look at what would change, gate the merged tree, write down
 * the intention, move the branch, and close node, assignment and claim in one transaction. Killed anywhere, it is
 * simply done again: the merge makes the same commit, a branch that was moved is recognised by what was written down,
 * and nothing of the user's is touched before the last step, which is all or nothing. Several at once are land-batch.ts;
 * who comes next is merge-queue.ts.
 */

import type { Held } from "#act/ask-model.ts";
import { checksOf, judgeCommit, returnPolicy, withCheckWorktree } from "#act/checks/check.ts";
import { decideClaim, momentNow, type NodeRef, readClaim } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import type { Config } from "#config/schema.ts";
import type { AfterLanding } from "#domain/landing/after-landing.ts";
import { afterInQueue, afterLanding, prepareLanding } from "#domain/landing/after-landing.ts";
import { filesNamedBy } from "#domain/landing/check-files.ts";
import type { LandingEnd } from "#domain/landing/landing-end.ts";
import { consentTo } from "#domain/landing/landing-end.ts";
import { landingMessage, type MessageRules } from "#domain/landing/landing-message.ts";
import type { LandingMode } from "#domain/landing/may-land.ts";
import { mayLand, waitForReview } from "#domain/landing/may-land.ts";
import type { LandingLimits, Overreach } from "#domain/landing/overreach.ts";
import { limitsBehindLinks, overreach } from "#domain/landing/overreach.ts";
import type { ClaimSeen } from "#domain/landing/report-done.ts";
import { followLinks } from "#domain/landing/tracked-links.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Receipt } from "#domain/model/check.ts";
import { verdictOf } from "#domain/model/check.ts";
import type { Claim, LandingStrategy, PreparedLanding } from "#domain/model/claim.ts";
import { accept } from "#domain/model/decision.ts";
import { type MergeTier, mergeIdOf } from "#domain/model/merge.ts";
import { OverseerError } from "#errors.ts";
import { bringBumps } from "#git/landed-submodules.ts";
import {
  advanceBranch,
  type BranchMove,
  holds,
  type MergeResult,
  type MergeWish,
  mergeInto,
  mergeInWorktree,
  obstacleTo,
  sameAttributes,
  writeCommit,
} from "#git/landing.ts";
import { messagesOf, replayOnto } from "#git/replay.ts";
import { branchTip, readTrackedLinks, regularFiles } from "#git/repository.ts";
import { type DroppedCommit, findTakenBack } from "#git/taken-back.ts";
import { leaveRecoveryRef } from "#git/worktree-removal.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import { verdictsOn } from "#store/merges.ts";
import { inLandingTurn, settleUnfinishedMove } from "./lock.ts";
import { followRemote, remoteHasMore } from "./remote.ts";
import { rulesNow } from "./rules.ts";
import { dropStaged, keepStaged } from "./staged-refs.ts";
import { landingBranch, withWriter } from "./target-branch.ts";
import { judgeAuthorResolution } from "./tiers/author-resolution.ts";
import { type Resolution, type Resolved, type ResolveUpTo, resolveConflict } from "./tiers/resolve.ts";

export interface LandOrder extends NodeRef {
  /** Whether a person accepts each landing; what the configuration says unless told otherwise. */
  readonly mode?: LandingMode;
  readonly strategy?: LandingStrategy;
}

export type LandOutcome = AfterLanding | { readonly kind: "nothing"; readonly why: string };

/** How often a target that moves under our hands is merged anew before somebody else gets a turn. */
export const MOST_MERGE_ROUNDS = 5;

/**
 * Lands what is claimed for a node if it may land, and records what follows. Repeatable at any point. `waiting` and
 * `again` are to be tried later. Throws only when the machine or the repository does not let us.
 */
export async function landClaim(parts: ActParts, order: LandOrder): Promise<LandOutcome> {
  await standOnSettings(parts);
  const found = await jobOf(parts, order);
  if (!("claim" in found)) return found;
  const end = await landInRounds(found);
  return end === undefined ? { kind: "stale" } : recordOutcome(found, end);
}

/** One claim on its way into one branch. */
export interface Job {
  readonly parts: ActParts;
  readonly config: Config;
  readonly order: NodeRef;
  readonly seen: ClaimSeen;
  readonly claim: Claim;
  readonly target: string;
  readonly strategy: LandingStrategy;
}

/** What whoever works off the queue knows already. */
export interface Known {
  readonly seen: ClaimSeen;
  readonly target: string;
}

/** The job, if there is one to be done now. */
export async function jobOf(parts: ActParts, order: LandOrder, known?: Known): Promise<Job | LandOutcome> {
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
  // Without what was taken out of the target, no commit of the author's own history can land: one stands for them all.
  const own = may.claim.takenBack?.consent === "own";
  const strategy = own ? "squash" : (order.strategy ?? rules.strategy);
  const target = known?.target ?? (await landingBranch(withWriter(parts)));
  return { parts, config, order, seen, claim: may.claim, target, strategy };
}

/** Records what follows from how it ended, for the claim and for its place in the queue. */
export async function recordOutcome(job: Job, end: LandingEnd): Promise<AfterLanding> {
  const { parts, config, order, claim } = job;
  // Its author is told to rebase, which leaves this commit behind; no work is ever out of reach.
  if (end.kind === "conflict" && end.strategy === "squash") {
    await leaveRecoveryRef(parts.git, parts.root.gitCommonDir, `${claim.agent}-${claim.attempt}`, claim.commit);
  }
  const told = end.kind === "landed" ? { ...end, submodules: await bumpsOf(job, end) } : end;
  const policy = returnPolicy(parts, config);
  const mergeId = mergeIdOf(claim);
  await dropStaged(parts, mergeId);
  return decideClaim(
    parts,
    order,
    claim,
    (now, moment) => {
      const decision = afterLanding(now, claim.commit, told, policy, moment);
      const looks = (now.node.claim?.waiting?.looks ?? 0) + 1;
      const nextLook = end.kind === "held" ? end.until : moment.now + dirtyWaitMs(config, looks);
      return afterInQueue(now.merge, decision, end, nextLook, moment);
    },
    mergeId,
  );
}

/** Before the worktree may go, which is decided together with the landing. */
function bumpsOf({ parts, seen }: Job, { from, to }: { readonly from: string; readonly to: string }) {
  const { gitCommonDir: repository, project } = parts.root;
  return bringBumps(parts.git, { repository, project, from, to, worktree: seen.attempt?.worktree });
}

/** ACC-2: the second look after `base`, each later one after twice as long, never longer than `max`. */
export function dirtyWaitMs({ landing }: Pick<Config, "landing">, looks: number): number {
  const { base, max } = landing.dirtyWait;
  return Math.min(max, base * 2 ** Math.min(40, Math.max(0, looks - 1)));
}

async function landInRounds(job: Job): Promise<LandingEnd | undefined> {
  await settleUnfinishedMove(job.parts);
  const before = await findEarlierLanding(job);
  if (before) return before;
  for (let round = 1; round <= MOST_MERGE_ROUNDS; round += 1) {
    // Read anew each time: the claim may have gone meanwhile.
    const seen = round === 1 ? job.seen : await readClaim(job.parts, job.order);
    if (seen?.node.claim?.commit !== job.claim.commit) return undefined;
    const end = await landOnce({ ...job, seen });
    if (end?.kind !== "moved") return end;
  }
  return { kind: "moved", target: job.target };
}

/** What an earlier, interrupted try has moved already is not moved again. */
export async function findEarlierLanding({ parts, claim }: Job): Promise<LandingEnd | undefined> {
  const { prepared } = claim;
  if (!prepared || !(await holds(parts.git, parts.root.gitCommonDir, prepared.target, prepared.to))) return undefined;
  const { target, from, to, strategy, tier } = prepared;
  const tree = prepared.gateTree ?? prepared.tree;
  const { known } = await (await parts.writer()).read({ known: verdictsOn(tree) });
  const receipts = known.filter(({ verdict, on }) => verdict === "pass" && on === "land");
  return { kind: "landed", target, from, to, strategy, already: false, receipts, ...(tier ? { tier } : {}) };
}

/** A claim merged onto a commit: what the target would become. Nobody sees it yet. */
export interface Staged {
  readonly kind: "staged";
  readonly move: BranchMove;
  readonly tree: string;
  readonly tier: MergeTier;
  readonly found: readonly Resolution[];
}

/** Merges the claim onto `from`, which is the target or what a batch has made of it so far. Writes objects only. */
export async function stage(job: Job, from: string, upTo: ResolveUpTo = "all"): Promise<Staged | LandingEnd> {
  const { parts, claim, target, strategy } = job;
  const repository = parts.root.gitCommonDir;
  const taken = await listDroppedOfClaim(job, from);
  const consent = consentTo(claim, taken);
  if (taken.length > 0 && consent === undefined) return { kind: "taken-back", target, commits: taken };
  const left = consent === "own" ? toLeftOut(taken) : undefined;
  const merged = left ? await ownOnly(job, from, left) : await merge(parts, from, claim.commit, strategy);
  if (merged.kind === "missing") return { kind: "missing", target };
  const files = merged.kind === "conflict" ? merged.files : [];
  // A merge of the two tips, by whomever, would bring in what must not come along.
  if (merged.kind === "conflict" && left) {
    return { kind: "conflict", target, onto: from, files, strategy, without: taken[0]?.commit ?? claim.base };
  }
  const judged = merged.kind === "clean" && merged.changes.length > 0 && !left;
  const author = judged ? await judgeAuthorResolution(job) : undefined;
  const { found: learnt = [], dropped = [] } = author ?? {};
  const resolved: Resolved | Held | undefined =
    merged.kind === "clean"
      ? { tree: merged.tree, changes: merged.changes, tier: author ? "author" : "clean-merge", found: learnt }
      : await resolveConflict(job, from, files, upTo);
  if (resolved === undefined) return { kind: "conflict", target, onto: from, files, strategy };
  if ("kind" in resolved) return { ...resolved, target };
  const { tree, changes, tier, found } = resolved;
  if (changes.length === 0) {
    return { kind: "landed", target, from, to: from, strategy, already: true, receipts: [] };
  }
  const paths = changes.map(({ path }) => path);
  const limits = await limitsFor(parts, job.config, job.seen.attempt, from);
  const over = overreach(paths, limits) ?? judgeDroppedSides(dropped);
  if (over && claim.approvedBy === null) return { kind: "overreach", target, over };
  const to = await writeCommit(parts.git, repository, {
    tree,
    parents: strategy === "merge" ? [from, claim.commit] : [from],
    message: landingMessage(
      job.seen.node,
      claim,
      await messageRules(parts, job.config, strategy, { target: from, commit: claim.commit, ...left }),
    ),
    at: claim.claimedAt,
  });
  await keepStaged(parts, mergeIdOf(claim), to);
  sameAttributes(parts.git, from, to, changes);
  return { kind: "staged", move: { branch: target, from, to, changes }, tree, tier, found };
}

/** What a person took out of the target and would come back with this claim. */
async function listDroppedOfClaim({ parts, order, claim, target }: Job, from: string): Promise<DroppedCommit[]> {
  const { attempts } = await (await parts.writer()).read({ attempts: attemptsOfNode(order.goalId, order.nodeId) });
  return listDroppedOfNode(parts, attempts, { branch: target, from, commit: claim.commit });
}

/** The same for whoever only looks. `attempts` are all of the node. */
export function listDroppedOfNode(
  parts: Pick<ActParts, "git" | "root">,
  attempts: readonly Attempt[],
  what: { readonly branch: string; readonly from: string; readonly commit: string },
): Promise<DroppedCommit[]> {
  // The first one began on the target; a later one may have begun on the work of the one before it.
  const first = attempts.reduce<Attempt | undefined>(
    (least, one) => (least && least.attempt < one.attempt ? least : one),
    undefined,
  );
  return findTakenBack(parts.git, parts.root.gitCommonDir, { ...what, tips: first ? [first.base] : [] });
}

type LeftOut = Required<Pick<MergeWish, "without" | "skipped">>;

/** With a dropped commit everything below it goes; with a copy of one only the copy. */
function toLeftOut(taken: readonly DroppedCommit[]): LeftOut | undefined {
  if (taken.length === 0) return undefined;
  const ids = (copied: boolean) =>
    taken.filter(({ copyOf }) => (copyOf !== undefined) === copied).map(({ commit }) => commit);
  return { without: ids(false), skipped: ids(true) };
}

/** Only what its author has committed on top of these. */
async function ownOnly({ parts, claim }: Job, from: string, left: LeftOut): Promise<MergeResult> {
  if (!(await parts.git.git.probe()).mergeTreeWriteTree) return { kind: "conflict", files: [] };
  return replayOnto(parts.git, parts.root.gitCommonDir, { target: from, commit: claim.commit, ...left });
}

function judgeDroppedSides(files: readonly string[]): Overreach | undefined {
  return files.length > 0 ? { kind: "dropped_side", files } : undefined;
}

/** Undefined when the claim went away meanwhile. */
async function landOnce(job: Job): Promise<LandingEnd | undefined> {
  const { parts, target, strategy } = job;
  const repository = parts.root.gitCommonDir;
  await settleUnfinishedMove(parts);
  const behind = await followRemote(parts, target);
  if (behind) return behind;
  const from = await branchTip(parts.git, repository, target);
  if (from === undefined) throw targetGone(target);
  const staged = await stage(job, from);
  if (staged.kind !== "staged") return staged;
  const { move, tree, tier } = staged;
  const receipts = await gate(job, move);
  if (receipts === undefined || !Array.isArray(receipts)) return receipts;
  if (receipts.length > 0 && verdictOf(receipts) !== "pass") return gateEnd(job, from, receipts);
  if (receipts.length > 0 && (await remoteHasMore(parts, target, from))) return { kind: "moved", target };
  if (!(await recordIntent(job, { target, from, to: move.to, tree, strategy, tier }))) return undefined;
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, repository, move));
  if (moved.kind === "lost") return { kind: "moved", target };
  if (moved.kind === "dirty") return { ...moved, target };
  await recordResolutions(parts, staged);
  return { kind: "landed", target, from, to: move.to, strategy, already: false, receipts, tier };
}

/** What was resolved and has landed is known from now on. Lost by a crash, it is only found out again. */
export async function recordResolutions(
  parts: ActParts,
  { found, tier }: Pick<Staged, "found" | "tier">,
): Promise<void> {
  if (found.length === 0) return;
  const { now, actor } = momentNow(parts);
  const events = found.map(
    (data) => ({ type: "merge.resolved", actor, because: tier, data: { ...data, tier } }) as const,
  );
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept(events, null) });
}

/** A squash is the rebased branch as one commit: where the tips do not merge, its commits are brought over one by one. */
export async function merge(
  parts: ActParts,
  target: string,
  commit: string,
  strategy: LandingStrategy,
): Promise<MergeResult> {
  const repository = parts.root.gitCommonDir;
  if ((await parts.git.git.probe()).mergeTreeWriteTree) {
    const merged = await mergeInto(parts.git, repository, { target, commit });
    if (merged.kind !== "conflict" || strategy !== "squash") return merged;
    const replayed = await replayOnto(parts.git, repository, { target, commit });
    return replayed.kind === "clean" ? replayed : merged;
  }
  return withCheckWorktree(parts, ({ path }) => mergeInWorktree(parts.git, repository, { target, commit, path }));
}

/** What a squash tells of the commits it stands for; a merge has them in its history. */
export async function messageRules(
  parts: ActParts,
  config: Pick<Config, "landing">,
  strategy: LandingStrategy,
  wish: Pick<MergeWish, "target" | "commit" | "without" | "skipped">,
): Promise<MessageRules> {
  const { stripAttribution } = config.landing;
  if (strategy === "merge") return { strategy, stripAttribution };
  const squashed = await messagesOf(parts.git, parts.root.gitCommonDir, wish);
  return { strategy, stripAttribution, squashed };
}

/** Receipts of the merged tree; or why there is no point in asking for them yet. */
async function gate(job: Job, move: BranchMove) {
  const { parts, seen, config, target } = job;
  const specs = checksOf(config, "land");
  if (specs.length === 0) return [];
  // A gate may take an hour; a checkout that is in the way is better found before it than after.
  const obstacle = await obstacleTo(parts.git, parts.root.gitCommonDir, move);
  if (obstacle) return { ...obstacle, target } as const;
  return judgeCommit(parts, seen, specs, "land", move.to);
}

/** A failure is the branch's own only if the target does not fail in the same way. */
async function gateEnd(job: Job, from: string, receipts: readonly Receipt[]): Promise<LandingEnd> {
  const { target } = job;
  if (verdictOf(receipts) === "fail" && (await failsAlready(job, from, receipts))) {
    return { kind: "target-red", target, receipts };
  }
  return { kind: "gate", target, receipts };
}

/** Runs the failing checks on the target itself, unless that is known; true when every one of them fails there too. */
export async function failsAlready(
  { parts, config }: Pick<Job, "parts" | "config">,
  commit: string,
  receipts: readonly Receipt[],
): Promise<boolean> {
  const failed = new Set(receipts.filter(({ verdict }) => verdict === "fail").map(({ name }) => name));
  const specs = checksOf(config, "land").filter(({ name }) => failed.has(name));
  const there = await judgeCommit(parts, null, specs, "land", commit);
  return there !== undefined && there.length > 0 && there.every(({ verdict }) => verdict === "fail");
}

/** False when the claim does not stand any more. */
export async function recordIntent({ parts, order, claim }: Job, wanted: PreparedLanding): Promise<boolean> {
  try {
    await decideClaim(parts, order, claim, ({ node }, moment) => prepareLanding(node, claim.commit, wanted, moment));
    return true;
  } catch (error) {
    if (error instanceof OverseerError && error.code === "CLAIM_GONE") return false;
    throw error;
  }
}

/** The scope of the attempt that made the claim, the files of all checks, and those that their commands name in `target`. */
export async function limitsFor(
  parts: Pick<ActParts, "git" | "root">,
  { checks }: Pick<Config, "checks">,
  attempt: Attempt | undefined,
  target: string,
): Promise<LandingLimits> {
  const all = Object.values(checks);
  const named = [...new Set(all.flatMap(({ command }) => filesNamedBy(command)))];
  const repository = parts.root.gitCommonDir;
  const links = await readTrackedLinks(parts.git, repository, target);
  const ways = named.flatMap((path) => followLinks(path, links) ?? []).filter(({ place }) => place !== "");
  const places = [...new Set(ways.map(({ place }) => place))];
  const files = new Set(await regularFiles(parts.git, repository, target, places));
  // Whoever turns a link on the way there names another file by the same word.
  const turned = ways.filter(({ place }) => files.has(place)).flatMap((way) => way.links);
  const limits = { scope: attempt?.scope ?? null, protected: all.flatMap((check) => check.protected) };
  return limitsBehindLinks({ ...limits, judges: [...files], linked: turned }, links);
}

export function targetGone(target: string): OverseerError {
  const hint = "Make the branch again, or set repo.targetBranch in .overseer/config.yaml.";
  return new OverseerError("not-found", "BRANCH_MISSING", `There is no branch "${target}" to land on.`, hint);
}

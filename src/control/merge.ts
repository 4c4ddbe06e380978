/**
 * The merge queue by hand: what waits, what a branch would meet, and landing a branch or all of them by a person's word.
 * A person's `merge --branch` is an accept, also for a branch that none of our agents made. Looking ahead writes nothing
 * anywhere: git is given a place of its own for the objects that it makes on the way.
 */

import { landBrought } from "#act/landing/land.ts";
import { workOffQueue } from "#act/landing/queue.ts";
import { rulesNow } from "#act/landing/rules.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { conflictOutlook, forecastTier } from "#act/landing/tiers/list.ts";
import type { ForecastAuthor, SettledBy } from "#act/landing/tiers/tier.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { describeHeldLanding } from "#domain/landing/after-command.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import { describeTakenBack } from "#domain/landing/landing-end.ts";
import { findTakeBack } from "#domain/landing/take-back.ts";
import { actionDecided } from "#domain/model/action.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { Claim } from "#domain/model/claim.ts";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { accept } from "#domain/model/decision.ts";
import type { Merge, MergeTier, TakesBack } from "#domain/model/merge.ts";
import { inQueueOrder, isQueued } from "#domain/model/merge.ts";
import { finishByHand, isOpen, nodeKey, type WorkNode } from "#domain/model/work.ts";
import { settleDecision as settledTree } from "#domain/plans/settle.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { BY_HAND, keepClaimed } from "#git/claim-refs.ts";
import { type MergeResult, mergeInto } from "#git/landing.ts";
import { replayOnto } from "#git/replay.ts";
import { branchTip, findCommit, isMergedInto } from "#git/repository.ts";
import { findTakenBack } from "#git/taken-back.ts";
import { openActions } from "#store/actions.ts";
import { openQuestions } from "#store/assignments.ts";
import { attemptByNumber, latestAttempts, livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { listLandedMerges, listQueuedMerges, mergeById } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";
import { assertNotInDoubt } from "./halted.ts";
import { type Landed, land, notPushed } from "./landing.ts";
import { reviews } from "./review.ts";
import type { World } from "./world.ts";

/** Everything on its way into a target, in the order in which it will land. */
export async function queue(world: World): Promise<Merge[]> {
  const { all } = await (await world.reader()).read({ all: listQueuedMerges() });
  const { landing } = await world.config();
  return inQueueOrder(all, world.clock.now(), landing.ageBoost);
}

/** Finished work that lies in no queue because a command after another's landing has failed or still runs. */
export interface HeldLanding {
  readonly node: string;
  /** What holds it, and the command that ends that. */
  readonly why: string;
}

export async function listHeldLandings(world: World): Promise<HeldLanding[]> {
  const { actions, open } = await (await world.reader()).read({ actions: openActions(), open: openQuestions() });
  return actions.flatMap((action) => {
    const why = describeHeldLanding([action], open).at(-1);
    return why === undefined ? [] : [{ node: nodeKey(action.goalId ?? "", action.workNodeId ?? ""), why }];
  });
}

/** What has landed last, the newest first, each with the tier by which it came together with the target. */
export async function listRecentLandings(world: World, most = 5): Promise<Merge[]> {
  return (await (await world.reader()).read({ landed: listLandedMerges(most) })).landed;
}

export interface Prediction {
  readonly branch: string;
  readonly commit: string;
  readonly outcome: "clean" | "already-in" | "conflict" | "missing";
  /** By which tier the two sides would come together first; null where there is nothing to bring together. */
  readonly tier: MergeTier | null;
  /** Who would do what about it, as a sentence. */
  readonly how: string | null;
  readonly conflicts: readonly string[];
  /** Those of them that settle themselves, and by what. */
  readonly settled: readonly { readonly path: string; readonly by: SettledBy }[];
  readonly changes: number;
}

/** What merging would meet, each branch against the target as it is now. Touches nothing. */
export async function predict(world: World, branches: readonly string[]): Promise<Prediction[]> {
  const target = await landingBranch(world);
  const repository = world.root.gitCommonDir;
  const tip = await branchTip(world.git, repository, target);
  if (tip === undefined) throw noBranch(target);
  const { strategy } = await rulesNow(world);
  const finished = await listFinishedBranches(world);
  const scratch = `${world.root.state}/run/dry-run-${world.ids.next("")}`;
  await world.files.makeDir(scratch);
  try {
    const found: Prediction[] = [];
    for (const branch of branches) {
      const commit = await branchTip(world.git, repository, branch);
      if (commit === undefined) throw noBranch(branch);
      const wish = { target: tip, commit, objects: scratch };
      const plain = await mergeInto(world.git, repository, wish);
      const replay = plain.kind === "conflict" && strategy === "squash";
      const replayed = replay ? await replayOnto(world.git, repository, wish) : plain;
      const merged = replayed.kind === "clean" ? replayed : plain;
      const claimed = finished.find((one) => one.branch === branch);
      const behind = claimed && (await behindClaim(world, claimed.node));
      const foreseen = await predictOutcome(world, wish, merged, behind);
      const taken = await findTakenBack(world.git, repository, { branch: target, from: tip, commit, tips: [] });
      const how = taken.length > 0 ? `Before it lands, a person is asked: ${describeTakenBack(target, taken)}.` : null;
      found.push({ branch, commit, ...foreseen, how: how ?? foreseen.how });
    }
    return found;
  } finally {
    await world.files.remove(scratch);
  }
}

type Foreseen = Omit<Prediction, "branch" | "commit">;
const NOTHING_TO_SETTLE = { tier: null, how: null, conflicts: [], settled: [], changes: 0 } as const;

async function predictOutcome(
  world: World,
  wish: { readonly target: string; readonly commit: string; readonly objects: string },
  merged: MergeResult,
  behind: Behind | undefined,
): Promise<Foreseen> {
  if (merged.kind === "missing") return { outcome: "missing", ...NOTHING_TO_SETTLE };
  if (merged.kind === "clean") {
    const changes = merged.changes.length;
    if (changes === 0) return { outcome: "already-in", ...NOTHING_TO_SETTLE };
    const { conflict, claim } = behind?.node ?? {};
    const byAuthor = conflict !== undefined && conflict.commit !== claim?.commit;
    const how = byAuthor
      ? `Its author has resolved ${conflict.files.join(", ")}; both sides are checked for survival.`
      : null;
    return { ...NOTHING_TO_SETTLE, outcome: "clean", tier: byAuthor ? "author" : "clean-merge", how, changes };
  }
  const config = await world.config();
  const { git, files, root } = world;
  const outlook = await conflictOutlook({ git, files, root, config, store: await world.reader() }, wish);
  const { tiers, authorRounds } = config.landing;
  const { tier, how } = forecastTier({ files: outlook, tiers, authorRounds, author: behind?.author ?? null });
  const settled = outlook.flatMap(({ path, by }) => (by && tiers.mechanical ? [{ path, by }] : []));
  return { outcome: "conflict", tier, how, conflicts: merged.files, settled, changes: 0 };
}

interface Behind {
  readonly node: WorkNode;
  readonly author: ForecastAuthor;
}

/** Who has claimed that branch, as far as it decides who would be asked. */
async function behindClaim(world: World, place: string): Promise<Behind | undefined> {
  const [goalId = "", nodeId = ""] = place.split("/");
  const store = await world.reader();
  const { node } = await store.read({ node: nodeById(goalId, nodeId) });
  if (!node?.claim) return undefined;
  const { attempt } = await store.read({ attempt: attemptByNumber(node.claim.attempt) });
  const living = attempt !== undefined && isLiving(attempt);
  return { node, author: { label: attemptLabel(node.claim), living, rounds: node.rounds ?? 0 } };
}

export interface FinishedBranch {
  readonly node: string;
  readonly branch: string;
  readonly claim: Claim;
}

/** The branches of everything that is finished and has not landed, oldest first. */
export async function listFinishedBranches(world: World): Promise<FinishedBranch[]> {
  const store = await world.reader();
  const found: FinishedBranch[] = [];
  for (const row of await reviews(world)) {
    const [goalId = "", nodeId = ""] = row.node.split("/");
    const { node } = await store.read({ node: nodeById(goalId, nodeId) });
    if (node?.claim?.branch) found.push({ node: row.node, branch: node.claim.branch, claim: node.claim });
  }
  return found;
}

/** Lands everything that is finished, each by this person's word; what cannot land says why. */
export async function mergeAll(world: World, reason?: string): Promise<Landed[]> {
  await assertNotInDoubt(world);
  const landed: Landed[] = [];
  for (const { node, claim } of await listFinishedBranches(world)) {
    landed.push(await land(world, { node }, reason, claim));
  }
  await workOffQueue(world);
  return landed;
}

/** Lands one branch by this person's word, whoever made it. */
export async function mergeBranch(world: World, branch: string, reason?: string): Promise<Landed> {
  await assertNotInDoubt(world);
  const claimed = (await listFinishedBranches(world)).find((one) => one.branch === branch);
  if (claimed) return land(world, { node: claimed.node }, reason, claimed.claim);
  const target = await landingBranch(world);
  const commit = await branchTip(world.git, world.root.gitCommonDir, branch);
  if (commit === undefined) throw noBranch(branch);
  if (branch === target) {
    throw new OverseerError("usage", "BRANCH_IS_TARGET", `${branch} is the target itself.`, "Name another branch.");
  }
  await standOnSettings(world); // before it is queued by that person's word
  await assertNotTakenBack(world, { target, branch, commit });
  const mergeId = await queueMerge(world, { target, branch, commit });
  await landBrought(world, mergeId);
  const { entry } = await (await world.writer()).read({ entry: mergeById(mergeId) });
  if (entry?.status !== "landed" || entry.to === null) {
    const outcome = entry && isQueued(entry) ? "waiting" : "blocked";
    return {
      node: branch,
      outcome,
      detail: entry?.detail ?? null,
      agent: null,
      commit: null,
      target: null,
      claimed: null,
    };
  }
  const node = await ofBranch(world, branch);
  if (node) await finishTakenOver(world, node, [commit, entry.to]);
  return {
    node: node ? nodeKey(node.goalId, node.workNodeId) : branch,
    outcome: "done",
    detail: await notPushed(world),
    agent: null,
    commit: entry.to,
    target,
    claimed: null,
  };
}

export interface BroughtMerge {
  readonly target: string;
  readonly branch: string;
  readonly commit: string;
  /** The work whose landing it takes back. */
  readonly takesBack?: TakesBack & { readonly of: Pick<WorkNode, "goalId" | "workNodeId"> };
}

/** Once: the same branch at the same commit, or the revert of the same landing, that waits already is continued. */
export async function queueMerge(world: World, { takesBack, ...what }: BroughtMerge): Promise<string> {
  const store = await world.writer();
  const now = world.clock.now();
  const mergeId = world.ids.next("M_");
  const { landing } = await world.config();
  await keepClaimed(world.git, world.root.gitCommonDir, BY_HAND, what.commit);
  const same = (one: Merge) => one.branch === what.branch && one.commit === what.commit && one.target === what.target;
  return orThrow(
    await store.commit({
      at: now,
      reads: { all: listQueuedMerges() },
      decide: ({ all }) => {
        const before = takesBack ? findTakeBack(all, takesBack.mergeId) : all.find(same);
        if (before) return accept([], before.mergeId);
        const { of, ...reverts } = takesBack ?? {};
        const about = of ? { goalId: of.goalId, nodeId: of.workNodeId } : {};
        const wanted = { mergeId, ...what, priority: "normal", since: now } as const;
        const data = takesBack ? { ...wanted, takesBack: reverts as TakesBack } : wanted;
        const queuing = { type: "merge.queued", actor: world.actor, ...about, because: "by-hand", data } as const;
        // Should it have to wait, the daemon continues with it.
        const later = now + landing.dirtyWait.base;
        const request = { actionId: `land:${mergeId}`, kind: "land", because: "by-hand", notBefore: later } as const;
        const inTime = actionDecided({ ...request, payload: { commit: what.commit } }, { now, actor: "overseer" });
        return accept([queuing, inTime], mergeId);
      },
    }),
  );
}

/**
 * Git holds a branch that was merged and reverted for merged: landing it again would bring nothing, or only what was added
 * since. One that knows of the revert, because it has the target in it, lands like any other.
 */
async function assertNotTakenBack(world: World, { target, branch, commit }: BroughtMerge): Promise<void> {
  const repository = world.root.gitCommonDir;
  const { landed } = await (await world.reader()).read({ landed: listLandedMerges(MOST_LANDED) });
  for (const revert of landed) {
    const of = landed.find(({ mergeId }) => mergeId === revert.takesBack?.mergeId);
    if (!of || revert.to === null || revert.from === revert.to || revert.target !== target) continue;
    if (of.branch !== branch && of.commit !== commit) continue;
    if ((await findCommit(world.git.git, repository, of.commit)) === undefined) continue;
    const has = (one: string) => isMergedInto(world.git.git, repository, one, commit);
    const inTarget = await isMergedInto(world.git.git, repository, of.commit, target);
    if (!inTarget || !(await has(of.commit)) || (await has(revert.to))) continue;
    const id = revert.to.slice(0, 10);
    throw new OverseerError(
      "conflict",
      "BRANCH_TAKEN_BACK",
      `${branch} landed before and was taken back by ${id}: git holds it for merged, and merging it again would bring nothing of that.`,
      `To bring it back: git switch -c again ${target} && git revert ${id}, then 'overseer merge --branch again'.`,
    );
  }
}

const MOST_LANDED = 1_000;

/** The open node whose agent made that branch, where a person has taken it over. */
async function ofBranch(world: World, branch: string): Promise<WorkNode | undefined> {
  const store = await world.writer();
  const { attempts } = await store.read({ attempts: latestAttempts(1_000) });
  const attempt = attempts.find((one) => one.branch === branch);
  if (!attempt) return undefined;
  const { node } = await store.read({ node: nodeById(attempt.goalId, attempt.workNodeId) });
  return node && isOpen(node) && node.blockedReason?.kind === "human" ? node : undefined;
}

/** What a person took over and has landed is done, with the commits as evidence. */
async function finishTakenOver(world: World, node: WorkNode, commits: readonly string[]): Promise<void> {
  const moment = { now: world.clock.now(), actor: world.actor };
  const evidence = { ...NO_EVIDENCE, commits: [...new Set(commits)] };
  const crystallizationId = world.ids.next("C_");
  orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { ...goalTreeReads(node.goalId), questions: openQuestions(), attempts: livingAttempts() },
      decide: ({ goal, questions, attempts, ...tree }) => {
        const now = tree.nodes.find((one) => one.workNodeId === node.workNodeId);
        if (!goal || !now || !isOpen(now)) return accept([], "");
        const words = {
          summary: "Landed by hand.",
          evidence,
          overrideReason: "its branch was landed by hand",
          crystallizationId,
        };
        const done = closeDependents(
          finishByHand(now, tree.nodes, words, moment),
          { assignments: tree.assignments, attempts, questions },
          moment,
        );
        return settledTree(goalTreeOf(goal, tree), done, moment);
      },
    }),
  );
}

function noBranch(branch: string): OverseerError {
  return new OverseerError(
    "not-found",
    "BRANCH_MISSING",
    `There is no branch "${branch}".`,
    "'git branch --list' shows them.",
  );
}

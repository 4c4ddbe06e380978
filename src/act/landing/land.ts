/**
 * The way into the target branch, the same for every candidate and for several at once: merge in the object database,
 * look at what would change, gate the merged tree, write down the intention, move the branch, record what became of it.
 * Killed anywhere, it is simply done again: the merge makes the same commit, a branch that was moved is recognised by
 * what was written down, and nothing of the user's is touched before the last step, which is all or nothing.
 *
 * Several are merged one on top of the other, gated once and moved in one step. When the gate fails they are split, the
 * halves are tried on what the target has become by then, and so the good ones land and the bad ones are found; one that
 * is only bad together with another is found too, because it is tested on top of it. What does not fit is landed alone,
 * where it gets its own answer. Who comes next is queue.ts.
 */

import { checksOf, judgeCommit } from "#act/checks/check.ts";
import { momentNow } from "#act/checks/claim-store.ts";
import type { ActParts } from "#act/parts.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import type { LandingEnd } from "#domain/landing/landing-end.ts";
import { type Receipt, verdictOf } from "#domain/model/check.ts";
import { accept } from "#domain/model/decision.ts";
import { OverseerError } from "#errors.ts";
import { advanceBranch, type BranchMove, changesBetween, obstacleTo } from "#git/landing.ts";
import { branchTip } from "#git/repository.ts";
import {
  type Candidate,
  findAgain,
  findBrought,
  findClaimed,
  findEarlierLanding,
  isCandidate,
  type LandOrder,
  type LandOutcome,
  recordIntent,
  recordOutcome,
} from "./candidate.ts";
import { inLandingTurn, settleUnfinishedMove } from "./lock.ts";
import { followRemote, remoteHasMore } from "./remote.ts";
import { type Staged, stage } from "./stage.ts";

/** How often a target that moves under our hands is merged again before somebody else gets a turn. */
const MOST_ROUNDS = 5;

/**
 * Lands what is claimed for a node if it may land, and records what follows. Repeatable at any point. `waiting` and
 * `again` are to be tried later. Throws only when the machine or the repository does not let us.
 */
export async function landClaim(parts: ActParts, order: LandOrder): Promise<LandOutcome> {
  await standOnSettings(parts);
  return landFound(await findClaimed(parts, order));
}

/**
 * Lands a branch that a person brought and that no claim stands behind. The person's word is the review; what became of
 * it is in its entry.
 */
export async function landBrought(parts: ActParts, mergeId: string): Promise<LandOutcome> {
  await standOnSettings(parts);
  return landFound(await findBrought(parts, mergeId));
}

async function landFound(found: Candidate | LandOutcome): Promise<LandOutcome> {
  if (!isCandidate(found)) return found;
  const [outcome] = await landCandidates([found]);
  return outcome ?? { kind: "stale" };
}

/** Lands what can be landed of these, all for one target. Killed anywhere, it is simply called again. */
export async function landCandidates(candidates: readonly Candidate[], round = 1): Promise<LandOutcome[]> {
  const outcomes: LandOutcome[] = [];
  const fresh: Candidate[] = [];
  const [first] = candidates;
  if (first) await settleUnfinishedMove(first.parts);
  for (const one of candidates) {
    const before = await findEarlierLanding(one);
    if (before) outcomes.push(await recordOutcome(one, before));
    else fresh.push(one);
  }
  return [...outcomes, ...(await landTogether(fresh, round))];
}

async function landTogether(candidates: readonly Candidate[], round = 1): Promise<LandOutcome[]> {
  const [first, ...others] = candidates;
  if (first === undefined) return [];
  const { end, chain, apart } = await tryToLand(first, candidates);
  if (end.kind === "moved" && round < MOST_ROUNDS) {
    return goOnWith(candidates, (found) => landCandidates(found, round + 1));
  }
  if (end.kind === "landed" && chain.length > 0) {
    const outcomes: LandOutcome[] = [];
    for (const link of chain) outcomes.push(await recordLanded(link, end.receipts));
    return [...outcomes, ...(await landOneByOne(apart))];
  }
  if (others.length === 0) return [await recordOutcome(first, end)];
  if (end.kind !== "gate" || verdictOf(end.receipts) !== "fail") return landOneByOne(candidates);
  return [...(await bisect(chain.map(({ candidate }) => candidate))), ...(await landOneByOne(apart))];
}

async function bisect(candidates: readonly Candidate[]): Promise<LandOutcome[]> {
  const middle = Math.ceil(candidates.length / 2);
  const left = await landTogether(candidates.slice(0, middle));
  return [...left, ...(await landTogether(candidates.slice(middle)))];
}

async function landOneByOne(candidates: readonly Candidate[]): Promise<LandOutcome[]> {
  const outcomes: LandOutcome[] = [];
  for (const one of candidates) outcomes.push(...(await goOnWith([one], (found) => landCandidates(found))));
  return outcomes;
}

/** With those that still want to land, as they are now. */
async function goOnWith(
  candidates: readonly Candidate[],
  next: (found: readonly Candidate[]) => Promise<LandOutcome[]>,
): Promise<LandOutcome[]> {
  const again = await Promise.all(candidates.map(findAgain));
  const found = again.filter((one) => one !== undefined);
  const gone = Array.from({ length: again.length - found.length }, (): LandOutcome => ({ kind: "stale" }));
  return [...gone, ...(await next(found))];
}

interface Link {
  readonly candidate: Candidate;
  readonly staged: Staged;
}

interface Tried {
  /** How it ended for all of the chain together. `moved` also where a claim went away meanwhile. */
  readonly end: LandingEnd;
  /** Each merged on top of the one before it. */
  readonly chain: readonly Link[];
  /** Those that do not fit. */
  readonly apart: readonly Candidate[];
}

async function tryToLand(first: Candidate, candidates: readonly Candidate[]): Promise<Tried> {
  const { parts, target, strategy } = first;
  const repository = parts.root.gitCommonDir;
  await settleUnfinishedMove(parts);
  const behind = await followRemote(parts, target);
  if (behind) return { end: behind, chain: [], apart: [] };
  const from = await branchTip(parts.git, repository, target);
  if (from === undefined) throw targetGone(target);
  const chain: Link[] = [];
  const apart: Candidate[] = [];
  let end: LandingEnd = { kind: "moved", target };
  for (const candidate of candidates) {
    // A model is asked about the real target, not about what a batch may become.
    const staged = await stage(candidate, chain.at(-1)?.staged.move.to ?? from, candidates.length > 1);
    if (staged.kind === "staged") chain.push({ candidate, staged });
    else {
      apart.push(candidate);
      end = staged;
    }
  }
  const last = chain.at(-1);
  if (last === undefined) return { end, chain, apart };
  const { to } = last.staged.move;
  const changes = chain.length === 1 ? last.staged.move.changes : await changesBetween(parts.git, repository, from, to);
  const move = { branch: target, from, to, changes };
  const receipts = await gate(chain, move);
  if (!Array.isArray(receipts)) return { end: receipts, chain, apart };
  const advanced = (await recordIntents(chain, last.staged.tree)) && (await advance(parts, move));
  if (advanced !== true) return { end: advanced || { kind: "moved", target }, chain, apart };
  return { end: { kind: "landed", target, from, to, strategy, already: false, receipts }, chain, apart };
}

/** Receipts of the merged tree; or why there is no point in continuing. */
async function gate(chain: readonly Link[], move: BranchMove): Promise<Receipt[] | LandingEnd> {
  const [first, ...more] = chain;
  if (first === undefined) return [];
  const { parts, config, target, work } = first.candidate;
  const specs = checksOf(config, "land");
  if (specs.length === 0) return [];
  // A gate may take an hour; a checkout that is in the way is better found before it than after.
  const obstacle = await findObstacle(parts, move);
  if (obstacle) return obstacle;
  const seen = more.length === 0 ? (work?.seen ?? null) : null;
  const receipts = await judgeCommit(parts, seen, specs, "land", move.to);
  if (receipts === undefined) return { kind: "moved", target };
  const verdict = verdictOf(receipts);
  if (verdict === "fail" && (await failsAlready(first.candidate, move.from, receipts))) {
    return { kind: "target-red", target, receipts };
  }
  if (verdict !== "pass") return { kind: "gate", target, receipts };
  return (await remoteHasMore(parts, target, move.from)) ? { kind: "moved", target } : receipts;
}

/** In its turn: beside a landing, files of a commit that is not there yet would look like files that git does not track. */
async function findObstacle(parts: ActParts, move: BranchMove): Promise<LandingEnd | undefined> {
  const repository = parts.root.gitCommonDir;
  const target = move.branch;
  return inLandingTurn(parts, async () => {
    if ((await branchTip(parts.git, repository, target)) !== move.from) return { kind: "moved", target };
    const obstacle = await obstacleTo(parts.git, repository, move);
    return obstacle && { ...obstacle, target };
  });
}

/** Runs the failing checks on the target itself, unless that is known; true when every one of them fails there too. */
async function failsAlready(
  { parts, config }: Candidate,
  commit: string,
  receipts: readonly Receipt[],
): Promise<boolean> {
  const failed = new Set(receipts.filter(({ verdict }) => verdict === "fail").map(({ name }) => name));
  const specs = checksOf(config, "land").filter(({ name }) => failed.has(name));
  const there = await judgeCommit(parts, null, specs, "land", commit);
  return there !== undefined && there.length > 0 && there.every(({ verdict }) => verdict === "fail");
}

/** False when one of them does not want to land any more: it must not become part of the target. */
async function recordIntents(chain: readonly Link[], gated: string): Promise<boolean> {
  for (const { candidate, staged } of chain) {
    const { target, strategy } = candidate;
    const { move, tree, tier } = staged;
    const wanted = { target, from: move.from, to: move.to, tree, strategy, tier };
    const stands = await recordIntent(candidate, chain.length === 1 ? wanted : { ...wanted, gateTree: gated });
    if (!stands) return false;
  }
  return true;
}

async function advance(parts: ActParts, move: BranchMove): Promise<true | LandingEnd> {
  const target = move.branch;
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, parts.root.gitCommonDir, move));
  if (moved.kind === "dirty") return { ...moved, target };
  return moved.kind === "lost" ? { kind: "moved", target } : true;
}

async function recordLanded({ candidate, staged }: Link, receipts: readonly Receipt[]): Promise<LandOutcome> {
  const { parts, target, strategy } = candidate;
  const { move, tier, found } = staged;
  if (found.length > 0) await recordResolutions(parts, staged);
  const { from, to } = move;
  return recordOutcome(candidate, { kind: "landed", target, from, to, strategy, already: false, receipts, tier });
}

/** What was resolved and has landed is known from now on. Lost by a crash, it is only found out again. */
async function recordResolutions(parts: ActParts, { found, tier }: Staged): Promise<void> {
  const { now, actor } = momentNow(parts);
  const events = found.map(
    (data) => ({ type: "merge.resolved", actor, because: tier, data: { ...data, tier } }) as const,
  );
  await (await parts.writer()).commit({ at: now, reads: {}, decide: () => accept(events, null) });
}

function targetGone(target: string): OverseerError {
  const hint = "Make the branch again, or set repo.targetBranch in .overseer/config.yaml.";
  return new OverseerError("not-found", "BRANCH_MISSING", `There is no branch "${target}" to land on.`, hint);
}

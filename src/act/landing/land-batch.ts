/**
 * Landing several branches at once: merged one on top of the other, gated once, and moved in one step. When the gate
 * fails the batch is split, the halves are tried on what the target has become by then, and so the good ones land and
 * the bad ones are found; a branch that is only bad together with another is found too, because it is tested on top of
 * it. What conflicts, overreaches or cannot be gated is taken out and landed alone, where it gets its own answer.
 */

import { checksOf, judgeCommit } from "#act/checks/check.ts";
import type { LandingEnd } from "#domain/landing/landing-end.ts";
import { verdictOf } from "#domain/model/check.ts";
import { advanceBranch, changesBetween, obstacleTo } from "#git/landing.ts";
import { branchTip } from "#git/repository.ts";
import {
  failsAlready,
  findEarlierLanding,
  type Job,
  landClaim,
  MOST_MERGE_ROUNDS,
  recordIntent,
  recordOutcome,
  recordResolutions,
  type Staged,
  stage,
  targetGone,
} from "./land.ts";
import { inLandingTurn, settleUnfinishedMove } from "./lock.ts";
import { followRemote, remoteHasMore } from "./remote.ts";

/** Lands what can be landed of these, all for one target. Killed anywhere, it is simply called again. */
export async function landBatch(jobs: readonly Job[]): Promise<void> {
  const fresh: Job[] = [];
  const [first] = jobs;
  if (first) await settleUnfinishedMove(first.parts);
  for (const job of jobs) {
    const before = await findEarlierLanding(job);
    if (before) await recordOutcome(job, before);
    else fresh.push(job);
  }
  await landTogether(fresh, 1);
}

interface Link {
  readonly job: Job;
  readonly staged: Staged;
}

async function landTogether(jobs: readonly Job[], round: number): Promise<void> {
  const [first] = jobs;
  if (first === undefined) return;
  if (jobs.length === 1 || round > MOST_MERGE_ROUNDS) return landOneByOne(jobs);
  const { parts, target, config } = first;
  const repository = parts.root.gitCommonDir;
  await settleUnfinishedMove(parts);
  if (await followRemote(parts, target)) return landOneByOne(jobs);
  const from = await branchTip(parts.git, repository, target);
  if (from === undefined) throw targetGone(target);
  const { chain, apart } = await stageChain(jobs, from);
  const last = chain.at(-1);
  if (last === undefined || chain.length === 1) return landOneByOne(jobs);
  const to = last.staged.move.to;
  const move = { branch: target, from, to, changes: await changesBetween(parts.git, repository, from, to) };
  const obstacle = await obstacleTo(parts.git, repository, move);
  if (obstacle) return landOneByOne(jobs);
  const specs = checksOf(config, "land");
  const receipts = (await judgeCommit(parts, null, specs, "land", to)) ?? [];
  const verdict = verdictOf(receipts);
  if (verdict === "did_not_run") return landOneByOne(jobs);
  if (verdict === "fail") {
    // Where the target itself is at fault, looking for a culprit would be in vain.
    if (await failsAlready(first, from, receipts)) return landOneByOne(jobs);
    return bisect(
      chain.map(({ job }) => job),
      apart,
    );
  }
  if (receipts.length > 0 && (await remoteHasMore(parts, target, from))) return landTogether(jobs, round + 1);
  const stands = await recordIntents(chain, last.staged.tree);
  if (stands.length < chain.length) return landTogether([...stands, ...apart], round + 1);
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, repository, move));
  if (moved.kind !== "moved") return landTogether(jobs, round + 1);
  for (const link of chain) {
    await recordResolutions(parts, link.staged);
    await recordOutcome(link.job, toLandedEnd(link, receipts));
  }
  await landOneByOne(apart);
}

/** Each on top of the one before it; those that do not fit are left apart. */
async function stageChain(jobs: readonly Job[], from: string): Promise<{ chain: Link[]; apart: Job[] }> {
  const chain: Link[] = [];
  const apart: Job[] = [];
  for (const job of jobs) {
    const staged = await stage(job, chain.at(-1)?.staged.move.to ?? from, "mechanical");
    if (staged.kind === "staged") chain.push({ job, staged });
    else apart.push(job);
  }
  return { chain, apart };
}

async function bisect(jobs: readonly Job[], apart: readonly Job[]): Promise<void> {
  const middle = Math.ceil(jobs.length / 2);
  await landTogether(jobs.slice(0, middle), 1);
  await landTogether(jobs.slice(middle), 1);
  await landOneByOne(apart);
}

/** Those whose claims still stand; the others must not become part of the target. */
async function recordIntents(chain: readonly Link[], gateTree: string): Promise<Job[]> {
  const stands: Job[] = [];
  for (const { job, staged } of chain) {
    const { from, to } = staged.move;
    const { target, strategy } = job;
    const wanted = { target, from, to, tree: staged.tree, strategy, tier: staged.tier, gateTree };
    if (await recordIntent(job, wanted)) stands.push(job);
  }
  return stands;
}

function toLandedEnd({ job, staged }: Link, receipts: Extract<LandingEnd, { kind: "landed" }>["receipts"]): LandingEnd {
  const { from, to } = staged.move;
  const { target, strategy } = job;
  return { kind: "landed", target, from, to, strategy, already: false, receipts, tier: staged.tier };
}

async function landOneByOne(jobs: readonly Job[]): Promise<void> {
  for (const { parts, order } of jobs) await landClaim(parts, order);
}

/**
 * Landing one checked claim: merge in the object database, look at what would change, gate the merged tree, write down
 * the intention, move the branch, and close node, assignment and claim in one transaction. Killed anywhere, it is
 * simply done again: the merge makes the same commit, a branch that was moved is recognised by what was written down,
 * and nothing of the user's is touched before the last step, which is all or nothing.
 */
import type { Config } from "#config/schema.ts";
import type { Attempt } from "#domain/attempt.ts";
import { isLiving } from "#domain/attempt.ts";
import { verdictOf } from "#domain/check.ts";
import type { Claim, LandingStrategy } from "#domain/claim.ts";
import type { AfterLanding, LandingEnd, LandingLimits, LandingMode } from "#domain/landing.ts";
import { afterLanding, mayLand, overreach, prepareLanding, waitForReview } from "#domain/landing.ts";
import { landingMessage } from "#domain/landing-message.ts";
import type { ClaimSeen } from "#domain/report-done.ts";
import { OverseerError } from "#errors.ts";
import {
  advanceBranch,
  type BranchMove,
  holds,
  type MergeResult,
  mergeInto,
  mergeInWorktree,
  obstacleTo,
  sameAttributes,
  writeCommit,
} from "#git/landing.ts";
import { branchTip } from "#git/repository.ts";
import { pokeRunner } from "./attempt-files.ts";
import { checksOf, judgeCommit, returnPolicy, withCheckWorktree } from "./check.ts";
import { decideClaim, type NodePlace, readClaim } from "./claim-store.ts";
import { landingBranch, withWriter } from "./landing-branch.ts";
import { inLandingTurn } from "./landing-turn.ts";
import type { ActParts } from "./parts.ts";

export interface LandOrder extends NodePlace {
  /** Whether a person accepts each landing; what the configuration says unless told otherwise. */
  readonly mode?: LandingMode;
  readonly strategy?: LandingStrategy;
}

export type LandOutcome = AfterLanding | { readonly kind: "nothing"; readonly why: string };

/** How often a target that moves under our hands is merged anew before somebody else gets a turn. */
const MOST_ROUNDS = 5;

/**
 * Lands what is claimed for a node if it may land, and records what follows. Repeatable at any point. `waiting` and
 * `again` are to be tried later. Throws only when the machine or the repository does not let us.
 */
export async function landClaim(parts: ActParts, order: LandOrder): Promise<LandOutcome> {
  const seen = await readClaim(parts, order);
  if (!seen) return { kind: "nothing", why: "no-node" };
  const config = await parts.config();
  const may = mayLand(seen.node, order.mode ?? config.landing.mode ?? "review");
  if (!may.ok) {
    const { claim } = seen.node;
    if (may.why !== "review" || !claim) return { kind: "nothing", why: may.why };
    await decideClaim(parts, order, claim, ({ node }, moment) => waitForReview(node, moment));
    return { kind: "waiting" };
  }
  const strategy = order.strategy ?? config.landing.strategy ?? "merge";
  const target = await landingBranch(withWriter(parts));
  const job: Job = { parts, config, order, seen, claim: may.claim, target, strategy };
  const end = await landInRounds(job);
  if (end === undefined) return { kind: "stale" };
  const policy = returnPolicy(parts, config);
  const { commit } = may.claim;
  const outcome = await decideClaim(parts, order, may.claim, (now, moment) =>
    afterLanding(now, commit, end, policy, moment),
  );
  if (outcome.kind !== "waiting" && seen.attempt && isLiving(seen.attempt)) {
    await pokeRunner(parts, seen.attempt.attempt);
  }
  return outcome;
}

/** One claim on its way into one branch. */
interface Job {
  readonly parts: ActParts;
  readonly config: Config;
  readonly order: NodePlace;
  readonly seen: ClaimSeen;
  readonly claim: Claim;
  readonly target: string;
  readonly strategy: LandingStrategy;
}

async function landInRounds(job: Job): Promise<LandingEnd | undefined> {
  const before = await landedBefore(job);
  if (before) return before;
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    // Read anew each time: what the last gate found may hold for the next tree too.
    const seen = round === 1 ? job.seen : await readClaim(job.parts, job.order);
    if (seen?.node.claim?.commit !== job.claim.commit) return undefined;
    const end = await landOnce({ ...job, seen });
    if (end?.kind !== "moved") return end;
  }
  return { kind: "moved", target: job.target };
}

/** What an earlier, interrupted try has moved already is not moved again. */
async function landedBefore({ parts, claim }: Job): Promise<LandingEnd | undefined> {
  const { prepared } = claim;
  if (!prepared || !(await holds(parts.git, parts.root.gitCommonDir, prepared.target, prepared.to))) return undefined;
  const { target, from, to, strategy } = prepared;
  const receipts = claim.receipts.filter(({ tree, verdict }) => tree === prepared.tree && verdict === "pass");
  return { kind: "landed", target, from, to, strategy, already: false, receipts };
}

/** Undefined when the claim went away meanwhile. */
async function landOnce(job: Job): Promise<LandingEnd | undefined> {
  const { parts, claim, target, strategy } = job;
  const repository = parts.root.gitCommonDir;
  const from = await branchTip(parts.git, repository, target);
  if (from === undefined) throw targetGone(target);
  const merged = await merge(parts, from, claim.commit);
  if (merged.kind !== "clean") return { ...merged, target };
  const { tree, changes } = merged;
  if (changes.length === 0) {
    return { kind: "landed", target, from, to: from, strategy, already: true, receipts: [] };
  }
  const over =
    claim.approvedBy === null
      ? overreach(
          changes.map(({ path }) => path),
          limitsFor(job.config, job.seen.attempt),
        )
      : undefined;
  if (over) return { kind: "overreach", target, over };
  const to = await writeCommit(parts.git, repository, {
    tree,
    parents: strategy === "merge" ? [from, claim.commit] : [from],
    message: landingMessage(job.seen.node, claim, strategy, job.config.landing.stripAttribution),
    at: claim.claimedAt,
  });
  const move: BranchMove = { branch: target, from, to, changes };
  const receipts = await gate(job, move);
  if (receipts === undefined || !Array.isArray(receipts)) return receipts;
  if (receipts.length > 0 && verdictOf(receipts) !== "pass") return { kind: "gate", target, receipts };
  if (!(await prepared(job, move, tree))) return undefined;
  const moved = await inLandingTurn(parts, () => advanceBranch(parts.git, repository, move));
  if (moved.kind === "lost") return { kind: "moved", target };
  if (moved.kind === "dirty") return { ...moved, target };
  sameAttributes(parts.git, from, to, changes);
  return { kind: "landed", target, from, to, strategy, already: false, receipts };
}

async function merge(parts: ActParts, target: string, commit: string): Promise<MergeResult> {
  const repository = parts.root.gitCommonDir;
  if ((await parts.git.git.probe()).mergeTreeWriteTree) return mergeInto(parts.git, repository, { target, commit });
  return withCheckWorktree(parts, ({ path }) => mergeInWorktree(parts.git, repository, { target, commit, path }));
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

async function prepared(job: Job, move: BranchMove, tree: string): Promise<boolean> {
  const { parts, order, claim, target, strategy } = job;
  const { from, to } = move;
  try {
    await decideClaim(parts, order, claim, ({ node }, moment) =>
      prepareLanding(node, claim.commit, { target, from, to, tree, strategy }, moment),
    );
    return true;
  } catch (error) {
    if (error instanceof OverseerError && error.code === "CLAIM_GONE") return false;
    throw error;
  }
}

/** The scope of the attempt that made the claim, and the files of all checks. */
export function limitsFor(config: Pick<Config, "checks">, attempt: Attempt | undefined): LandingLimits {
  const guarded = Object.values(config.checks).flatMap((check) => check.protected);
  return { scope: attempt?.scope ?? null, protected: guarded };
}

function targetGone(target: string): OverseerError {
  const hint = "Make the branch again, or set repo.targetBranch in .overseer/config.yaml.";
  return new OverseerError("not-found", "BRANCH_MISSING", `There is no branch "${target}" to land on.`, hint);
}

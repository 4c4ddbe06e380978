/** Landing by a person's hand: what is claimed for a node is checked if it has not been, and lands with their consent. */
import { runChecks } from "#act/checks/check.ts";
import { decideClaim, type NodeRef } from "#act/checks/claim-store.ts";
import type { LandOutcome } from "#act/landing/candidate.ts";
import { landClaim } from "#act/landing/land.ts";
import { type ReapOutcome, reap } from "#act/landing/reap.ts";
import { pushTarget } from "#act/landing/remote.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { refuse } from "#domain/core/refusal.ts";
import { approveLanding, refuseOtherCommit } from "#domain/landing/may-land.ts";
import { withdrawOpenQuestions } from "#domain/landing/review.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { Claim } from "#domain/model/claim.ts";
import { mergeIdOf } from "#domain/model/merge.ts";
import { nodeKey, type WorkNode } from "#domain/model/work.ts";
import { OverseerError } from "#errors.ts";
import { openQuestions } from "#store/assignments.ts";
import { mergeById } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";
import { assertNotInDoubt } from "./halted.ts";
import { resolveNode } from "./names.ts";
import type { NodeWords } from "./work.ts";
import type { World } from "./world.ts";
import { assertAllowed, assertFits } from "./world.ts";

export interface Landed {
  readonly node: string;
  readonly outcome: LandOutcome["kind"];
  /** Why it has not landed, or what landed. */
  readonly detail: string | null;
  readonly agent: ReapOutcome["kind"] | null;
  /** What the target has become by it; null where nothing has landed, or nothing had to. */
  readonly commit: string | null;
  readonly target: string | null;
  /** What was reported done, and by whom; null for a branch that no agent claims. */
  readonly claimed: { readonly commit: string; readonly agent: string } | null;
}

/**
 * Throws NOTHING_TO_LAND where nothing is claimed; everything else is told as an outcome, and nothing is lost. `seen` is
 * the claim that the caller has found: what the daemon lands between any two of our steps has landed all the same.
 */
export async function land(world: World, words: NodeWords, reason?: string, seen?: Claim): Promise<Landed> {
  await assertFits(world, { reason });
  await assertNotInDoubt(world);
  const store = await world.writer();
  const place = await resolveNode(store, words.node, words.goal);
  const label = nodeKey(place.goalId, place.nodeId);
  const read = async () => (await store.read({ node: nodeById(place.goalId, place.nodeId) })).node;
  const found = await read();
  if (found) assertAllowed(refuseOtherCommit(found, seen?.commit));
  const claim = found?.claim ?? seen;
  if (!claim) {
    const hint = `Run 'overseer why ${label}'.`;
    assertAllowed(refuse("conflict", "NOTHING_TO_LAND", `Nothing is reported done on ${label}.`, hint));
    throw new Error("unreachable");
  }
  await standOnSettings(world); // before anything is approved
  const tried = await landWithApproval(world, place, claim, reason);
  const { after, merge } = await store.read({
    after: nodeById(place.goalId, place.nodeId),
    merge: mergeById(mergeIdOf(claim)),
  });
  const isDone = merge?.status === "landed" || (claim.branch === null && after?.status === "done");
  const outcome = isDone ? "done" : nameOutcome(tried, after);
  const said =
    after?.claim?.waiting?.detail ?? after?.blockedReason?.detail ?? after?.statusReason ?? describeNothing(tried);
  const detail = (isDone ? await notPushed(world) : null) ?? said;
  const agent = isDone ? (await reap(world, claim.attempt)).kind : null;
  const landed = merge?.status === "landed" ? merge : undefined;
  const claimed = { commit: claim.commit, agent: attemptLabel(claim) };
  return { node: label, outcome, detail, agent, commit: landed?.to ?? null, target: landed?.target ?? null, claimed };
}

/** Where a check did not hold there is nothing left to land: what became of the work says more. */
function nameOutcome(tried: LandOutcome, after: WorkNode | undefined): LandOutcome["kind"] {
  if (tried.kind !== "nothing" || !after) return tried.kind;
  if (after.status === "blocked") return "blocked";
  if (after.claim) return "nothing";
  return after.status === "in_progress" ? "returned" : after.status === "queued" ? "requeued" : "nothing";
}

const NOTHING: Readonly<Record<string, string>> = {
  unchecked: "its checks have not ended yet, or run in another process",
  "nothing-to-land": "it has changed nothing",
  "no-claim": "nothing is reported done any more",
};

function describeNothing(tried: LandOutcome): string | null {
  return tried.kind === "nothing" ? (NOTHING[tried.why] ?? null) : null;
}

async function landWithApproval(
  world: World,
  place: NodeRef,
  claim: Claim,
  reason: string | undefined,
): Promise<LandOutcome> {
  const store = await world.writer();
  const { open } = await store.read({ open: openQuestions() });
  const read = async () => (await store.read({ node: nodeById(place.goalId, place.nodeId) })).node;
  if ((await read())?.claim?.verdict === null) await runChecks(world, place);
  if ((await read())?.claim?.verdict) {
    try {
      await decideClaim(world, place, claim, ({ node }, { now }) => {
        const moment = { now, actor: world.actor };
        const other = refuseOtherCommit(node, claim.commit);
        if (other) return other;
        return withdrawOpenQuestions(approveLanding(node, reason ?? null, moment), node, open, moment);
      });
    } catch (error) {
      // It went away in this moment; whether by landing is looked up by the caller.
      if (!(error instanceof OverseerError) || error.code !== "NOTHING_TO_LAND") throw error;
      return { kind: "stale" };
    }
  }
  return landClaim(world, place);
}

/** A landing by hand is pushed by the same hand; what the remote does not take stays landed, and is said. */
export async function notPushed(world: World): Promise<string | null> {
  const problem = await pushTarget(world, await landingBranch(world));
  return problem === null ? null : `it has landed here and is not pushed yet: ${problem}`;
}

/** Landing by a person's hand: what is claimed for a node is checked if it has not been, and lands with their consent. */
import { runChecks } from "#act/check.ts";
import { decideClaim } from "#act/claim-store.ts";
import { type LandOutcome, landClaim } from "#act/land.ts";
import { landingBranch } from "#act/landing-branch.ts";
import { enqueue } from "#act/merge-queue.ts";
import { type ReapOutcome, reap } from "#act/reap.ts";
import { pushTarget } from "#act/remote.ts";
import { standOnSettings } from "#act/stand-on-settings.ts";
import { approveLanding } from "#domain/landing.ts";
import { refuse } from "#domain/refusal.ts";
import { decidedByHand } from "#domain/review.ts";
import { nodeKey } from "#domain/work.ts";
import { openQuestions } from "#store/assignments.ts";
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
}

/** Throws NOTHING_TO_LAND where nothing is claimed; everything else is told as an outcome, and nothing is lost. */
export async function land(world: World, words: NodeWords, reason?: string): Promise<Landed> {
  await assertFits(world, { reason });
  await assertNotInDoubt(world);
  const store = await world.writer();
  const place = await resolveNode(store, words.node, words.goal);
  const label = nodeKey(place.goalId, place.nodeId);
  const read = async () => (await store.read({ node: nodeById(place.goalId, place.nodeId) })).node;
  const before = await read();
  const claim = before?.claim;
  if (!claim) {
    const hint = `Run 'overseer why ${label}'.`;
    assertAllowed(refuse("conflict", "NOTHING_TO_LAND", `Nothing is reported done for ${label}.`, hint));
    throw new Error("unreachable");
  }
  await standOnSettings(world); // before anything is approved
  if (claim.verdict === null) await runChecks(world, place);
  if ((await read())?.claim?.verdict) {
    const { open } = await store.read({ open: openQuestions() });
    await decideClaim(world, place, claim, ({ node }, { now }) => {
      const moment = { now, actor: world.actor };
      return decidedByHand(approveLanding(node, reason ?? null, moment), node, open, moment);
    });
  }
  const approved = await read();
  if (approved?.claim?.approvedBy) await enqueue(world, [approved], await landingBranch(world));
  const outcome = await landClaim(world, place);
  const after = await read();
  const said = after?.claim?.waiting?.detail ?? after?.blockedReason?.detail ?? after?.statusReason ?? null;
  const detail = (outcome.kind === "done" ? await notPushed(world) : null) ?? said;
  const agent = outcome.kind === "done" ? (await reap(world, claim.attempt)).kind : null;
  return { node: label, outcome: outcome.kind, detail, agent };
}

/** A landing by hand is pushed by the same hand; what the remote does not take stays landed, and is said. */
export async function notPushed(world: World): Promise<string | null> {
  const problem = await pushTarget(world, await landingBranch(world));
  return problem === null ? null : `it has landed here and is not pushed yet: ${problem}`;
}

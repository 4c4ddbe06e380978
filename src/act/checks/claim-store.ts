/** Reading a claim with everything around it, and committing a rule about it, settled; shared by check and land. */

import { wakeRunnersFor } from "#act/attempt-files.ts";
import type { ActParts } from "#act/parts.ts";
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import type { ClaimSeen } from "#domain/landing/report-done.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Merge } from "#domain/model/merge.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { orThrow } from "#errors.ts";
import { assignmentById, openQuestions } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { mergeById } from "#store/merges.ts";
import { nodesOfGoal } from "#store/work.ts";

export interface NodeRef {
  readonly goalId: string;
  readonly nodeId: string;
}

/** Overseer itself decides here, whoever asked for it. */
export function momentNow(parts: Pick<ActParts, "clock">): Moment {
  return { now: parts.clock.now(), actor: "overseer" };
}

/** The node with its claim and whoever made it; undefined when there is no such node. */
export async function readClaim(parts: ActParts, place: NodeRef): Promise<ClaimSeen | undefined> {
  const store = await parts.writer();
  const { nodes } = await store.read({ nodes: nodesOfGoal(place.goalId) });
  const node = nodes.find((one) => one.workNodeId === place.nodeId);
  if (!node) return undefined;
  if (!node.claim) return { node, nodes, attempt: undefined, assignment: undefined };
  const reads = { attempt: attemptByNumber(node.claim.attempt), assignment: assignmentById(node.claim.assignmentId) };
  return { node, nodes, ...(await store.read(reads)) };
}

/**
 * Commits what a rule makes of the claim as it stands in that very transaction; whoever it speaks to hears it at once.
 * Throws its refusal.
 */
export async function decideClaim<T>(
  parts: ActParts,
  place: NodeRef,
  holder: { readonly attempt: number; readonly assignmentId: string },
  rule: (seen: ClaimSeen & { readonly merge: Merge | undefined }, moment: Moment) => Decision<T>,
  /** Its place in the queue, for rules that end it. */
  mergeId = "",
): Promise<T> {
  const moment = momentNow(parts);
  const outcome = await (await parts.writer()).commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(place.goalId),
      attempt: attemptByNumber(holder.attempt),
      assignment: assignmentById(holder.assignmentId),
      merge: mergeById(mergeId),
      questions: openQuestions(),
    },
    decide: ({ goal, attempt, assignment, merge, questions, ...tree }): Decision<T> => {
      const { nodes } = tree;
      const node = nodes.find((one) => one.workNodeId === place.nodeId);
      if (!goal || !node) return refuse("not-found", "NODE_UNKNOWN", `There is no ${place.nodeId}.`, "Check the id.");
      const decision = rule({ node, nodes, attempt, assignment, merge }, moment);
      // Most steps of a claim change no status; only what moves a node can have consequences.
      const moves = decision.ok && decision.events.some(({ type }) => type.startsWith("work."));
      if (!moves) return decision;
      // Its assignment and its agent are the rule's own; what was asked about it needs no answer any more.
      const settled = settleDecision(goalTreeOf(goal, tree), decision, moment);
      return closeDependents(settled, { assignments: [], attempts: [], questions }, moment);
    },
  });
  if (outcome.ok) await wakeRunnersFor(parts, outcome.events);
  return orThrow(outcome);
}

/** Notes something about a claim; false, with nothing written, when that claim does not stand any more. */
export async function noteClaim(
  parts: ActParts,
  seen: ClaimSeen,
  commit: string,
  events: (seen: ClaimSeen, moment: Moment) => Extract<Decision<never>, { ok: true }>["events"],
): Promise<boolean> {
  const { node } = seen;
  const { claim } = node;
  if (!claim) return false;
  return decideClaim(
    parts,
    { goalId: node.goalId, nodeId: node.workNodeId },
    claim,
    (now, moment): Decision<boolean> => {
      const stands = now.node.claim?.commit === commit && now.node.claim.attempt === claim.attempt;
      return stands ? accept(events(now, moment), true) : accept([], false);
    },
  );
}

/**
 * The rung between resending and another agent (PLAN-3): where its role allows a stronger model, a fresh agent tries with
 * that one, once for each node; then a model is asked how the work can be split. It is never waited for: what cannot be
 * asked is passed over at once, what does not answer in time a little later, each with its reason. What the pieces are and
 * whether they hold is domain/plans/split-node.ts.
 */
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { subject } from "#domain/model/assignment.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { nodeKey } from "#domain/model/work.ts";
import { reasonAgainstSplit } from "#domain/plans/split-node.ts";
import { NO_STEPS, type Outbox, recordEvent, type TickStep } from "./draft.ts";
import type { Scene, WorkNodeRef } from "./scene.ts";
import { about, type Stuck, stepOf } from "./stuck.ts";

export type ReplanStep =
  | { readonly kind: "taken"; readonly steps: readonly TickStep[] }
  /** It is another rung's turn, for this recovery. */
  | { readonly kind: "passed"; readonly steps: readonly TickStep[]; readonly recovery: Recovery };

export function replan(scene: Scene, outbox: Outbox, stuck: Stuck): ReplanStep {
  const stronger = strengthen(scene, outbox, stuck);
  if (stronger) return { kind: "taken", steps: stronger };
  const { assignment, recovery, cause, seen } = stuck;
  const reason = whyNotSplit(scene, recovery);
  if (reason !== undefined) return pass(stuck, reason);
  if (outbox.hasForNode("replan", recovery)) return pass(stuck, "no model has answered in time");
  return {
    kind: "taken",
    steps: [
      recordEvent("assignment.replanning", about(stuck), cause, { number: recovery.steps.replan + 1, cause }),
      {
        // Not for the attempt: nothing is on its way to the agent.
        ...subject(assignment),
        actionId: `replan:${nodeKey(recovery.goalId, recovery.workNodeId)}:${recovery.total}`,
        kind: "replan",
        because: cause,
        notBefore: scene.now,
        payload: { from: seen.attempt.attempt, cause },
      },
    ],
  };
}

/** The ladder stands still while a model thinks about the node, and no longer than it may. */
export function isReplanAwaited(scene: Scene, place: WorkNodeRef): boolean {
  const asked = scene.actions.find(
    ({ kind, goalId, workNodeId }) => kind === "replan" && goalId === place.goalId && workNodeId === place.workNodeId,
  );
  return asked !== undefined && !hasPassed(asked.decidedAt, scene.limits.planner.splitWithinMs, scene.now);
}

/** Why no model is asked to split its work, as a clause; undefined where one is. */
export function whyNotSplit(scene: Scene, place: WorkNodeRef): string | undefined {
  const { off, replansPerNode } = scene.limits.planner;
  if (off !== null) return off;
  const goal = scene.goal(place.goalId);
  const node = scene.node(place);
  if (!goal || !node) return "it is in no plan";
  const siblings = scene.nodes.filter((one) => one.goalId === place.goalId);
  return reasonAgainstSplit(goal, node, siblings, replansPerNode);
}

function pass(stuck: Stuck, reason: string): ReplanStep {
  const { assignment, recovery } = stuck;
  return {
    kind: "passed",
    steps: [recordEvent("assignment.replan_skipped", subject(assignment), "cannot-be-split", { reason })],
    recovery: { ...recovery, steps: { ...recovery.steps, replan: Number.MAX_SAFE_INTEGER } },
  };
}

function strengthen(scene: Scene, outbox: Outbox, stuck: Stuck): readonly TickStep[] | undefined {
  const { seen, recovery, cause } = stuck;
  const { capability, model: before, attempt } = seen.attempt;
  const model = scene.limits.strongerModels[capability];
  if (model === undefined || model === before || recovery.strengthened) return undefined;
  if (outbox.givesOut(recovery)) return NO_STEPS;
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  const step = { ...stepOf(scene, stuck, recovery.steps.replan), model };
  return [
    recordEvent("assignment.strengthened", about(stuck), cause, step),
    {
      ...about(stuck),
      actionId: `reassign:${node}:${recovery.dispatches + 1}`,
      kind: "reassign",
      because: cause,
      notBefore: scene.now,
      payload: {
        dispatchId: deriveId("D_", node, recovery.dispatches + 1),
        from: attempt,
        reason: `stuck: ${cause}`,
        model,
      },
    },
  ];
}

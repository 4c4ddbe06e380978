/** A goal and its first plan in one decision: a plan that is refused leaves no goal behind. */
import type { Moment } from "#domain/core/actor.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal, NewGoal } from "#domain/model/goal.ts";
import { applyToGoal, createGoal } from "#domain/model/goal.ts";
import type { AcceptedPlan, PlanLimits, PlannedNode, PlanProvenance } from "./plan.ts";
import { acceptPlan } from "./plan.ts";
import type { GoalTree } from "./settle.ts";
import { advance, settleDecision } from "./settle.ts";

export interface FirstPlan {
  readonly phases: readonly PlannedNode[];
  readonly limits: PlanLimits;
  readonly provenance: PlanProvenance;
}

export interface PlannedGoal {
  readonly accepted: AcceptedPlan;
  /** The goal as it will be once the events are written. */
  readonly tree: GoalTree;
}

export function createPlannedGoal(
  taken: Goal | undefined,
  wanted: NewGoal,
  plan: FirstPlan,
  moment: Moment,
): Decision<PlannedGoal> {
  const made = createGoal(taken, wanted, moment);
  if (!made.ok) return made;
  const goal = made.events.reduce<Goal | undefined>(
    (known, event) => applyToGoal(known, { ...event, seq: 0, at: moment.now, v: 1 } as EventOf),
    undefined,
  );
  if (!goal) throw new Error("creating a goal made none");
  const start: GoalTree = { goal, nodes: [] };
  const { phases, limits, provenance } = plan;
  const planned = settleDecision(start, acceptPlan(goal, [], phases, limits, provenance, moment), moment);
  if (!planned.ok) return planned;
  const tree = planned.events.reduce((known, event) => advance(known, event, moment.now), start);
  return accept([...made.events, ...planned.events], { accepted: planned.value, tree });
}

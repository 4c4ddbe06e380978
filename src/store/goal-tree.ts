/** A goal with everything that settling a decision about it needs, read together; see domain/plans/settle.ts. */
import type { Assignment } from "#domain/model/assignment.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { GoalTree } from "#domain/plans/settle.ts";
import { crystallizationsOfGoal, liveAssignmentsOfGoal } from "./assignments.ts";
import { goalById } from "./goals.ts";
import { nodesOfGoal } from "./work.ts";

export function goalTreeReads(goalId: string) {
  return {
    goal: goalById(goalId),
    nodes: nodesOfGoal(goalId),
    assignments: liveAssignmentsOfGoal(goalId),
    crystallizations: crystallizationsOfGoal(goalId),
  };
}

export interface ReadTree {
  readonly nodes: readonly WorkNode[];
  readonly assignments: readonly Assignment[];
  readonly crystallizations: readonly Crystallization[];
}

/** The goal itself is handed in, because only the caller knows what to say when there is none. */
export function goalTreeOf(goal: Goal, { nodes, assignments, crystallizations }: ReadTree): GoalTree {
  return { goal, nodes, crystallizations, held: new Set(assignments.map((one) => one.workNodeId)) };
}

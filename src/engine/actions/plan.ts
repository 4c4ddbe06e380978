/** Asks a model for the plan of a goal, and writes down what came of it. */
import type { ActParts } from "#act/parts.ts";
import { planGoal } from "#act/planning/plan-goal.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { withoutSubject } from "./subject.ts";

export default async function planAction(action: Action<"plan">, parts: ActParts): Promise<ActionOutcome> {
  if (action.goalId === null) return withoutSubject(action);
  return planGoal(parts, action.goalId, action.payload.number);
}

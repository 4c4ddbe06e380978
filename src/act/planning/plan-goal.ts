/** Asks a model for the plan of a goal and proposes what it answers. */
import type { ActParts } from "#act/parts.ts";
import type { ActionOutcome } from "#domain/model/action.ts";

export async function planGoal(_parts: ActParts, goalId: string, number: number): Promise<ActionOutcome> {
  return { ok: false, problem: `nobody plans ${goalId} yet (asking ${number})`, retry: "backoff" };
}

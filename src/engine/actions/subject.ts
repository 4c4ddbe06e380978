/** What an action of the landing is about. */
import type { NodeRef } from "#act/checks/claim-store.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";

export function nodeRefOf({ goalId, workNodeId }: Action): NodeRef | undefined {
  return goalId === null || workNodeId === null ? undefined : { goalId, nodeId: workNodeId };
}

export function withoutSubject({ kind }: Action): ActionOutcome {
  return { ok: false, problem: `the action ${kind} does not say for whom`, retry: "never" };
}

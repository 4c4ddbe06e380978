/** Asks a model what is the matter with an agent that is stuck, or of what one has died; whatever comes of it, the action is done then. */
import type { ActParts } from "#act/parts.ts";
import { diagnoseStall } from "#act/planning/diagnose-stall.ts";
import { triageFailure } from "#act/planning/triage-failure.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { nodeRefOf, withoutSubject } from "./subject.ts";

export default async function diagnose(action: Action<"diagnose">, parts: ActParts): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  if (!place) return withoutSubject(action);
  const { from, cause, failure } = action.payload;
  const outcome = await (failure ? triageFailure : diagnoseStall)(parts, { ...place, from, cause });
  if (outcome.kind === "over") return { ok: true, result: outcome.detail };
  return { ok: false, problem: outcome.detail, retry: { afterMs: outcome.until - parts.clock.now() } };
}

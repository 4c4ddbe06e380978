/** Runs the checks on what was reported done. */
import { runChecks } from "#act/checks/check.ts";
import type { ActParts } from "#act/parts.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { OverseerError } from "#errors.ts";
import { nodeRefOf, withoutSubject } from "./subject.ts";

const PLACES_BUSY_MS = 10_000;

export default async function checkAction(action: Action<"check">, parts: ActParts): Promise<ActionOutcome> {
  const place = nodeRefOf(action);
  if (!place) return withoutSubject(action);
  try {
    return { ok: true, result: (await runChecks(parts, place)).kind };
  } catch (error) {
    if (!(error instanceof OverseerError) || error.code !== "CHECKS_BUSY") throw error;
    return { ok: false, problem: error.message, retry: { afterMs: PLACES_BUSY_MS } };
  }
}

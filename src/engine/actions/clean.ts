/** The agent of that attempt is stopped and its worktree goes; what must not be lost stays. */
import { reap } from "#act/landing/reap.ts";
import type { ActParts } from "#act/parts.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { withoutSubject } from "./subject.ts";

const STOPPING_MS = 2_000;

export default async function reapAction(action: Action<"clean">, parts: ActParts): Promise<ActionOutcome> {
  if (action.attempt === null) return withoutSubject(action);
  const outcome = await reap(parts, action.attempt);
  if (outcome.kind === "waiting") return { ok: false, problem: outcome.because, retry: { afterMs: STOPPING_MS } };
  return { ok: true, result: outcome.kind === "kept" ? `it stays: ${outcome.because}` : outcome.kind };
}

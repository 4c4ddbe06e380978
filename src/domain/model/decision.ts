/**
 * The domain cannot fail; it answers. A rule that may say no returns a Decision: either the events that make it so
 * and a value for the caller, or a refusal that says why and what to do next.
 */
import type { Refused } from "#domain/core/refusal.ts";
import type { NewEvent } from "./event.ts";

export type Decision<T> = { readonly ok: true; readonly events: readonly NewEvent[]; readonly value: T } | Refused;

export function accept<T>(events: readonly NewEvent[], value: T): Decision<T> {
  return { ok: true, events, value };
}

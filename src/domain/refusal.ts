/**
 * The domain cannot fail; it answers. A rule that may say no returns a Decision: either the events that make it so
 * and a value for the caller, or a refusal that says why and what to do next. Doors turn a refusal into an error.
 */
import type { NewEvent } from "./event.ts";

export interface Refusal {
  readonly kind: "usage" | "not-found" | "conflict";
  /** Stable, SCREAMING_SNAKE, for scripts. */
  readonly code: string;
  readonly message: string;
  /** The next step the reader can take. */
  readonly hint: string;
}

export type Decision<T> =
  | { readonly ok: true; readonly events: readonly NewEvent[]; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal };

export function accept<T>(events: readonly NewEvent[], value: T): Decision<T> {
  return { ok: true, events, value };
}

export function refuse(kind: Refusal["kind"], code: string, message: string, hint: string): Decision<never> {
  return { ok: false, refusal: { kind, code, message, hint } };
}

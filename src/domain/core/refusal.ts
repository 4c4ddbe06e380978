/** What a rule answers when it says no: why, and what to do next. Doors turn it into an error. */
export interface Refusal {
  readonly kind: "usage" | "not-found" | "conflict";
  /** Stable, SCREAMING_SNAKE, for scripts. */
  readonly code: string;
  readonly message: string;
  /** The next step the reader can take. */
  readonly hint: string;
}

export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}

export function refuse(kind: Refusal["kind"], code: string, message: string, hint: string): Refused {
  return { ok: false, refusal: { kind, code, message, hint } };
}

/**
 * What goes wrong, said once: a kind that picks the exit code, a stable code for scripts, one sentence for people
 * and the next step. Everything the product refuses on purpose is an OverseerError; anything else that reaches the
 * door is our own fault and leaves with exit code 1.
 */

export type ErrorKind =
  | "internal" /** our own fault */
  | "usage" /** the words typed are wrong */
  | "not-found" /** the thing named does not exist */
  | "conflict" /** refused: the present state does not allow it */
  | "environment" /** the machine, the disk, another program */
  | "config" /** .overseer/config.yaml and its neighbours */
  | "unconfirmed"; /** done, but its arrival could not be proven */

export const EXIT_CODES: Readonly<Record<ErrorKind, number>> = {
  internal: 1,
  usage: 2,
  "not-found": 3,
  conflict: 4,
  environment: 5,
  config: 6,
  unconfirmed: 7,
};

export class OverseerError extends Error {
  override readonly name = "OverseerError";

  constructor(
    readonly kind: ErrorKind,
    /** Stable, SCREAMING_SNAKE, for scripts. */
    readonly code: string,
    message: string,
    /** What to do next; always an action the reader can take. */
    readonly hint: string,
    options?: { cause?: unknown; details?: Readonly<Record<string, unknown>> },
  ) {
    super(message, options);
    this.details = options?.details;
  }

  /** For scripts, beside the sentence: what a refusal is about, under names of its own. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** By its shape, not its class: the fast bundle may meet an error of a module that was loaded beside it. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && "name" in value && value.name === "OverseerError";
  }

  get exitCode(): number {
    return EXIT_CODES[this.kind];
  }
}

/** What a rule or a commit answers: its value, or why not (domain/core/refusal.ts). */
type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly refusal: Pick<OverseerError, "kind" | "code" | "message" | "hint">;
    };

/** The value of a decision or a commit; a refusal becomes the error that doors know how to say. */
export function orThrow<T>(outcome: Answered<T>): T {
  if (outcome.ok) return outcome.value;
  const { kind, code, message, hint } = outcome.refusal;
  throw new OverseerError(kind, code, message, hint);
}

/** The message of anything that was thrown, for places that must show a foreign error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error (ENOENT, ENOSPC …), where there is one. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** What a disk says when it cannot do what was asked, said again so that a person knows the next step. */
export function diskError(error: unknown): OverseerError | undefined {
  const say = (code: string, message: string, hint: string) =>
    new OverseerError("environment", code, message, hint, { cause: error });
  switch (systemCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return say("DISK_FULL", "The disk is full; nothing was written.", "Free some space and run the command again.");
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return say(
        "NOT_WRITABLE",
        `The disk refused: ${messageOf(error)}.`,
        "Check the permissions of that path and whether the disk is mounted read-only.",
      );
    default:
      return undefined;
  }
}

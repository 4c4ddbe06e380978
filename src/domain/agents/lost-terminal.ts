/**
 * When an agent that outlived its terminal is given another one: once its loss was seen for a while (an attempt that is
 * ending loses its terminal first), and ever later where it is lost again and again. Nothing here concerns the agent's life:
 * a terminal is where people look on.
 */
import { backoffMs } from "#domain/core/backoff.ts";

export interface LostTerminal {
  /** Since when it is missing; null while it is there. */
  readonly lostAt: number | null;
  /** How often one was given that did not last. */
  readonly given: number;
  readonly givenAt: number | null;
}

/** What one look says. */
export const NEVER_LOST: LostTerminal = { lostAt: null, given: 0, givenAt: null };

const SURE_AFTER_MS = 3_000;
/** After the first, the next is given so much later, twice as much each time. */
const AGAIN = { baseMs: 10_000, maxMs: 10 * 60_000 };
/** One that was there for so long has lasted. */
const LASTED_MS = 10 * 60_000;

/** What is known after a look at it. Times are of a clock that only goes forward. */
export function noteLook(before: LostTerminal, isThere: boolean, now: number): LostTerminal {
  if (!isThere) return { ...before, lostAt: before.lostAt ?? now };
  const lasted = before.givenAt !== null && now - before.givenAt >= LASTED_MS;
  return lasted ? NEVER_LOST : { ...before, lostAt: null };
}

export function isTerminalDue({ lostAt, given, givenAt }: LostTerminal, now: number): boolean {
  if (lostAt === null || now - lostAt < SURE_AFTER_MS) return false;
  return givenAt === null || now - givenAt >= backoffMs(given, AGAIN);
}

/** One was given, or could not be. */
export function noteGiven(before: LostTerminal, now: number): LostTerminal {
  return { lostAt: null, given: before.given + 1, givenAt: now };
}

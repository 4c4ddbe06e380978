/**
 * What a runner does next with its agent, decided from what the store says and what the process does. One thing at a
 * time: the runner does it, looks again, and asks again, so a stop never queues behind a message.
 */

import { overdue } from "#domain/inbox/mailing.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import { isWorthTurn } from "#domain/model/message.ts";

/** The CLI's process as the runner sees it. */
export interface LegState {
  readonly alive: boolean;
  readonly inTurn: boolean;
  readonly turnSince: number;
  /** When the running turn was last interrupted; null when it was not. */
  readonly interruptedAt: number | null;
  readonly idleSince: number;
  readonly midTurn: boolean;
  /** It is on its own screen: its hooks hand it what waits, and the runner only sees to it that there is a turn. */
  readonly byHooks: boolean;
  /** When it was last told, idle, that something waits for it; null once it has begun a turn. */
  readonly wokenAt: number | null;
}

/** One that was woken and did not stir is woken again after this. */
export const WAKE_AGAIN_MS = 5_000;

export interface DrivingLimits {
  readonly turnDeadlineMs: number;
  readonly idleEndMs: number;
}

export type Driving =
  | { readonly do: "leave"; readonly because: "fenced" }
  | { readonly do: "stop"; readonly reason: string | null }
  | { readonly do: "interrupt"; readonly because: "paused-now" | "turn-deadline" | "asked-for" }
  | { readonly do: "start-leg" }
  | { readonly do: "hand" }
  /** Nobody has to see these any more. */
  | { readonly do: "expire" }
  | { readonly do: "wake" }
  | { readonly do: "end-leg"; readonly because: "long-idle" }
  | { readonly do: "wait" };

export function nextForRunner(
  attempt: Attempt | undefined,
  waiting: readonly Message[],
  leg: LegState,
  limits: DrivingLimits,
  now: number,
): Driving {
  if (!attempt || !isLiving(attempt)) return { do: "leave", because: "fenced" };
  if (attempt.stopRequested) return { do: "stop", reason: attempt.stopRequested.reason };
  if (overdue(waiting, now).length > 0) return { do: "expire" };
  const inTurn = leg.alive && leg.inTurn;
  if (attempt.status === "paused") {
    const due = attempt.pausedNow && inTurn && leg.interruptedAt === null;
    return due ? { do: "interrupt", because: "paused-now" } : { do: "wait" };
  }
  if (inTurn && leg.interruptedAt === null) {
    // What was asked for before this turn began was about another one.
    if ((attempt.interruptRequestedAt ?? 0) > leg.turnSince) return { do: "interrupt", because: "asked-for" };
    if (now - leg.turnSince >= limits.turnDeadlineMs) return { do: "interrupt", because: "turn-deadline" };
  }
  // What others learned is no reason for a turn: it waits for the next one that there is, and goes with it (SYNC-2).
  // In the middle of a turn only what it was not told of: the rest of a flood waits for the next turn (INJ-4).
  const due = waiting.filter(
    (message) => message.status === "queued" && (!inTurn || message.place > attempt.announced),
  );
  if (inTurn ? due.length > 0 : due.some(isWorthTurn)) {
    if (!leg.alive) return { do: "start-leg" };
    if (leg.byHooks) {
      const awake = inTurn || (leg.wokenAt !== null && now - leg.wokenAt < WAKE_AGAIN_MS);
      return !awake ? { do: "wake" } : { do: "wait" };
    }
    if (!inTurn || leg.midTurn) return { do: "hand" };
    return { do: "wait" };
  }
  // A screen is left as it is: a person may come back to it.
  if (leg.alive && !leg.byHooks && !leg.inTurn && now - leg.idleSince >= limits.idleEndMs)
    return { do: "end-leg", because: "long-idle" };
  return { do: "wait" };
}

/**
 * How long nothing will be due by itself: until the running turn is too old, or the idle process is to be ended. What
 * is overdue already and was not done waits for somebody (a pause, an interrupt under way), so it is not waited for.
 */
export function quietFor(leg: LegState, limits: DrivingLimits, now: number): number {
  if (!leg.alive) return Number.POSITIVE_INFINITY;
  if (!leg.inTurn && leg.byHooks) return Number.POSITIVE_INFINITY;
  const due = leg.inTurn ? leg.turnSince + limits.turnDeadlineMs : leg.idleSince + limits.idleEndMs;
  return due > now ? due - now : Number.POSITIVE_INFINITY;
}

/**
 * Whose runners have to look because of what was just committed: whoever was written to, paused, resumed or stopped. A
 * runner that nobody tells looks by itself, but seconds later, and its agent stands idle that long.
 */
export function attemptsWithNews(events: readonly Pick<NewEvent, "type" | "attempt">[]): number[] {
  const about = events.filter(({ type }) => type.startsWith("agent.") || type === "message.queued");
  return [...new Set(about.flatMap(({ attempt }) => (attempt ? [attempt] : [])))];
}

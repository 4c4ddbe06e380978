/**
 * What pausing, resuming and cancelling a goal mean for the agents at work on it (GOAL-5): paused ones finish their
 * turn and wait, resumed are only those that were paused for the goal's sake, cancelled ones are stopped, which keeps
 * what they had not committed.
 */
import type { Moment } from "#domain/core/actor.ts";
import { mayMove } from "#domain/core/moves.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { ATTEMPT_MOVES, attemptEvent, attemptLabel, isLiving, resumeAttempt } from "#domain/model/attempt.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";

export const PAUSED_FOR_GOAL = "goal-paused";

/** Agents that are only just starting are not paused; they get their first turn and no second one is dispatched. */
export function pauseAgentsOfGoal(goalId: string, living: readonly Attempt[], reason: string | null, moment: Moment) {
  return living
    .filter((one) => one.goalId === goalId && mayMove(ATTEMPT_MOVES, one.status, "paused"))
    .map((one): NewEvent => attemptEvent(one, moment.actor, "agent.paused", PAUSED_FOR_GOAL, { now: false, reason }));
}

/** Of these events about pauses, oldest first: who was paused last for the goal's sake and not by itself. */
export function findPausedForGoal(pauses: readonly EventOf[]): ReadonlySet<number> {
  const last = new Map<number, boolean>();
  for (const event of pauses) {
    if (event.type === "agent.paused" && event.attempt !== undefined) {
      last.set(event.attempt, event.because === PAUSED_FOR_GOAL);
    }
  }
  return new Set([...last].flatMap(([attempt, forGoal]) => (forGoal ? [attempt] : [])));
}

export function resumeAgentsOfGoal(
  goalId: string,
  living: readonly Attempt[],
  forGoal: ReadonlySet<number>,
  messageIdOf: (attempt: number) => string,
  moment: Moment,
): NewEvent[] {
  return living
    .filter((one) => one.goalId === goalId && one.status === "paused" && forGoal.has(one.attempt))
    .flatMap((one) => {
      const order = { reason: "Its goal was resumed.", messageId: messageIdOf(one.attempt) };
      const decision = resumeAttempt(one, one.agent, order, moment);
      return decision.ok ? decision.events : [];
    });
}

/** Its agents are stopped; that it ended is told to whoever asked as every outcome is (tell.ts). */
export function stopAgentsOfGoal(
  goal: Goal,
  living: readonly Attempt[],
  reason: string | null,
  moment: Moment,
): NewEvent[] {
  const said = `The goal was cancelled${reason ? `: ${reason}` : "."}`;
  return living
    .filter((one) => one.goalId === goal.goalId && isLiving(one) && !one.stopRequested)
    .map((one) => attemptEvent(one, moment.actor, "agent.stop_requested", "goal-cancelled", { reason: said }));
}

/** The agent's name, its label with the attempt, or the id of its CLI's session. */
export function isSession(attempt: Attempt, session: string | undefined): boolean {
  return session !== undefined && [attempt.agent, attemptLabel(attempt), attempt.session].includes(session);
}

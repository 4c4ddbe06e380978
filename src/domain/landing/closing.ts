/**
 * What ends with a node: the assignment that gave it to somebody, the agent at work on it, and the questions about it.
 * Whoever ends nodes (a person by hand, a revision of the plan, a roll-up) passes the decision through here, so that
 * nobody works on, and nobody is asked about, what has ended. Deciding it a second time adds nothing.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { aboutQuestion, type Question } from "#domain/model/question.ts";
import { endAssignment } from "./report-done.ts";

/** Who and what hangs on the nodes of a goal. */
export interface HangingOn {
  readonly assignments: readonly Assignment[];
  readonly attempts: readonly Attempt[];
  readonly questions: readonly Question[];
}

/** The decision with everything closed that ends with the nodes it ends. */
export function closeDependents<T>(decision: Decision<T>, on: HangingOn, moment: Moment): Decision<T> {
  if (!decision.ok) return decision;
  const { events } = decision;
  const over = new Set(events.flatMap((event) => (isAssignmentEnd(event) ? [event.assignmentId] : [])));
  const stopped = new Set(events.flatMap((event) => (event.type === "agent.stop_requested" ? [event.attempt] : [])));
  const ended = new Set(events.flatMap((event) => ("questionId" in event.data ? [event.data.questionId] : [])));
  const ends = events.filter((event) => event.type === "work.done" || event.type === "work.cancelled");
  const endings = ends.flatMap((end): NewEvent[] => {
    const isHere = (one: { readonly goalId: string | null; readonly workNodeId: string | null }) =>
      one.goalId === end.goalId && one.workNodeId === end.nodeId;
    const to = end.type === "work.done" ? "done" : "cancelled";
    const reason = to === "done" ? "Its work was declared done." : "Its work was cancelled.";
    return [
      ...on.assignments
        .filter((one) => isHere(one) && isLive(one) && !over.has(one.assignmentId))
        .flatMap((one) => endAssignment(one, to, "work-ended", reason, moment)),
      ...on.attempts
        .filter((one) => isHere(one) && isLiving(one) && !one.stopRequested && !stopped.has(one.attempt))
        .map((one) => attemptEvent(one, moment.actor, "agent.stop_requested", "work-ended", { reason })),
      ...on.questions
        .filter((one) => isHere(one) && one.status === "open" && !ended.has(one.questionId))
        .map((one) => withdrawMoot(one, moment)),
    ];
  });
  return accept([...events, ...endings], decision.value);
}

function isAssignmentEnd(event: NewEvent): boolean {
  return event.type === "assignment.done" || event.type === "assignment.cancelled";
}

/** Nobody needs the answer any more. */
export function withdrawMoot(question: Question, moment: Moment): NewEvent {
  return {
    type: "question.withdrawn",
    actor: moment.actor,
    ...aboutQuestion(question),
    because: "work-ended",
    data: { questionId: question.questionId, reason: "the work it was about has ended" },
  };
}

/**
 * Cancelling a goal ends everything under it in one decision: open nodes, live assignments, open questions. What is
 * finished stays finished, and the log keeps all of it.
 */
import type { Moment } from "./actor.ts";
import type { Assignment } from "./assignment.ts";
import { isLive, subject } from "./assignment.ts";
import type { Attempt } from "./attempt.ts";
import type { NewEvent } from "./event.ts";
import { moveGoal } from "./goal.ts";
import { tellOutcome } from "./outcome.ts";
import type { Question } from "./question.ts";
import type { Decision } from "./refusal.ts";
import { accept } from "./refusal.ts";
import type { GoalTree } from "./settle.ts";
import { isOpen, nodeEvent } from "./work.ts";

export function cancelGoal(
  tree: GoalTree,
  assignments: readonly Assignment[],
  questions: readonly Question[],
  fleet: readonly Attempt[],
  reason: string | null,
  moment: Moment,
): Decision<string> {
  const decision = moveGoal(tree.goal, tree.goal.goalId, "cancelled", moment, reason);
  if (!decision.ok) return decision;
  const because = "goal-cancelled";
  const endings: NewEvent[] = [
    ...assignments.filter(isLive).map(
      (assignment): NewEvent => ({
        type: "assignment.cancelled",
        ...subject(assignment),
        actor: moment.actor,
        because,
        data: { reason },
      }),
    ),
    ...assignments.filter(isLive).flatMap((assignment) => toldOf(assignment, fleet, reason, moment)),
    ...tree.nodes.filter(isOpen).map((node) => nodeEvent(node, moment, "work.cancelled", because, { reason })),
    ...questions
      .filter((question) => question.status === "open" && question.goalId === tree.goal.goalId)
      .map(
        (question): NewEvent => ({
          type: "question.withdrawn",
          actor: moment.actor,
          goalId: tree.goal.goalId,
          nodeId: question.workNodeId ?? undefined,
          because,
          data: { questionId: question.questionId, reason: "the goal was cancelled" },
        }),
      ),
  ];
  return accept([...endings, ...decision.events], tree.goal.goalId);
}

/** TELL-1: an agent that asked for a part of it hears that it was cancelled; a person has just said so. */
function toldOf(assignment: Assignment, fleet: readonly Attempt[], reason: string | null, moment: Moment): NewEvent[] {
  const worker = fleet.find((one) => one.assignmentId === assignment.assignmentId);
  const asker = fleet.find((one) => one.attempt === worker?.parent?.attempt);
  if (!worker || !asker) return [];
  const told = { outcome: "cancelled", detail: reason ?? "Its goal was cancelled.", wip: null } as const;
  return [tellOutcome(worker, asker, told, moment.actor)];
}

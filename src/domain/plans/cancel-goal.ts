/**
 * Cancelling a goal ends everything under it in one decision: open nodes, live assignments, open questions. What is
 * finished stays finished, and the log keeps all of it.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive, subject } from "#domain/model/assignment.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { moveGoal } from "#domain/model/goal.ts";
import type { Question } from "#domain/model/question.ts";
import { isOpen, nodeEvent } from "#domain/model/work.ts";
import type { GoalTree } from "./settle.ts";

export function cancelGoal(
  tree: GoalTree,
  assignments: readonly Assignment[],
  questions: readonly Question[],
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

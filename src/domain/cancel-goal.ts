/**
 * Cancelling a goal ends everything under it in one decision: open nodes, live assignments, open questions. What is
 * finished stays finished, and the log keeps all of it.
 */
import type { Moment } from "./actor.ts";
import type { Assignment } from "./assignment.ts";
import { isLive, subject } from "./assignment.ts";
import type { NewEvent } from "./event.ts";
import { moveGoal } from "./goal.ts";
import type { Question } from "./question.ts";
import type { Decision } from "./refusal.ts";
import { accept } from "./refusal.ts";
import type { GoalTree } from "./settle.ts";
import { isOpen, nodeEvent } from "./work.ts";

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

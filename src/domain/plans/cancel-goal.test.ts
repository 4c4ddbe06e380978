import { expect, test } from "bun:test";
import type { Question } from "#domain/model/question.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, assignmentWith, finish, refused, statuses, treeOf } from "../../../test/support/tree.ts";
import { cancelGoal } from "./cancel-goal.ts";
import { advance } from "./settle.ts";

const question = (questionId: string, goalId: string): Question => ({
  questionId,
  goalId,
  workNodeId: null,
  assignmentId: null,
  text: "?",
  options: [],
  status: "open",
  answer: null,
  askedBy: "overseer",
  askedAt: T0,
  endedAt: null,
  notices: [],
  round: 0,
  roundAt: 0,
  acknowledgedBy: null,
  acknowledgedAt: null,
});

test("GOAL-3: cancelling ends open nodes, live assignments and its own open questions, and nothing else", () => {
  const tree = finish(treeOf(), "S1.1.1");
  const assignments = [assignmentWith(), assignmentWith({ assignmentId: "A_0", status: "done" })];
  const questions = [question("q_1", "goal_A"), question("q_2", "goal_B")];
  const events = allowed(cancelGoal(tree, assignments, questions, "no budget", ADA));
  const about = events.map((event) => {
    const id =
      "questionId" in event.data ? event.data.questionId : (event.assignmentId ?? event.nodeId ?? event.goalId);
    return `${event.type} ${id} ${event.because}`;
  });
  expect(about).toEqual([
    "assignment.cancelled A_1 goal-cancelled",
    "work.cancelled P1 goal-cancelled",
    "work.cancelled T1.1 goal-cancelled",
    "work.cancelled S1.1.2 goal-cancelled",
    "work.cancelled T1.2 goal-cancelled",
    "work.cancelled P2 goal-cancelled",
    "work.cancelled T2.1 goal-cancelled",
    "question.withdrawn q_1 goal-cancelled",
    "goal.cancelled goal_A asked-for",
  ]);
  const after = events.reduce((state, event) => advance(state, event, T0), tree);
  expect(after.goal).toMatchObject({ status: "cancelled", statusReason: "no budget", endedAt: T0 });
  expect(statuses(after)["S1.1.1"]).toBe("done");
});

test.each(["completed", "cancelled", "archived"] as const)(
  "GOAL-3: a goal that is %s cannot be cancelled",
  (status) => {
    const tree = treeOf();
    const ended = { ...tree, goal: { ...tree.goal, status } };
    expect(refused(cancelGoal(ended, [], [], null, ADA)).code).toBe("GOAL_MOVE_FORBIDDEN");
  },
);

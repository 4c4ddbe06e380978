import { describe, expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { applyToQuestion, type Question } from "#domain/model/question.ts";
import { cancelNode, finishByHand } from "#domain/model/work.ts";
import {
  findPausedForGoal,
  pauseAgentsOfGoal,
  resumeAgentsOfGoal,
  stopAgentsOfGoal,
} from "#domain/plans/goal-agents.ts";
import { askPerson } from "#domain/reports/answer.ts";
import { attemptWith } from "../../../test/support/claims.ts";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, assignmentWith, goalOf, nodeWith, placed } from "../../../test/support/tree.ts";
import { closeDependents } from "./closing.ts";

function asked(): Question {
  const [event] = allowed(
    askPerson([], { questionId: "q_1", goalId: "goal_A", nodeId: "T1", text: "?", options: [] }, ADA),
  );
  const question = event && applyToQuestion(undefined, placed(event));
  if (!question) throw new Error("not asked");
  return question;
}

const on = { assignments: [assignmentWith()], attempts: [attemptWith()], questions: [asked()] };
const node = nodeWith("in_progress");
const types = (events: readonly { type: string }[]) => events.map((event) => event.type);

describe("GOAL-5: what ends with a node", () => {
  test("cancelled: its assignment, its agent, its questions", () => {
    const events = allowed(closeDependents(cancelNode(node, [node], "why", ADA), on, ADA));
    expect(types(events)).toEqual([
      "work.cancelled",
      "assignment.cancelled",
      "agent.stop_requested",
      "question.withdrawn",
    ]);
  });

  test("done by hand: the assignment is done too", () => {
    const done = finishByHand(node, [node], { summary: "x", crystallizationId: "C_1" }, ADA);
    const events = types(allowed(closeDependents(done, on, ADA)));
    expect(events.slice(-3)).toEqual(["assignment.done", "agent.stop_requested", "question.withdrawn"]);
  });

  test("an assignment that nobody was seen at work on ends along legal moves", () => {
    const done = finishByHand(node, [node], { summary: "x", crystallizationId: "C_1" }, ADA);
    const early = { ...on, assignments: [assignmentWith({ status: "dispatched" })] };
    expect(types(allowed(closeDependents(done, early, ADA)))).toEqual(
      expect.arrayContaining(["assignment.active", "assignment.done"]),
    );
  });

  test("closing what is closed already adds nothing", () => {
    const once = closeDependents(cancelNode(node, [node], "why", ADA), { ...on, questions: [] }, ADA);
    expect(types(allowed(closeDependents(once, { ...on, questions: [] }, ADA)))).toEqual(types(allowed(once)));
  });

  test("other nodes keep theirs", () => {
    const elsewhere = {
      assignments: [assignmentWith({ workNodeId: "T2" })],
      attempts: [attemptWith({ goalId: "goal_B" })],
      questions: [{ ...asked(), workNodeId: "T2" }],
    };
    expect(types(allowed(closeDependents(cancelNode(node, [node], "why", ADA), elsewhere, ADA)))).toEqual([
      "work.cancelled",
    ]);
  });
});

describe("GOAL-5: agents of a goal", () => {
  const running = attemptWith();
  const paused = attemptWith({ attempt: 8, agent: "builder-2", status: "paused" });
  const starting = attemptWith({ attempt: 9, agent: "builder-3", status: "starting" });
  const foreign = attemptWith({ attempt: 3, agent: "lead-1", goalId: "goal_B", session: "s-3" });
  const living = [running, paused, starting, foreign];
  const id = (attempt: number) => `m_${attempt}`;

  test("are paused after their turn; those that cannot be are left", () => {
    const events = pauseAgentsOfGoal("goal_A", living, null, ADA);
    expect(events).toMatchObject([{ attempt: 7, data: { now: false, reason: null } }]);
  });

  test("are resumed only if they were paused for its sake", () => {
    const pauses = [
      { type: "agent.paused", attempt: 7, because: "goal-paused" },
      { type: "agent.paused", attempt: 8, because: "goal-paused" },
      { type: "agent.paused", attempt: 8, because: "asked-for" },
    ] as EventOf[];
    const both = [{ ...running, status: "paused" as const }, paused];
    const events = resumeAgentsOfGoal("goal_A", both, findPausedForGoal(pauses), id, { ...ADA, now: T0 + 120_000 });
    expect(events.map((event) => `${event.type} ${event.attempt}`)).toEqual(["agent.resumed 7", "message.queued 7"]);
  });

  test("are stopped with it, with the reason", () => {
    const events = stopAgentsOfGoal(goalOf(), living, "no budget", ADA);
    expect(events.map((event) => event.attempt)).toEqual([7, 8, 9]);
    expect(events[0]?.data).toEqual({ reason: "The goal was cancelled: no budget" });
  });
});

/** What of the log becomes a letter to the session that leads, and what does not: one row each. */
import { expect, test } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { type LetterContext, letterFor } from "./lead-letter.ts";

const TASK = { kind: "task", status: "in_progress", claim: null } as unknown as LetterContext["node"];
const PHASE = { kind: "phase", status: "done", claim: null } as unknown as LetterContext["node"];
const CLAIMED = {
  kind: "task",
  status: "in_progress",
  claim: { commit: "c", summary: "Dates sort." },
} as unknown as LetterContext["node"];
const DONE = { kind: "task", status: "done", claim: null } as unknown as LetterContext["node"];

const event = (type: string, data: object, more: object = {}) =>
  ({
    ...{ seq: 7, at: 1, actor: "overseer", because: "b", goalId: "goal_x", nodeId: "T1", agent: "ada", type, data },
    ...more,
  }) as unknown as EventOf;
const about = (node: LetterContext["node"], more: Partial<LetterContext> = {}): LetterContext => ({
  ...{ node, tasks: 2, findMailed: () => undefined },
  ...more,
});
const ended = (cause: string) => event("agent.ended", { cause, detail: "It fell.", wip: null });

test.each<[what: string, event: EventOf, context: LetterContext, subject: string | undefined]>([
  ["a landed task", event("work.done", { summary: "s" }), about(DONE), "goal_x/T1 is done"],
  ["a finished phase", event("work.done", { summary: "s" }), about(PHASE), undefined],
  ["a cancelled task", event("work.cancelled", { reason: "r" }), about(TASK), "goal_x/T1 was cancelled"],
  [
    "a task that went with its goal",
    event("work.cancelled", {}, { because: "goal-cancelled" }),
    about(TASK),
    undefined,
  ],
  ["a death", ended("died"), about(TASK), "ada died"],
  ["an end without a word", ended("finished"), about(TASK), "ada ended without reporting done"],
  ["a start that failed", ended("failed_to_start"), about(TASK), "ada failed to start"],
  ["the end of one that a person stopped", ended("stopped"), about(TASK), undefined],
  ["the end of one that reported done", ended("finished"), about(CLAIMED), undefined],
  ["the end of one whose work has landed", ended("died"), about(DONE), undefined],
  ["a goal of several tasks", event("goal.completed", {}), about(undefined), "Goal goal_x is reached"],
  ["a goal of one task", event("goal.completed", {}), about(undefined, { tasks: 1 }), undefined],
  [
    "a review that waits",
    event("landing.waiting", { for: "review", detail: "", files: [] }),
    about(CLAIMED),
    "goal_x/T1 waits for review",
  ],
  ["a landing that waits for something else", event("landing.waiting", { for: "gate" }), about(CLAIMED), undefined],
  ["a plan that the session itself asked for", event("plan.proposed", {}), about(undefined), undefined],
  ["that a checkout no longer holds up", event("landing.refused", {}), about(TASK), undefined],
  ["a quota", event("quota.restored", { account: "a" }), about(undefined), "The quota of a is back."],
  ["what is no news", event("work.queued", {}), about(TASK), undefined],
])("ORCH-1, TELL-1: %s", (_what, happened, context, subject) => {
  expect(letterFor(happened, context)?.subject).toBe(subject);
});

test("ORCH-1: a question comes with its choices and how to answer it, once", () => {
  const asked = event("question.asked", { questionId: "q_1", text: "Which?", options: ["A", "B"] });
  const letter = letterFor(asked, about(TASK));
  expect(letter).toMatchObject({ type: "question", priority: "high", from: "overseer", to: "orchestrator" });
  expect(letter?.body).toContain("Which?\n\n1. A\n2. B");
  expect(letter?.body).toContain("overseer answer q_1");
  // Asked by mail it is a letter already, and only what is open is told.
  const byMail = letterFor(asked, about(TASK, { findMailed: (text) => (text === "Which?" ? "m_9" : undefined) }));
  expect(byMail?.body).toContain("It is asked in m_9.");
  expect(byMail?.body).not.toContain("Which?");
});

test("ORCH-1: the id of a letter follows from its event", () => {
  const [one, same, other] = [7, 7, 8].map((seq) =>
    letterFor(event("quota.restored", { account: "a" }, { seq }), about(TASK)),
  );
  expect(one?.messageId).toBe(same?.messageId ?? "");
  expect(one?.messageId).not.toBe(other?.messageId);
});

test("ORCH-1: a letter about a review says what was reported, and what to do", () => {
  const letter = letterFor(event("landing.waiting", { for: "review", detail: "", files: [] }), about(CLAIMED));
  expect(letter?.body).toBe(
    "Dates sort.\n\nLook at it with the review tool or 'overseer review goal_x/T1', then accept it or reject it.",
  );
});

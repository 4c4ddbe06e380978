/** DO-1: a goal in a sentence, with the wish for its plan and what it may cost, in one decision. */
import { expect, test } from "bun:test";
import { goalOf } from "../../../test/support/tree.ts";
import { goalFromSentence, type SentenceWish } from "./sentence-goal.ts";

const moment = { now: 1_000, actor: "human:ada" } as const;
const WISH: SentenceWish = {
  goalId: "goal_add-rate-limiting",
  text: "Add rate limiting to the API",
  limit: null,
  repo: { branch: "main" },
  wanted: { remark: null, scout: false, accept: "person" },
};

function eventsOf(wish: Partial<SentenceWish>) {
  const decided = goalFromSentence(undefined, { ...WISH, ...wish }, moment);
  if (!decided.ok) throw new Error(decided.refusal.message);
  return decided.events;
}

test("DO-1: the goal and the wish for its plan are one decision, so a kill leaves both or nothing", () => {
  const events = eventsOf({});
  expect(events.map(({ type }) => type)).toEqual(["goal.created", "plan.wanted", "action.decided"]);
  expect(events[0]?.data).toMatchObject({ title: WISH.text, problemStatement: "", origin: { kind: "do" } });
  expect(events[1]).toMatchObject({ goalId: WISH.goalId, data: { number: 1, remark: null } });
});

test("DO-1: what it may cost holds before a model is asked", () => {
  const events = eventsOf({ limit: 5 });
  expect(events.map(({ type }) => type)).toEqual(["goal.created", "budget.limited", "plan.wanted", "action.decided"]);
  expect(events[1]?.data).toEqual({ scope: `goal:${WISH.goalId}`, limit: { cost: 5 } });
});

test("DO-1: a text of several lines is kept whole; its first line is the title", () => {
  const text = "Add rate limiting\n\nPer key, 100 a minute.";
  expect(eventsOf({ text })[0]?.data).toMatchObject({ title: "Add rate limiting", problemStatement: text });
  const long = "x".repeat(300);
  expect(eventsOf({ text: long })[0]?.data).toMatchObject({ title: "x".repeat(120), problemStatement: long });
});

test("DO-1: no words are no goal, an id that is taken is refused, and an agent sets no limit", () => {
  const codeOf = (
    taken: ReturnType<typeof goalOf> | undefined,
    wish: SentenceWish,
    actor: "human:ada" | "agent:b#1",
  ) => {
    const decided = goalFromSentence(taken, wish, { ...moment, actor });
    return decided.ok ? "taken" : decided.refusal.code;
  };
  expect(codeOf(undefined, { ...WISH, text: " \n " }, "human:ada")).toBe("SENTENCE_EMPTY");
  expect(codeOf(goalOf(), WISH, "human:ada")).toBe("GOAL_EXISTS");
  expect(codeOf(undefined, { ...WISH, limit: 5 }, "agent:b#1")).toBe("BUDGET_NOT_YOURS");
});

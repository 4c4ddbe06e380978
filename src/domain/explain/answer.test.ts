import { expect, test } from "bun:test";
import { answerWhy } from "./answer.ts";
import { type Concerned, findConcerning } from "./held-node.ts";
import { type Standstill, type StandstillKind, standstill } from "./standstill.ts";

const stands = (kind: StandstillKind, about: readonly string[] = [], parts: Partial<Standstill> = {}): Standstill =>
  standstill(kind, { text: `${kind} stands`, command: `overseer end-${kind}`, about, ...parts });

const ALL = [
  stands("no-daemon"),
  stands("quota", ["main"], { turn: "itself" }),
  stands("review", ["goal_x/T1"]),
  stands("stalled", ["goal_x/T1"], { turn: "itself" }),
  stands("blocked", ["goal_y/T1"]),
  stands("goal-paused", ["goal_x"]),
  stands("question", ["goal_x/T2"], { command: "overseer answer q_1 <choice or text>" }),
  stands("channel"),
];

const NODE = { goalId: "goal_x", nodeId: "T1", isReady: false };
const CONCERNS: readonly (readonly [string, Concerned, readonly StandstillKind[]])[] = [
  ["a task at work", NODE, ["review", "goal-paused", "no-daemon", "stalled"]],
  ["a task that is ready", { ...NODE, isReady: true }, ["review", "goal-paused", "no-daemon", "stalled", "quota"]],
  ["a goal", { ...NODE, nodeId: null }, ["review", "goal-paused", "question", "no-daemon", "stalled"]],
  ["another goal's task", { ...NODE, goalId: "goal_y" }, ["blocked", "no-daemon"]],
  ["a question", { goalId: null, nodeId: null, isReady: false, questionId: "q_1" }, ["question", "channel"]],
];

test.each(CONCERNS)(
  "STATUS-1: why tells of %s what status tells of it, its own and a person's turn first",
  (_name, who, kinds) => {
    expect(findConcerning(who, ALL).map(({ kind }) => kind)).toEqual([...kinds]);
  },
);

const HELD = "It is ready, and held back: no-daemon stands";
test("STATUS-1: the next sentence is that of the standstill, with its command, and nothing is said twice", () => {
  const told = { now: ["It is being worked on.", HELD] };
  expect(answerWhy(told, [stands("no-daemon"), stands("quota")], "overseer status")).toEqual({
    next: HELD,
    command: "overseer end-no-daemon",
    more: ["quota stands", "It is being worked on."],
  });
});

test("STATUS-1: without a standstill the next command is the one that is named, else where to look", () => {
  const named = { now: ["It waits.", "'overseer goal resume goal_x' lets it continue."] };
  expect(answerWhy(named, [], null)).toMatchObject({ next: "It waits.", command: "overseer goal resume goal_x" });
  expect(answerWhy({ now: ["It is being worked on."] }, [], "overseer peek a")).toMatchObject({
    command: "overseer peek a",
  });
  expect(answerWhy({ now: [] }, [], null)).toEqual({ next: null, command: null, more: [] });
});

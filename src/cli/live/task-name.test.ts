/** STATUS-1: sentences on the screen name tasks as people know them, and commands stay as one types them. */
import { expect, test } from "bun:test";
import { liveAgent, liveView } from "../../../test/support/live-views.ts";
import { nameTask, nameTasksIn } from "./task-name.ts";

const VIEW = liveView(0, {
  agents: [
    liveAgent(1, { task: "Parse  dates" }),
    liveAgent(2, { task: "x".repeat(60) }),
    liveAgent(3, { workNodeId: "T1.2", task: "Print" }),
    liveAgent(4, { goalId: "goal_Y", workNodeId: "T9", task: "Twin" }),
    liveAgent(5, { goalId: "goal_Z", workNodeId: "T9", task: "Twin" }),
  ],
});

const NAMES: [key: string, name: string][] = [
  ["goal_X/T1", "T1 Parse dates"],
  ["goal_X/T2", `T2 ${"x".repeat(36)}…`],
  ["goal_X/T7", "goal_X/T7"],
  ["goal_Y/T9", "goal_Y/T9"], // two are called the same
];
test.each(NAMES)("STATUS-1: %s is called %s", (key, name) => {
  expect(nameTask(key, VIEW)).toBe(name);
});

const SENTENCES: [text: string, shown: string][] = [
  [
    "REVIEW: goal_X/T1 is done (overseer review goal_X/T1)",
    "REVIEW: T1 Parse dates is done (overseer review goal_X/T1)",
  ],
  [
    "BLOCKED: goal_X/T1. (overseer work unblock goal_X/T1)",
    "BLOCKED: T1 Parse dates. (overseer work unblock goal_X/T1)",
  ],
  ["goal_X/T1, goal_X/T1.2 and goal_X/T10", "T1 Parse dates, T1.2 Print and goal_X/T10"],
];
test.each(SENTENCES)("STATUS-1: %s", (text, shown) => {
  expect(nameTasksIn(text, ["goal_X/T1", "goal_X/T1.2"], VIEW)).toBe(shown);
});

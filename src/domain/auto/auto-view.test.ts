import { expect, test } from "bun:test";
import type { AutoCondition, Worker } from "#domain/model/auto.ts";
import { type AutoFacts, explainAuto, summariseAuto, viewAuto } from "./auto-view.ts";

const AUTO: AutoCondition = {
  ...{ kind: "auto", conditionId: "auto", active: true, since: 1, updatedAt: 1, taken: 4 },
  open: [
    { goalId: "goal_A", source: "command", key: "a", takenAt: 1 },
    { goalId: "goal_B", source: "command", key: "b", takenAt: 2 },
  ],
  outcomes: { landed: 2, unchanged: 1, cancelled: 1 },
  run: { startedAt: 1, taken: 4, costUsd: 0 },
  ...{ lastTakenAt: 2, lastEndedAt: 1, lastPull: null, files: {}, emptySince: null, repeated: null, refused: {} },
  ...{ paused: null, failure: null },
};
const agent = (name: string) => ({
  ...{ agent: name, attempt: 3, goalId: "goal_A", workNodeId: "T1", doing: "working", doingAt: 7, task: "Fix it" },
});
const ben: Worker = {
  ...{ name: "ben", made: false, excluded: false, capability: null, runtime: null, model: null, addedAt: 1 },
};
const FACTS: AutoFacts = {
  auto: AUTO,
  workers: [ben],
  running: { concurrency: 2, why: null },
  agents: [agent("auto-2"), agent("builder-1"), agent("auto-10")],
  blocked: new Set(["goal_B"]),
};

test("STATUS-1: its own workers in their order, also one too many that is at work, then standing ones", () => {
  const view = viewAuto(FACTS);
  expect(view?.workers.map(({ name, doing }) => `${name} ${doing}`)).toEqual([
    ...["auto-1 idle", "auto-2 working", "auto-10 working", "ben idle"],
  ]);
  expect(view && summariseAuto(view)).toBe("Auto mode: 4 workers, 2 tasks completed, 2 errors");
  expect(view?.failed.map(({ goalId }) => goalId)).toEqual(["goal_B"]);
});

test("STATUS-1: where auto mode was never used there is nothing to show; after it ended its counts stay", () => {
  expect(viewAuto({ ...FACTS, auto: undefined, workers: [], running: null, agents: [] })).toBeNull();
  const ended = viewAuto({ ...FACTS, running: null, agents: [], workers: [] });
  expect(ended).toMatchObject({ on: false, workers: [], completed: 2 });
});

test("AUTO-7, AUTO-5: what keeps it from taking a task is said once, the failure first", () => {
  const failure = { code: "POOL_FAILED", problem: "It ended with 1.", hint: "Fix it.", at: 1 };
  const paused = { at: 1, by: "human:ada", reason: "a release" };
  const say = (auto: Partial<AutoCondition>, why: string | null = null) => {
    const view = viewAuto({ ...FACTS, auto: { ...AUTO, ...auto }, running: { concurrency: 1, why } });
    return view ? explainAuto(view) : [];
  };
  expect(say({})).toEqual([]);
  expect(say({ failure })).toEqual(["It ended by itself (POOL_FAILED): It ended with 1. Fix it."]);
  expect(say({ paused }, "auto mode is paused")).toEqual([
    "Paused (a release): no more tasks are taken until 'overseer auto resume'.",
  ]);
  expect(say({}, "every worker has a task")).toEqual(["No task is taken now: every worker has a task."]);
});

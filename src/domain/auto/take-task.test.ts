import { expect, test } from "bun:test";
import { type AutoCondition, applyToAuto } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { endTask, judgeEnd } from "./take-task.ts";

const MOMENT = { now: 5, actor: "overseer" } as const;
const goal = (status: Goal["status"]) => ({ goalId: "goal_a", status }) as Goal;
const leaf = (status: WorkNode["status"], statusReason: string | null = null) =>
  ({ leaf: true, status, statusReason }) as WorkNode;
const phase = (status: WorkNode["status"]) => ({ leaf: false, status, statusReason: null }) as WorkNode;
const NO_CHANGES = "no_changes: it is so already";

test.each<[string, Goal | undefined, WorkNode[], string | undefined]>([
  ["is open while somebody works on it", goal("active"), [leaf("in_progress")], undefined],
  ["is open while it is blocked", goal("active"), [leaf("blocked")], undefined],
  ["is open while its goal is paused, whatever became of it", goal("paused"), [leaf("cancelled")], undefined],
  ["is open before it has a task", goal("active"), [], undefined],
  ["has landed", goal("completed"), [phase("done"), leaf("done")], "landed"],
  ["changed nothing", goal("active"), [phase("cancelled"), leaf("cancelled", NO_CHANGES)], "unchanged"],
  ["was cancelled by itself", goal("active"), [leaf("cancelled")], "cancelled"],
  ["was cancelled with its goal", goal("cancelled"), [leaf("cancelled")], "cancelled"],
  ["is gone", undefined, [], "cancelled"],
])("AUTO-5: a task of the pool %s", (_, seen, nodes, outcome) => {
  expect(judgeEnd(seen, nodes)).toBe(outcome as ReturnType<typeof judgeEnd>);
});

const taken = (goalId: string): AutoCondition =>
  applyToAuto(undefined, {
    ...{ type: "pool.taken", actor: "overseer", because: "free", goalId, seq: 1, at: 1, v: 1 },
    data: { source: "command", key: "k", pull: "P_1" },
  } as EventOf<"pool.taken">);

test("AUTO-5: a task that changed nothing ends its goal too, because nobody has to decide about it", () => {
  const seen = { auto: taken("goal_a"), goal: goal("active"), nodes: [leaf("cancelled", NO_CHANGES)], costUsd: 2 };
  const events = endTask(seen, "goal_a", MOMENT);
  expect(events.map(({ type, data }) => [type, data])).toEqual([
    ["pool.ended", { outcome: "unchanged", costUsd: 2 }],
    ["goal.cancelled", { reason: "Its task ended without a change." }],
  ]);
});

test("AUTO-5: the end of a task is written once, and only of those that are the pool's", () => {
  const seen = { goal: goal("completed"), nodes: [leaf("done")], costUsd: 0 };
  expect(endTask({ ...seen, auto: taken("goal_a") }, "goal_a", MOMENT).map(({ type }) => type)).toEqual(["pool.ended"]);
  expect(endTask({ ...seen, auto: taken("goal_b") }, "goal_a", MOMENT)).toEqual([]);
  expect(endTask({ ...seen, auto: undefined }, "goal_a", MOMENT)).toEqual([]);
});

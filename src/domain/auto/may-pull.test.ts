import { expect, test } from "bun:test";
import { type AutoCondition, applyToAuto } from "#domain/model/auto.ts";
import type { EventOf } from "#domain/model/event.ts";
import { judgePull, type PoolSeen } from "./may-pull.ts";

const started: AutoCondition = applyToAuto(undefined, { type: "auto.started", at: 1 } as EventOf<"auto.started">);
const FREE: PoolSeen = {
  ...{ auto: started, places: 2, busy: 0, ready: 0, waiting: 0, openCostUsd: 0, halted: null },
  ...{ conditions: [], questions: [], limits: { maxWaiting: 3, tasks: null, budgetUsd: null } },
};
const run = (taken: number, costUsd = 0) => ({ ...started, run: { startedAt: 1, taken, costUsd } });

test.each<[string, Partial<PoolSeen>, string | true, boolean]>([
  ["a worker is free", {}, true, false],
  ["one of two is busy", { busy: 1 }, true, false],
  ["both are busy", { busy: 2 }, "every worker has a task", false],
  ["what is ready takes the free one", { busy: 1, ready: 1 }, "work is ready that comes first", false],
  ["nothing may be started", { halted: "the fleet is frozen" }, "the fleet is frozen", false],
  [
    "one too many waits",
    { waiting: 1, limits: { ...FREE.limits, maxWaiting: 1 } },
    "one task waits for a person",
    false,
  ],
  ["too many wait", { waiting: 3 }, "3 tasks wait for a person", false],
  [
    "somebody has paused it",
    { auto: { ...started, paused: { at: 1, by: "human:ada", reason: null } } },
    "auto mode is paused",
    false,
  ],
  [
    "its last task is taken",
    { auto: run(2), limits: { ...FREE.limits, tasks: 2 } },
    "it was started for 2 tasks",
    true,
  ],
  [
    "its money is spent, what is open included",
    { auto: run(2, 3), openCostUsd: 2, limits: { ...FREE.limits, budgetUsd: 5 } },
    "the $5 that this run may cost are spent ($5.00)",
    true,
  ],
])("AUTO-5: whether a task is taken when %s", (_, change, why, finished) => {
  const verdict = judgePull({ ...FREE, ...change });
  expect(verdict).toEqual(why === true ? { pull: true } : { pull: false, why, finished });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Condition } from "#domain/model/condition.ts";
import type { Question } from "#domain/model/question.ts";
import { autoWith } from "../../../test/support/auto.ts";
import { T0 } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { judgePull, type PoolSeen } from "./may-pull.ts";

const LIMITS = { maxWaiting: 3, tasks: null, budgetUsd: null };
const seen = (change: Partial<PoolSeen> = {}): PoolSeen => ({
  ...{ auto: autoWith(), places: 2, busy: 0, ready: 0, waiting: 0, openCostUsd: 0 },
  ...{ halted: null, conditions: [], questions: [], limits: LIMITS },
  ...change,
});

const question = (change: Partial<Question>): Question => ({
  ...{ questionId: "q_1", goalId: null, workNodeId: null, assignmentId: null, options: ["go on landing"] },
  ...{
    text: "Nothing more lands on main: landing.afterLand failed",
    status: "open",
    answer: null,
    askedBy: "overseer",
  },
  ...{ askedAt: T0, endedAt: null, notices: [], round: 0, roundAt: T0, acknowledgedBy: null, acknowledgedAt: null },
  ...change,
});

const condition = (parts: object): Condition =>
  ({ conditionId: "c", active: true, since: T0, updatedAt: T0, ...parts }) as Condition;
const quota = { kind: "quota", account: "claude/default", phase: "tripped", until: T0, trips: 1, probe: null };

describe("AUTO-5: a task is taken only when a worker is free for it at once", () => {
  const rows: readonly [string, Partial<PoolSeen>, string][] = [
    ["nobody has a task", {}, "pull"],
    ["before auto mode was ever known", { auto: undefined }, "pull"],
    ["one of two has", { busy: 1 }, "pull"],
    ["both have", { busy: 2 }, "every worker has a task"],
    ["more than there are places, after fewer were wanted", { busy: 3 }, "every worker has a task"],
    ["one has, and one piece is ready", { busy: 1, ready: 1 }, "a task is ready already, and waits for a worker"],
    ["two pieces are ready", { ready: 2 }, "2 tasks are ready already, and wait for a worker"],
    ["some wait for a person", { waiting: 2 }, "pull"],
    ["too many wait for a person", { waiting: 3 }, "3 tasks wait for a person"],
    ["there is no place", { places: 0 }, "every worker has a task"],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    const verdict = judgePull(seen(change));
    expect(verdict.pull ? "pull" : verdict.why).toBe(expected);
    expect(!verdict.pull && verdict.finished).toBe(false);
  });
});

describe("AUTO-5, AUTO-7, AUTO-11: nothing is taken while something holds back what would be done with it", () => {
  const rows: readonly [string, Partial<PoolSeen>, string][] = [
    ["paused", { auto: autoWith({ paused: { at: T0, by: "human:ada", reason: null } }) }, "auto mode is paused"],
    [
      "its ground is broken",
      { auto: autoWith({ failure: { code: "POOL_FAILED", problem: "It exits 1.", hint: "", at: T0 } }) },
      "It exits 1.",
    ],
    ["frozen", { halted: "the fleet is frozen" }, "the fleet is frozen"],
    ["safe mode", { halted: "safe mode" }, "safe mode"],
    [
      "a landing broke its target",
      { questions: [question({})] },
      "the command after a landing failed: nothing is taken until q_1 is answered",
    ],
    ["a quota", { conditions: [condition(quota)] }, "the quota of claude/default is used up"],
    [
      "a failing provider",
      { conditions: [condition({ kind: "provider", account: "claude/default" })] },
      "the provider of claude/default fails",
    ],
    ["a mass death", { conditions: [condition({ kind: "mass-death" })] }, "several agents died at once"],
    [
      "starts that all fail",
      { conditions: [condition({ kind: "start", problem: "no tmux" })] },
      "no agent can be started: no tmux",
    ],
    [
      "a spent day",
      { conditions: [condition({ kind: "budget", scope: "day:2026-01-05", phase: "spent" })] },
      "today's budget is spent",
    ],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    expect(judgePull(seen(change))).toEqual({ pull: false, why: expected, finished: false });
  });

  const passes: readonly [string, Partial<PoolSeen>][] = [
    ["a quota that works again", { conditions: [condition({ ...quota, active: false })] }],
    [
      "a day that is only warned about",
      { conditions: [condition({ kind: "budget", scope: "day:1", phase: "warned" })] },
    ],
    ["another goal's budget", { conditions: [condition({ kind: "budget", scope: "goal:goal_A", phase: "spent" })] }],
    ["another question", { questions: [question({ text: "Which way?", options: [] })] }],
    ["a hold that was answered", { questions: [question({ status: "answered" })] }],
  ];
  test.each(passes)("%s does not", (_name, change) => {
    expect(judgePull(seen(change))).toEqual({ pull: true });
  });
});

describe("AUTO-1: a run may be started for so many tasks, or for so much money", () => {
  const run = (taken: number, costUsd: number) => autoWith({ run: { startedAt: T0, taken, costUsd } });
  const rows: readonly [string, Partial<PoolSeen>, string][] = [
    ["one task, not taken", { auto: run(0, 0), limits: { ...LIMITS, tasks: 1 } }, "pull"],
    ["one task, taken", { auto: run(1, 0), limits: { ...LIMITS, tasks: 1 } }, "it was started for one task"],
    ["three tasks, taken", { auto: run(3, 0), limits: { ...LIMITS, tasks: 3 } }, "it was started for 3 tasks"],
    ["money is left", { auto: run(3, 1.5), openCostUsd: 0.25, limits: { ...LIMITS, budgetUsd: 2 } }, "pull"],
    [
      "what open tasks have cost counts too",
      { auto: run(3, 1.5), openCostUsd: 0.5, limits: { ...LIMITS, budgetUsd: 2 } },
      "the $2 that this run may cost are spent ($2.00)",
    ],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    const verdict = judgePull(seen(change));
    expect(verdict.pull ? "pull" : verdict.why).toBe(expected);
    expect(!verdict.pull && verdict.finished).toBe(expected !== "pull");
  });

  test("a run that is over stays so, whatever holds it back beside", () => {
    const paused = { at: T0, by: "human:ada", reason: null };
    const verdict = judgePull(seen({ auto: { ...run(1, 0), paused }, limits: { ...LIMITS, tasks: 1 } }));
    expect(verdict).toMatchObject({ pull: false, finished: true });
  });
});

test("AUTO-5: whatever is taken finds a place, for any numbers", () => {
  const few = fc.nat({ max: 6 });
  fc.assert(
    fc.property(few, few, few, few, (places, busy, ready, waiting) => {
      const verdict = judgePull(seen({ places, busy, ready, waiting }));
      expect(verdict.pull).toBe(busy + ready < places && waiting < LIMITS.maxWaiting);
    }),
    { numRuns: scaled(200) },
  );
});

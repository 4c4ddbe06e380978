import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { planned } from "../../../test/support/samples.ts";
import { attemptWith } from "../../../test/support/snapshots.ts";
import { estimatePlan, type FinishedWork, listFinishedWork, measureSpread, tellKind } from "./estimate.ts";
import type { PlannedNode } from "./plan.ts";
import { partsOfPlan } from "./plan-pieces.ts";

const MIN = 60_000;
const P = (...children: PlannedNode[]) => [planned("P1", { children })];
const DEFAULTS = { capability: "builder", runtime: "claude-code", runtimes: {} };

const SPREADS: [why: string, values: number[], low: number, median: number, high: number, few: boolean][] = [
  ["of three, the least and the most", [3, 1, 2], 1, 2, 3, true],
  ["of four, between the middle two", [1, 2, 4, 10], 1, 3, 10, true],
  ["of seven, still the least and the most", [1, 2, 3, 4, 5, 6, 100], 1, 4, 100, true],
  ["of eight, the quartiles", [1, 2, 3, 4, 5, 6, 7, 800], 2.75, 4.5, 6.25, false],
];
test.each(SPREADS)("PLAN-1: spread: %s", (_why, values, low, median, high, isRange) => {
  expect(measureSpread(values)).toEqual({ low, median, high, isRange });
});

const usage = (costUsd: number, inputTokens = 100) => ({ ...NO_USAGE, inputTokens, outputTokens: 10, costUsd });
const ended = (number: number, node: string, parts: object = {}) =>
  attemptWith({
    attempt: number,
    workNodeId: node,
    capability: "builder",
    runtime: "claude-code",
    status: "ended",
    createdAt: 0,
    startedAt: MIN,
    endedAt: 11 * MIN,
    end: { cause: "finished", detail: "", exitCode: 0, signal: null, usage: usage(1), wip: null },
    ...parts,
  });

describe("PLAN-1: what finished work took", () => {
  test("is what all its attempts took together, by the role and the runtime of the last", () => {
    const first = ended(1, "T1", { capability: "scout", endedAt: 3 * MIN });
    const tries = [first, ended(2, "T1"), ended(3, "T2")].map((attempt) => ({ attempt, lastActAt: null }));
    expect(listFinishedWork(tries)).toEqual([
      { capability: "builder", runtime: "claude-code", workingMs: 12 * MIN, tokens: 220, costUsd: 2 },
      { capability: "builder", runtime: "claude-code", workingMs: 10 * MIN, tokens: 110, costUsd: 1 },
    ]);
  });

  test("does not count the wait for a review after its last act", () => {
    const [work] = listFinishedWork([{ attempt: ended(1, "T1", { endedAt: 900 * MIN }), lastActAt: 5 * MIN }]);
    expect(work?.workingMs).toBe(4 * MIN);
  });

  test("an act by a clock that was set back, or after the end, changes nothing", () => {
    const took = (lastActAt: number) => listFinishedWork([{ attempt: ended(1, "T1"), lastActAt }])[0]?.workingMs;
    expect([took(0), took(99 * MIN)]).toEqual([10 * MIN, 10 * MIN]);
  });

  test("is not told of work that still has an agent, nor of a session that a person led", () => {
    const living = { attempt: ended(2, "T1", { status: "running", end: null, endedAt: null }), lastActAt: null };
    const led = { attempt: ended(3, "T2", { interactive: true }), lastActAt: null };
    expect(listFinishedWork([{ attempt: ended(1, "T1"), lastActAt: null }, living, led])).toEqual([]);
  });
});

const took = (minutes: number, costUsd: number, parts: Partial<FinishedWork> = {}): FinishedWork => ({
  capability: "builder",
  runtime: "claude-code",
  workingMs: minutes * MIN,
  tokens: 1_000 * minutes,
  costUsd,
  ...parts,
});
const THREE = [took(10, 1), took(20, 2), took(60, 6)];

describe("PLAN-1: the estimate of a plan", () => {
  const plan = partsOfPlan(P(planned("A"), planned("B", { deps: ["A"] }), planned("C")));

  test("adds up the cost of all, and the time along the path that places allow", () => {
    expect(estimatePlan(plan, { finished: THREE, defaults: DEFAULTS, places: 2 })).toEqual({
      ...{ pieces: 3, places: 2, width: 2, agents: 2, rounds: 2, estimated: 3 },
      path: { path: ["A", "B"], length: 40 * MIN, unit: "ms" },
      time: { low: 20 * MIN, median: 40 * MIN, high: 120 * MIN, isRange: true },
      tokens: { low: 30_000, median: 60_000, high: 180_000, isRange: true },
      cost: { low: 3, median: 6, high: 18, isRange: true },
      kinds: [{ capability: "builder", runtime: "claude-code", pieces: 3, finished: 3, isKnown: true }],
    });
  });

  test("takes longer where there are fewer places than could be used", () => {
    const estimate = estimatePlan(plan, { finished: THREE, defaults: DEFAULTS, places: 1 });
    expect(estimate).toMatchObject({ width: 2, agents: 1, rounds: 3, time: { median: 60 * MIN } });
  });

  test("invents nothing: two finished tasks are too few, and others are no measure", () => {
    const others = [took(1, 1, { capability: "scout" }), took(1, 1, { runtime: "scripted" })];
    const estimate = estimatePlan(plan, { finished: [...THREE.slice(1), ...others], defaults: DEFAULTS, places: 5 });
    expect(estimate).toMatchObject({ estimated: 0, time: null, tokens: null, cost: null });
    expect(estimate.path).toEqual({ path: ["A", "B"], length: 2, unit: "tasks" });
    expect(estimate.kinds).toMatchObject([{ finished: 2, isKnown: false }]);
  });

  test("of which a part is known says the cost of that part, and no time", () => {
    const mixed = partsOfPlan(P(planned("A"), planned("B", { hints: { capability: "scout" } })));
    const estimate = estimatePlan(mixed, { finished: THREE, defaults: DEFAULTS, places: 5 });
    expect(estimate).toMatchObject({ pieces: 2, estimated: 1, time: null, cost: { median: 2 } });
    expect(estimate.kinds.map(tellKind)).toEqual(["builder on claude-code", "scout on claude-code"]);
  });

  test("follows the runtime that a task or its role names", () => {
    const named = partsOfPlan(
      P(
        planned("A", { hints: { runtime: "scripted" } }),
        planned("B", { hints: { capability: "scout" } }),
        planned("C", { hints: { suggestedAgentType: "scout", runtime: "codex" } }),
      ),
    );
    const { kinds } = estimatePlan(named, {
      finished: [],
      defaults: { ...DEFAULTS, runtimes: { scout: "pi" } },
      places: 5,
    });
    expect(kinds.map(tellKind)).toEqual(["builder on scripted", "scout on pi", "scout on codex"]);
  });

  test("of nothing left is nothing", () => {
    const nothing = estimatePlan([], { finished: THREE, defaults: DEFAULTS, places: 5 });
    expect(nothing).toMatchObject({ pieces: 0, width: 0, agents: 0, rounds: 0, time: null, cost: null });
  });
});

import { describe, expect, test } from "bun:test";
import { type Condition, quotaId } from "#domain/model/condition.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { applyToModels } from "#domain/model/model-spending.ts";
import { NOTHING_SPENT } from "#domain/model/usage-totals.ts";
import { placed } from "../../../test/support/tree.ts";
import { type ModelAsking, roomForCall } from "./model-calls.ts";
import { tripByCall } from "./quota.ts";

const NOW = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;
const FREE = { tokens: null, cost: null, timeMs: null };

function asked(more: object = {}, at = NOW - 5_000, goalId = "goal_A") {
  const data = {
    ...{ callId: "Q_1", purpose: "ai-resolve", prompt: "p", promptHash: "h", model: null, inputBytes: 9, logPath: "" },
    ...{ tries: 1, ok: true, problems: [], costUsd: 2, durationMs: 1_000 },
    tokens: { inputTokens: 70, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ...more,
  };
  return { ...placed({ type: "model.asked", actor: "overseer", goalId, because: "x", data } as NewEvent), at } as never;
}

const quota = (more: object): Condition => ({
  ...{ conditionId: quotaId("claude-code/default"), kind: "quota", account: "claude-code/default", active: true },
  ...{ phase: "tripped", until: NOW + MINUTE, trips: 1, probe: null, since: 0, updatedAt: 0 },
  ...(more as { phase?: "tripped" }),
});

const spent = (costUsd: number, goal = 0) => ({
  agents: {},
  goals: { goal_A: { ...NOTHING_SPENT, costUsd: goal } },
  day: { ...NOTHING_SPENT, costUsd },
  today: "2026-03-01",
});

function asking(more: Partial<ModelAsking> = {}): ModelAsking {
  return {
    now: NOW,
    account: "claude-code/default",
    goalId: "goal_A",
    conditions: [],
    usage: spent(0),
    budgets: { warnAt: 0.8, agent: FREE, goal: FREE, day: FREE },
    perTick: 1,
    tickMs: 30_000,
    first: true,
    ...more,
  };
}

const day = (cost: number) => ({ warnAt: 0.8, agent: FREE, goal: FREE, day: { ...FREE, cost } });
const goal = (cost: number) => ({ warnAt: 0.8, agent: FREE, goal: { ...FREE, cost }, day: FREE });
const one = applyToModels(undefined, asked());

type Hold = readonly [detail: string, until: number | null] | null;
const allowance = (cost: number): Condition => ({
  ...{ conditionId: "allowance:goal:goal_A", kind: "allowance", scope: "goal:goal_A", active: true },
  ...{ raised: {}, limit: { cost }, since: 0, updatedAt: 0 },
});
const ROOM: [why: string, asking: Partial<ModelAsking>, hold: Hold][] = [
  ["nothing stands in the way", {}, null],
  ["the account is closed", { conditions: [quota({})] }, ["quota of claude-code/default is used up", NOW + MINUTE]],
  [
    "what a person lets the goal cost is spent",
    { conditions: [allowance(3)], usage: spent(4, 4) },
    ["the budget of goal_A is used up (3 US dollars)", NOW + 10 * MINUTE],
  ],
  ["what a person lets the goal cost is not spent", { conditions: [allowance(9)], usage: spent(4, 4) }, null],
  ["the account of somebody else's command", { conditions: [quota({})], account: null }, null],
  ["another account is closed", { conditions: [quota({})], account: "codex/default" }, null],
  ["it was closed once", { conditions: [quota({ active: false })] }, null],
  ["its time is up", { conditions: [quota({ until: NOW })] }, null],
  ["an agent tries it first", { conditions: [quota({ phase: "probing", until: 0 })] }, ["quota", NOW + 30_000]],
  [
    "the day is spent",
    { budgets: day(9), usage: spent(9) },
    ["budget of the day is used up (9 US dollars)", NOW + 10 * MINUTE],
  ],
  [
    "the day is spent, shortly before midnight",
    { budgets: day(9), usage: spent(9), now: Date.UTC(2026, 2, 1, 23, 59) },
    ["budget of the day", Date.UTC(2026, 2, 2)],
  ],
  ["the day is not spent", { budgets: day(9), usage: spent(8.9) }, null],
  ["the goal is spent", { budgets: goal(9), usage: spent(0, 9) }, ["budget of goal_A is used up", NOW + 10 * MINUTE]],
  ["it belongs to no goal", { budgets: goal(9), usage: spent(0, 9), goalId: undefined }, null],
  ["the tick had its call", { conditions: [one] }, ["a model was asked once just now", NOW + 30_000]],
  ["two are allowed", { conditions: [one], perTick: 2 }, null],
  ["it continues with what has begun", { conditions: [one], first: false }, null],
  ["the call was in an earlier tick", { conditions: [one], now: NOW + 30_000 }, null],
  ["models are switched off", { perTick: 0 }, ["model calls are off", null]],
];
test.each(ROOM)("BUDGET-1, QUOTA-1: whether a model is asked: %s", (_why, more, hold) => {
  const room = roomForCall(asking(more));
  expect(room.ok).toBe(hold === null);
  if (!room.ok) expect([room.detail, room.until]).toEqual([expect.stringContaining(hold?.[0] ?? ""), hold?.[1]]);
});

test("BUDGET-1: a call may cost what is left, of whatever has least left", () => {
  const budgets = { ...day(9), goal: { ...FREE, cost: 5 } };
  expect(roomForCall(asking({ budgets, usage: spent(2, 4) }))).toEqual({ ok: true, maxCostUsd: 1 });
  expect(roomForCall(asking())).toEqual({ ok: true, maxCostUsd: null });
});

describe("METRIC-1: what calls have cost", () => {
  test("is kept for the day, the goal and the purpose", () => {
    const two = applyToModels(one, asked({ purpose: "reimagine", ok: false, tries: 3, costUsd: null, tokens: null }));
    expect(two).toMatchObject({
      day: "2026-03-01",
      spent: { inputTokens: 70, outputTokens: 20, costUsd: 2, turns: 4, workingMs: 2_000 },
      goals: { goal_A: { costUsd: 2, turns: 4 } },
      purposes: { "ai-resolve": { asked: 1, answered: 1 }, reimagine: { asked: 1, answered: 0, turns: 3 } },
      lately: [NOW - 6_000, NOW - 6_000],
    });
  });

  test("begins again every day, but not for the goal", () => {
    const later = applyToModels(one, asked({ costUsd: 3 }, NOW + 24 * 60 * MINUTE));
    expect(later).toMatchObject({ day: "2026-03-02", spent: { costUsd: 3 }, goals: { goal_A: { costUsd: 5 } } });
  });

  test("is nothing where no model was reached, and that is no call of this tick", () => {
    const none = applyToModels(undefined, asked({ tries: 0, ok: false, costUsd: null, tokens: null }));
    expect(none).toMatchObject({ spent: NOTHING_SPENT, goals: {}, lately: [] });
    expect(none.purposes).toMatchObject({ "ai-resolve": { asked: 1, answered: 0 } });
  });
});

test("QUOTA-1: a call that was given up closes the account, once and until the time that was named", () => {
  const backoff = { baseMs: MINUTE, maxMs: 60 * MINUTE };
  const until = (known: Condition | undefined, resetsAt: number | null) =>
    tripByCall(known, "a", resetsAt, backoff, NOW).map((event) => (event.type === "quota.tripped" ? event.data : null));
  expect(until(undefined, NOW + 7)).toEqual([{ account: "a", until: NOW + 7, trips: 1 }]);
  expect(until(undefined, null)).toEqual([{ account: "a", until: NOW + MINUTE, trips: 1 }]);
  expect(until(quota({ trips: 2 }), null)).toEqual([{ account: "a", until: NOW + 4 * MINUTE, trips: 3 }]);
  expect(until(quota({ until: NOW + 9 * MINUTE }), null)).toEqual([]);
});

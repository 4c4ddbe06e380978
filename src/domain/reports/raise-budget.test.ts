/** What a person's words mean for a spent budget. */
import { describe, expect, test } from "bun:test";
import type { BudgetCondition } from "#domain/model/condition.ts";
import { T0 } from "../../../test/support/samples.ts";
import { answerAboutBudget, parseAmount, raiseBudget } from "./raise-budget.ts";

const ADA = { now: T0, actor: "human:ada" } as const;
const MINUTE = 60_000;
const budget = (parts: Partial<BudgetCondition>): BudgetCondition => ({
  ...{ conditionId: "budget:agent:7", kind: "budget", scope: "agent:7", active: true, phase: "paused", turns: {} },
  ...{
    since: T0,
    updatedAt: T0,
    node: "goal_A/T1",
    what: "tokens",
    spent: 1_200,
    spentAt: T0,
    limit: 1_000,
    by: "node",
  },
  ...parts,
});

describe("BUDGET-1", () => {
  const time = { what: "time", spent: 60 * MINUTE, spentAt: T0 - 30 * MINUTE, limit: 60 * MINUTE } as const;
  const goal = { scope: "goal:goal_A", node: null, by: "goal" } as const;
  const cases: [string, Partial<BudgetCondition>, object][] = [
    ["continue with as much again", {}, { scope: "node:goal_A/T1", raised: { tokens: 2_200 } }],
    ["Raise by 500k", {}, { scope: "node:goal_A/T1", raised: { tokens: 501_200 } }],
    ["raise to 2M tokens", {}, { scope: "node:goal_A/T1", raised: { tokens: 2_000_000 } }],
    ["+ 800", {}, { scope: "node:goal_A/T1", raised: { tokens: 2_000 } }],
    ["raise by $5", { what: "cost", spent: 10.5, limit: 10 }, { scope: "node:goal_A/T1", raised: { cost: 15.5 } }],
    // Half an hour was spent on waiting for the answer.
    ["raise by 1h", time, { scope: "node:goal_A/T1", raised: { timeMs: 150 * MINUTE } }],
    ["raise to 3000", goal, { scope: "goal:goal_A", raised: { tokens: 3_000 } }],
    [
      "raise by 1k",
      { scope: "day:2026-01-06", node: null, by: "day" },
      { scope: "day:2026-01-06", raised: { tokens: 2_200 } },
    ],
  ];
  test.each(cases)("%s, of %j", (words, parts, expected) => {
    const meant = answerAboutBudget(budget(parts), words, ADA);
    expect(meant.ok && meant.value.events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "budget.raised", data: expected } as never,
    ]);
  });

  test("its agent is stopped, or left as it is", () => {
    const value = (words: string) => {
      const meant = answerAboutBudget(budget({}), words, ADA);
      return meant.ok && meant.value;
    };
    expect(value("stop it")).toEqual({ events: [], stops: 7 });
    expect(value("leave it paused")).toEqual({ events: [], stops: null });
  });

  test.each([
    ["go on", "ANSWER_NOT_UNDERSTOOD"],
    ["raise by an inch", "ANSWER_NOT_UNDERSTOOD"],
    ["raise by 2h", "ANSWER_NOT_UNDERSTOOD"],
    ["raise to 1100", "BUDGET_STILL_SPENT"],
  ])("words that would leave it paused for ever are refused: %s", (words, code) => {
    const meant = answerAboutBudget(budget({}), words, ADA);
    expect(meant.ok ? "taken" : meant.refusal.code).toBe(code);
  });

  test("an agent grants itself nothing, and nothing is no raise", () => {
    const code = (one: ReturnType<typeof raiseBudget>) => (one.ok ? "taken" : one.refusal.code);
    const agent = { now: T0, actor: "agent:b-1#7" } as const;
    expect(code(raiseBudget("node:a/b", { tokens: 1 }, {}, [], agent))).toBe("BUDGET_NOT_YOURS");
    expect(code(raiseBudget("node:a/b", {}, {}, [], ADA))).toBe("BUDGET_EMPTY");
    expect(code(raiseBudget("node:a/b", { tokens: 0 }, {}, [], ADA))).toBe("BUDGET_EMPTY");
    expect(code(raiseBudget("node:a/b", { tokens: null }, {}, [], ADA))).toBe("taken");
  });

  test.each([
    ["node:goal_A/T1", { tokens: 1_200 }, {}, "BUDGET_STILL_SPENT"],
    ["node:goal_A/T1", { tokens: 1_201 }, {}, "taken"],
    ["node:goal_A/T1", { tokens: null }, {}, "taken"],
    ["node:goal_A/T1", { cost: 1 }, {}, "taken"],
    ["node:goal_A/T2", { tokens: 1 }, {}, "taken"],
    ["node:goal_A/T1", { tokens: 1 }, { active: false }, "taken"],
    ["goal:goal_A", { tokens: 1_200 }, goal, "BUDGET_STILL_SPENT"],
    ["node:goal_A/T1", { timeMs: 89 * MINUTE }, time, "BUDGET_STILL_SPENT"],
    ["node:goal_A/T1", { timeMs: 91 * MINUTE }, time, "taken"],
  ] as const)("what is spent already is no raise: %s to %j of %j", (scope, raised, parts, code) => {
    const decision = raiseBudget(scope, raised, {}, [budget(parts)], ADA);
    expect(decision.ok ? "taken" : decision.refusal.code).toBe(code);
  });

  test("where no one agent is meant, there is nobody to stop", () => {
    const meant = answerAboutBudget(budget(goal), "stop it", ADA);
    expect(meant.ok ? "taken" : meant.refusal.code).toBe("ANSWER_NOT_UNDERSTOOD");
  });

  test("amounts as people write them", () => {
    const said = ["12", "1.5k", "2M", "-3", "", "1e9", "9".repeat(300), "9".repeat(17)].map((text) =>
      parseAmount(text, "tokens"),
    );
    expect(said).toEqual([12, 1_500, 2_000_000, undefined, undefined, undefined, undefined, undefined]);
    expect(["90m", "2h", "3"].map((text) => parseAmount(text, "time"))).toEqual([5_400_000, 7_200_000, undefined]);
  });
});

/** The budgets of the configuration as the rules judge by them. */
import type { Limits } from "#domain/tick/snapshot.ts";
import type { Config } from "./schema.ts";

export function budgetLimits({ budgets }: Pick<Config, "budgets">): Limits["budgets"] {
  const allowance = (one: Config["budgets"]["agent"]) => ({ tokens: one.tokens, cost: one.cost, timeMs: one.time });
  return {
    warnAt: budgets.warnAt / 100,
    agent: allowance(budgets.agent),
    goal: allowance(budgets.goal),
    day: allowance(budgets.day),
  };
}

/** Whether anything is limited at all: counting what was spent costs, and most have no limits. */
export function hasBudgets({ agent, goal, day }: Limits["budgets"]): boolean {
  return [agent, goal, day].some((one) => one.tokens !== null || one.cost !== null || one.timeMs !== null);
}

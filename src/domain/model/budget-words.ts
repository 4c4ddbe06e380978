/**
 * A spent budget in words: whose it is, how much of it, who set the limit, and how a person raises it. The question to a
 * person, `status`, `why` and the news say the same, because they ask here.
 */
import type { BudgetCondition } from "./condition.ts";
import { ALLOWANCE_KEYS, type Spendable } from "./limits.ts";

export type BudgetSaid = Pick<BudgetCondition, "scope" | "node" | "what" | "spent" | "limit" | "by" | "role">;

/** Whose budget it is: `goal_x/T1`, `goal_x`, `today`. */
export function nameBudget({ scope, node }: BudgetSaid): string {
  if (node !== undefined && node !== null) return node;
  if (scope.startsWith("goal:")) return scope.slice("goal:".length);
  return scope.startsWith("day:") ? `the day ${scope.slice("day:".length)}` : scope;
}

/** ` (1200 of 1000 tokens)`; nothing where an older version did not say how much. */
export function describeSpent({ what, spent, limit }: BudgetSaid): string {
  if (what === undefined || spent === undefined || limit === undefined) return "";
  return ` (${describeAmount(what, spent)} of ${describeAmount(what, limit)})`;
}

export function describeAmount(what: Spendable, amount: number): string {
  if (what === "cost") return `$${amount.toFixed(2)}`;
  if (what === "tokens") return `${Math.round(amount)} tokens`;
  const minutes = amount / 60_000;
  return minutes < 1 ? `${Math.round(amount / 1_000)} s` : `${Math.round(minutes)} min`;
}

/** Who set the limit and where, as a clause: raising another than this one does not help. */
export function describeOrigin({ scope, what, by, role }: BudgetSaid): string {
  const key = what ?? "*";
  switch (by) {
    case "node":
      return `the limit is the node's own, budget.${key} in its plan, and goes before its role and the configuration`;
    case "role":
      return `the limit is that of its role, limits.budget.${key} in .overseer/roles/${role ?? "<role>"}.yaml, and goes before the configuration`;
    case "person":
      return "the limit is what a person has set it to";
    default: {
      const whose = by === "fleet" || scope.startsWith("agent:") ? "agent" : scope.startsWith("goal:") ? "goal" : "day";
      const ends = whose === "day" ? ", and a new day begins at midnight UTC" : "";
      return `the limit is budgets.${whose}.${key} in .overseer/config.yaml${ends}`;
    }
  }
}

/** The command that raises it, whoever set it; null for a day, which the configuration or an answer raises. */
export function commandToRaise({ scope, node, what }: BudgetSaid): string | null {
  const flag = what === "time" ? "--time <duration>" : `--${what ?? "tokens"} <n>`;
  if (node !== undefined && node !== null) return `overseer work budget ${node} ${flag}`;
  return scope.startsWith("goal:") ? `overseer goal budget ${scope.slice("goal:".length)} ${flag}` : null;
}

/** What of an allowance is meant by a limit on this. */
export function allowanceOf(what: Spendable, limit: number | null) {
  return { [ALLOWANCE_KEYS[what]]: limit };
}

/** The allowance that a spent budget is raised by: an agent's follows its node, so that a restart keeps it. */
export function scopeToRaise({ scope, node }: Pick<BudgetSaid, "scope" | "node">): string {
  return node !== undefined && node !== null ? nodeScope(node) : scope;
}

export function nodeScope(node: string): string {
  return `node:${node}`;
}

export const CONTINUE_ANSWER = "continue with as much again";
export const STOP_ANSWER = "stop it";
export const LEAVE_ANSWER = "leave it paused";

/** The numbers of the configuration as the rules judge by them. */
import { accountOf } from "#domain/tick/account.ts";
import { repeatsForLadder } from "#domain/tick/liveness.ts";
import type { Limits } from "#domain/tick/snapshot.ts";
import type { Config } from "./schema.ts";

/** What roles say for their agents, by name; those that say nothing are left out. */
export interface RoleSays {
  readonly limits: Limits["roles"];
  readonly runtimes: Readonly<Record<string, string>>;
}

/** Every number of the configuration that a rule judges by, and what roles say for their agents. */
export function limitsOf(config: Config, byRole: RoleSays = { limits: {}, runtimes: {} }): Limits {
  const { reconcile, ladder, watch, reflex, agents, quota, provider, massDeath } = config;
  return {
    enabled: reconcile.enabled,
    idleAfterMs: reconcile.idleAfter,
    roles: byRole.limits,
    startingLimitMs: reconcile.startingLimit,
    toolLimitMs: reconcile.toolLimit,
    minimumAgeMs: reconcile.minimumAge,
    zombieAfterMs: watch.zombieAfter,
    loopRepeats: repeatsForLadder(reflex),
    ladder: {
      hint: ladder.nudges.hint,
      warning: ladder.nudges.warning,
      critical: ladder.nudges.critical,
      resend: ladder.resend,
      replan: ladder.replan,
      reassign: ladder.reassign,
      pause: ladder.pause,
      restarts: ladder.restarts,
      patienceMs: ladder.patience,
      backoff: { baseMs: reconcile.backoff.base, maxMs: reconcile.backoff.max },
      minResendIntervalMs: reconcile.minResendInterval,
    },
    fleet: {
      maxConcurrent: agents.maxConcurrent,
      maxDepth: agents.maxDepth,
      startsPerMinute: agents.startsPerMinute,
      staggerMs: agents.stagger,
    },
    quotaBackoff: { baseMs: quota.backoff.base, maxMs: quota.backoff.max },
    provider: {
      patienceMs: provider.patience,
      backoff: { baseMs: provider.backoff.base, maxMs: provider.backoff.max },
    },
    massDeath: { count: massDeath.count, withinMs: massDeath.within },
    budgets: budgetLimits(config),
    defaultAccount: accountOf(config.runtime),
    roleAccounts: Object.fromEntries(Object.entries(byRole.runtimes).map(([role, name]) => [role, accountOf(name)])),
    defaultCapability: "builder",
  };
}

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

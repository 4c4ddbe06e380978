/** The numbers of the configuration as the rules judge by them. */
import type { Condition } from "#domain/model/condition.ts";
import { accountOf } from "#domain/tick/account.ts";
import { repeatsForLadder } from "#domain/tick/liveness.ts";
import type { Limits } from "#domain/tick/snapshot.ts";
import type { Config } from "./schema.ts";

/** What roles say for their agents, by name; those that say nothing are left out. */
export interface RoleSays {
  readonly limits: Limits["roles"];
  readonly runtimes: Readonly<Record<string, string>>;
  /** Those whose sessions may be given a next piece. */
  readonly continuing: readonly string[];
  /** Those that only read. */
  readonly readOnly: readonly string[];
  /** The stronger model of those that allow one. */
  readonly strongerModels: Readonly<Record<string, string>>;
}

const NO_ROLES: RoleSays = { limits: {}, runtimes: {}, continuing: [], readOnly: [], strongerModels: {} };

/** Every number of the configuration that a rule judges by, and what roles say for their agents. */
export function limitsOf(config: Config, byRole: RoleSays = NO_ROLES): Limits {
  const { reconcile, recovery, reflex, agents, quota, provider } = config;
  const { steps, massDeath } = recovery;
  return {
    enabled: reconcile.enabled,
    idleAfterMs: recovery.silentAfter,
    roles: byRole.limits,
    startingLimitMs: recovery.firstSignWithin,
    toolLimitMs: recovery.hungCallAfter,
    minimumAgeMs: recovery.judgedFromAge,
    zombieAfterMs: recovery.deadAfter,
    loopRepeats: repeatsForLadder(reflex),
    ladder: {
      hint: steps.hints,
      warning: steps.warnings,
      critical: steps.lastWarnings,
      resend: steps.interrupts,
      replan: steps.splits,
      reassign: steps.freshAgents,
      pause: steps.pauses,
      restarts: recovery.restarts,
      patienceMs: recovery.nextStepAfter,
      backoff: { baseMs: recovery.backoff.base, maxMs: recovery.backoff.max },
      minResendIntervalMs: recovery.sameWordsAfter,
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
    continuing: byRole.continuing,
    crossAgent: config.policy.allowCrossAgent,
    defaultCapability: "builder",
    readOnly: byRole.readOnly,
    strongerModels: byRole.strongerModels,
    planner: plannerLimits(config),
    triage: triageLimits(config),
    auto: null,
  };
}

/** Waiting its turn, and being looked for, takes a while too. */
const MODEL_TURN_MS = 60_000;

export function plannerLimits({ planner, reconcile }: Pick<Config, "planner" | "reconcile">): Limits["planner"] {
  const { enabled, timeout, repairs, replansPerNode, diagnoseStalls, diagnosesPerHour } = planner;
  const off = !enabled
    ? "planning by a model is off (planner.enabled)"
    : reconcile.modelCallsPerTick === 0
      ? "model calls are off (reconcile.modelCallsPerTick is 0)"
      : null;
  const turn = Math.max(MODEL_TURN_MS, 2 * reconcile.tickEvery);
  return {
    ...{ off, replansPerNode, diagnoseStalls, diagnosesPerHour },
    splitWithinMs: timeout * (1 + repairs) + turn,
    diagnoseWithinMs: timeout + turn,
  };
}

/** Null where no model is asked about failures. */
export function triageLimits({ watch, reconcile }: Pick<Config, "watch" | "reconcile">): Limits["triage"] {
  if (!watch.triage.enabled || reconcile.modelCallsPerTick === 0) return null;
  return { withinMs: watch.triage.timeout + Math.max(MODEL_TURN_MS, 2 * reconcile.tickEvery) };
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

/** Whether anything is limited at all, by the configuration or a person: counting what was spent costs, and most have no limits. */
export function hasBudgets({ agent, goal, day }: Limits["budgets"], conditions: readonly Condition[]): boolean {
  return (
    [agent, goal, day].some((one) => one.tokens !== null || one.cost !== null || one.timeMs !== null) ||
    conditions.some((one) => one.kind === "allowance" && one.limit !== undefined)
  );
}

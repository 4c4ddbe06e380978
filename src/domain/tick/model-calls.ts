/**
 * When Overseer asks a model by itself, and when not: a call is held back while its account has no quota or its
 * provider fails, when the
 * budget of the day or of its goal is spent, and when this tick has had its share. What needs it waits in the open
 * then, and nothing is lost. How a model is asked is planner/ask-model.ts; what calls have cost, model-spending.ts.
 */

import { hasPassed, isDue } from "#domain/core/elapsed.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { allowanceId, type Condition, MODELS, providerId, quotaId } from "#domain/model/condition.ts";
import { type Allowance, resolveAllowance } from "#domain/model/limits.ts";
import { describeProviderFailure } from "#domain/model/provider-cause.ts";
import { DAY_MS, type Spent, startOfDay, type UsageTotals } from "#domain/model/usage-totals.ts";
import { findLargestShare } from "./budget.ts";
import type { Limits } from "./snapshot.ts";

export interface ModelAsking {
  readonly now: number;
  /** Whose quota it would use; null where that is not ours to know. */
  readonly account: string | null;
  readonly goalId: string | undefined;
  readonly conditions: readonly Condition[];
  readonly usage: UsageTotals;
  readonly budgets: Limits["budgets"];
  readonly perTick: number;
  readonly tickMs: number;
  /** The first call of a piece of work; what has begun may continue within the same tick. */
  readonly first: boolean;
}

export type ModelRoom =
  | {
      readonly ok: true;
      /** What the call may cost before no further try is made; null is no limit. */
      readonly maxCostUsd: number | null;
    }
  | {
      readonly ok: false;
      /** Why, as a clause. */
      readonly detail: string;
      /** When to look again; null where models are not asked at all. */
      readonly until: number | null;
    };

/** A raised limit is noticed after this long at the latest. */
const BUDGET_LOOK_MS = 10 * 60_000;

export function roomForCall(asking: ModelAsking): ModelRoom {
  const { now, perTick, tickMs } = asking;
  if (perTick === 0) {
    return { ok: false, detail: "model calls are off (reconcile.modelCallsPerTick is 0)", until: null };
  }
  const failing = findFailing(asking);
  if (failing) return failing;
  const closed = findClosedUntil(asking);
  if (closed !== undefined) {
    const detail = `the quota of ${asking.account} is used up, so no model can be asked before ${isoTime(closed)}`;
    return { ok: false, detail, until: closed };
  }
  const scopes = scopesOf(asking);
  const spent = scopes.find(({ share }) => share.share >= 1);
  if (spent) {
    const { what, limit } = spent.share;
    const detail = `the budget of ${spent.name} is used up (${limit} ${UNITS[what]}), so no model is asked`;
    return { ok: false, detail, until: Math.min(now + BUDGET_LOOK_MS, spent.until) };
  }
  const begun = lately(asking).filter((at) => !hasPassed(at, tickMs, now)).length;
  if (asking.first && begun >= perTick) {
    const detail = `a model was asked ${begun === 1 ? "once" : `${begun} times`} just now, and may be asked again a little later (reconcile.modelCallsPerTick)`;
    return { ok: false, detail, until: now + tickMs };
  }
  const left = scopes.flatMap(({ left: one }) => one ?? []);
  return { ok: true, maxCostUsd: left.length === 0 ? null : Math.min(...left) };
}

const UNITS = { tokens: "tokens", cost: "US dollars", time: "ms of working time" } as const;

/** Until when the account is closed; while one agent tries whether it is open again, our own call waits for it. */
function findClosedUntil({ account, conditions, now, tickMs }: ModelAsking): number | undefined {
  if (account === null) return undefined;
  const known = conditions.find(({ conditionId }) => conditionId === quotaId(account));
  if (known?.kind !== "quota" || !known.active) return undefined;
  if (known.phase === "probing") return now + tickMs;
  return isDue(known.until, known.updatedAt, now) ? undefined : known.until;
}

/** Our own call would fare as the agents' turns do; it waits until one of them has found that it works again. */
function findFailing({ account, conditions, now, tickMs }: ModelAsking): ModelRoom | undefined {
  const known = conditions.find(({ conditionId }) => conditionId === providerId(account ?? ""));
  if (known?.kind !== "provider" || !known.active) return undefined;
  const detail = `${describeProviderFailure(known.account, known.cause, known.detail)}, so no model is asked`;
  return { ok: false, detail, until: now + tickMs };
}

function scopesOf({ usage, budgets, goalId, now, conditions }: ModelAsking) {
  const tomorrow = startOfDay(now) + DAY_MS;
  const raise = (set: Allowance, scope: string) => {
    const granted = conditions.find(({ conditionId }) => conditionId === allowanceId(scope));
    return resolveAllowance(set, granted?.kind === "allowance" ? granted : undefined);
  };
  const today = raise(budgets.day, `day:${usage.today}`);
  const all = [{ name: "the day", spent: usage.day as Spent | undefined, allowance: today, until: tomorrow }];
  if (goalId !== undefined) {
    const never = Number.POSITIVE_INFINITY;
    const allowance = raise(budgets.goal, `goal:${goalId}`);
    all.push({ name: goalId, spent: usage.goals[goalId], allowance, until: never });
  }
  return all.map(({ name, spent, allowance, until }) => ({
    name,
    until,
    share: findLargestShare(spent, allowance),
    left: allowance.cost === null ? undefined : Math.max(0, allowance.cost - (spent?.costUsd ?? 0)),
  }));
}

function lately({ conditions }: ModelAsking): readonly number[] {
  const known = conditions.find(({ conditionId }) => conditionId === MODELS);
  return known?.kind === "models" ? known.lately : [];
}

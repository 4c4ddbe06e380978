/**
 * What has been spent, by whom and when: living and ended attempts, and the models that were asked beside them. Budgets
 * are judged by these sums, whoever computes them: the tick for agents, act/ask-model.ts before a call.
 */

import { isoTime } from "#domain/core/iso-time.ts";
import type { Attempt, Usage } from "./attempt.ts";
import { NO_USAGE, sumOfUsage } from "./attempt.ts";
import type { ModelsCondition } from "./condition.ts";

export interface UsageTotals {
  /** By attempt number; those that live. */
  readonly agents: Readonly<Record<string, Usage & { readonly workingMs: number }>>;
  /** By goal id, everything ever spent on it. */
  readonly goals: Readonly<Record<string, Usage & { readonly workingMs: number }>>;
  /** The whole fleet, this calendar day. */
  readonly day: Usage & { readonly workingMs: number };
  /** Which day that is, e.g. `2026-03-01`. */
  readonly today: string;
}

export type Spent = UsageTotals["day"];

export const NOTHING_SPENT: Spent = { ...NO_USAGE, workingMs: 0 };

export const DAY_MS = 86_400_000;

export function startOfDay(now: number): number {
  return now - (now % DAY_MS);
}

export function dayOf(now: number): string {
  return isoTime(now).slice(0, 10);
}

/** An attempt's working time is the time since its start. */
export function usageTotals(
  living: readonly { readonly attempt: Attempt; readonly usage: Usage | undefined }[],
  attempts: readonly Attempt[],
  models: ModelsCondition | undefined,
  now: number,
): UsageTotals {
  const since = startOfDay(now);
  const byAgent: Record<string, Spent> = {};
  const byGoal: Record<string, Spent> = { ...models?.goals };
  let day: Spent = models?.day === dayOf(now) ? models.spent : NOTHING_SPENT;
  const add = (attempt: Attempt, spent: Spent) => {
    byGoal[attempt.goalId] = sum(byGoal[attempt.goalId], spent);
    if ((attempt.endedAt ?? now) >= since) day = sum(day, spent);
  };
  for (const { attempt, usage } of living) {
    const spent = { ...(usage ?? NO_USAGE), workingMs: now - (attempt.startedAt ?? now) };
    byAgent[String(attempt.attempt)] = spent;
    add(attempt, spent);
  }
  for (const attempt of attempts) {
    if (!attempt.end) continue;
    const workingMs = (attempt.endedAt ?? now) - (attempt.startedAt ?? attempt.endedAt ?? now);
    add(attempt, { ...attempt.end.usage, workingMs });
  }
  return { agents: byAgent, goals: byGoal, day, today: dayOf(now) };
}

export function sum(a: Spent | undefined, b: Spent): Spent {
  return a ? { ...sumOfUsage([a, b]), workingMs: a.workingMs + b.workingMs } : b;
}

/**
 * Whether another task may be taken from the pool now, and if not, why. A task is taken only when a worker is free for it
 * at once, so that the pool's own list stays the list of what nobody has begun; and never while something holds back
 * whatever would be done with it. Pure.
 */
import { findHold } from "#domain/landing/after-command.ts";
import type { AutoCondition } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Question } from "#domain/model/question.ts";

export interface RunLimits {
  /** So many tasks may wait for a person before no more are taken. */
  readonly maxWaiting: number;
  /** How many tasks this run may take, and what may be spent on them; null is no limit. */
  readonly tasks: number | null;
  readonly budgetUsd: number | null;
}

export interface PoolSeen {
  readonly auto: AutoCondition | undefined;
  /** Workers that auto mode gives tasks to. */
  readonly places: number;
  /** Those that have one. */
  readonly busy: number;
  /** Pieces of work that are ready, and that the next free worker gets. */
  readonly ready: number;
  /** Tasks of the pool that wait for a person. */
  readonly waiting: number;
  /** What open tasks of the pool have cost so far; those that are over are in the condition. */
  readonly openCostUsd: number;
  /** Why nothing at all may be started, as a clause: frozen, safe mode, settings, a machine without room. */
  readonly halted: string | null;
  readonly conditions: readonly Condition[];
  readonly questions: readonly Question[];
  readonly limits: RunLimits;
}

export type PullVerdict =
  | { readonly pull: true }
  /** Not now; `why` is a clause. `finished`: nor ever again in this run. */
  | { readonly pull: false; readonly why: string; readonly finished: boolean };

export function judgePull(seen: PoolSeen): PullVerdict {
  const finished = findLimit(seen);
  if (finished !== undefined) return { pull: false, why: finished, finished: true };
  const why = findObstacle(seen);
  return why === undefined ? { pull: true } : { pull: false, why, finished: false };
}

/** What this run was started for is taken, or its money is spent. */
function findLimit({ auto, openCostUsd, limits: { tasks, budgetUsd } }: PoolSeen): string | undefined {
  const { taken, costUsd } = auto?.run ?? { taken: 0, costUsd: 0 };
  if (tasks !== null && taken >= tasks) return `it was started for ${tasks === 1 ? "one task" : `${tasks} tasks`}`;
  if (budgetUsd !== null && costUsd + openCostUsd >= budgetUsd) {
    return `the $${budgetUsd} that this run may cost are spent ($${(costUsd + openCostUsd).toFixed(2)})`;
  }
  return undefined;
}

function findObstacle(seen: PoolSeen): string | undefined {
  const { auto, limits } = seen;
  if (auto?.failure) return auto.failure.problem;
  if (auto?.paused) return "auto mode is paused";
  if (seen.halted !== null) return seen.halted;
  const held = findHold(seen.questions);
  if (held) return `the command after a landing failed: nothing is taken until ${held.questionId} is answered`;
  for (const condition of seen.conditions) {
    const limited = describeLimit(condition);
    if (limited !== undefined) return limited;
  }
  if (seen.waiting >= limits.maxWaiting) {
    return seen.waiting === 1 ? "one task waits for a person" : `${seen.waiting} tasks wait for a person`;
  }
  if (seen.busy + seen.ready < seen.places) return undefined;
  return seen.ready > 0 && seen.busy < seen.places
    ? `${seen.ready === 1 ? "a task is" : `${seen.ready} tasks are`} ready already, and ${seen.ready === 1 ? "waits" : "wait"} for a worker`
    : "every worker has a task";
}

/** What keeps a fresh agent from working, whichever task it had. */
function describeLimit(condition: Condition): string | undefined {
  if (!condition.active) return undefined;
  switch (condition.kind) {
    case "quota":
      return `the quota of ${condition.account} is used up`;
    case "provider":
      return `the provider of ${condition.account} fails`;
    case "mass-death":
      return "several agents died at once";
    case "start":
      return `no agent can be started: ${condition.problem}`;
    case "budget":
      return condition.scope.startsWith("day:") && condition.phase !== "warned" ? "today's budget is spent" : undefined;
    default:
      return undefined;
  }
}

/** What people may say to auto mode: no more tasks for now, and go on; and that a task of the pool is to be tried again. Pure. */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import type { AutoCondition } from "#domain/model/auto.ts";
import { accept, type Decision } from "#domain/model/decision.ts";

export interface AutoChange {
  readonly changed: boolean;
}

/** Tasks that were taken are finished; no more are taken, also after a restart, until somebody resumes. */
export function pauseAuto(
  auto: AutoCondition | undefined,
  reason: string | null,
  moment: Moment,
): Decision<AutoChange> {
  if (auto?.paused) return accept([], { changed: false });
  return accept([{ type: "auto.paused", actor: moment.actor, because: "asked-for", data: { reason } }], {
    changed: true,
  });
}

export function resumeAuto(
  auto: AutoCondition | undefined,
  reason: string | null,
  moment: Moment,
): Decision<AutoChange> {
  if (!auto?.paused) return accept([], { changed: false });
  return accept([{ type: "auto.resumed", actor: moment.actor, because: "asked-for", data: { reason } }], {
    changed: true,
  });
}

/**
 * Which way a task is tried again: its own node once more, or, where that is over, a new goal with the same words. `again`
 * is the goal as which the same words are open already.
 */
export function judgeRetry(
  node: { readonly status: string; readonly leaf: boolean } | undefined,
  goal: { readonly goalId: string; readonly origin: { readonly kind: string } } | undefined,
  again?: string,
): Decision<"unblock" | "anew"> {
  if (!goal || !node) {
    return refuse(
      "not-found",
      "TASK_UNKNOWN",
      "There is no such task.",
      "'overseer auto' lists the tasks of the pool.",
    );
  }
  if (!goal.origin.kind.startsWith("source:")) {
    return refuse(
      ...(["conflict", "NOT_OF_POOL", `${goal.goalId} is no task of the pool.`] as const),
      `'overseer work unblock' lets other work continue; 'overseer why ${goal.goalId}' says how it stands.`,
    );
  }
  if (node.status === "blocked") return accept([], "unblock");
  if (again !== undefined) {
    return refuse(
      ...(["conflict", "TRIED_ALREADY", `${goal.goalId} is tried again already, as ${again}.`] as const),
      `'overseer why ${again}' says how it stands.`,
    );
  }
  if (node.status === "cancelled") return accept([], "anew");
  return refuse(
    ...([
      "conflict",
      "NOT_FAILED",
      `${goal.goalId} is ${node.status.replace("_", " ")}; there is nothing to try again.`,
    ] as const),
    `'overseer why ${goal.goalId}' says how it stands.`,
  );
}

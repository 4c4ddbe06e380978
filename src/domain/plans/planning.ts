/**
 * A plan that a model is asked for, from the wish to the proposal: who may want one, what became of the asking, and when a
 * proposal still fits what has happened meanwhile. Accepting one is plan.ts; asking a model is act/planning.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { actionDecided } from "#domain/model/action.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal, Planning, Proposal } from "#domain/model/goal.ts";

export interface WantedPlan {
  readonly remark: string | null;
  readonly scout: boolean;
  readonly accept: Planning["accept"];
}

/** Under its number the asking is one action, whoever carries it out. A second wish replaces what was proposed or failed. */
export function wantPlan(goal: Goal, wanted: WantedPlan, moment: Moment): Decision<number> {
  const { goalId, planning } = goal;
  if (goal.status !== "active" && goal.status !== "paused") {
    return refuse(
      "conflict",
      "GOAL_ENDED",
      `Goal ${goalId} is ${goal.status}; its plan no longer changes.`,
      "Create a new goal with 'overseer goal create'.",
    );
  }
  if (planning?.status === "wanted" || planning?.status === "waits") {
    return refuse(
      "conflict",
      "PLANNING_UNDER_WAY",
      `A model is being asked for the plan of ${goalId} already.`,
      `Wait for it ('overseer goal plan ${goalId} --show'), or drop it: overseer goal plan ${goalId} --drop`,
    );
  }
  const number = (goal.plannings ?? 0) + 1;
  const because = number === 1 ? "asked-for" : "asked-again";
  const request = {
    ...({ goalId, actionId: `plan:${goalId}:${number}`, kind: "plan", because, notBefore: moment.now } as const),
    payload: { number },
  };
  return accept(
    [aboutPlan(goalId, moment, "plan.wanted", because, { number, ...wanted }), actionDecided(request, moment)],
    number,
  );
}

/** Whether what comes back is still what was asked for; the reason where it is not. */
export function findOutdated(goal: Goal | undefined, number: number, base: number): string | undefined {
  if (!goal) return "its goal is gone";
  if (goal.status !== "active" && goal.status !== "paused") return `its goal is ${goal.status}`;
  const { planning } = goal;
  if (planning?.number !== number) return planning ? "another plan was asked for since" : "it was dropped";
  if (planning.status === "proposed") return "it has been proposed already";
  if (goal.plan.length !== base) return `the plan has become revision ${goal.plan.length} since`;
  return undefined;
}

export function proposePlan(goalId: string, number: number, proposal: Proposal, moment: Moment): NewEvent {
  return aboutPlan(goalId, moment, "plan.proposed", "model-answered", { number, ...proposal });
}

export function holdPlan(goalId: string, number: number, detail: string, until: number, moment: Moment): NewEvent {
  return aboutPlan(goalId, moment, "plan.waits", "no-model", { number, detail, until });
}

export interface FailedPlan {
  readonly problems: readonly string[];
  readonly rejected: readonly string[];
  readonly logPath: string;
}

export function failPlan(goalId: string, number: number, failed: FailedPlan, moment: Moment): NewEvent {
  return aboutPlan(goalId, moment, "plan.failed", "no-plan-that-holds", { number, ...failed });
}

export function dropPlan(goal: Goal, reason: string | null, moment: Moment): Decision<number> {
  const { goalId, planning } = goal;
  if (!planning) return noProposal(goalId);
  const { number } = planning;
  return accept([aboutPlan(goalId, moment, "plan.dropped", "dropped", { number, reason })], number);
}

export function noProposal(goalId: string): Decision<never> {
  return refuse(
    "not-found",
    "NO_PROPOSAL",
    `No plan is proposed for ${goalId}.`,
    `Ask for one: overseer goal plan ${goalId} --with-model`,
  );
}

function aboutPlan<T extends "plan.wanted" | "plan.waits" | "plan.proposed" | "plan.failed" | "plan.dropped">(
  goalId: string,
  moment: Moment,
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  return { type, actor: moment.actor, goalId, because, data } as NewEvent;
}

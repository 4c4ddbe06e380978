/**
 * A plan that a model is asked for, from the wish to the proposal: who may want one, what became of the asking, and when a
 * proposal still fits what has happened meanwhile. Accepting one is plan.ts; asking a model is act/planning.
 */
import type { Moment } from "#domain/core/actor.ts";
import { type Backoff, backoffMs } from "#domain/core/backoff.ts";
import { refuse } from "#domain/core/refusal.ts";
import { actionDecided } from "#domain/model/action.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal, Planning, Proposal } from "#domain/model/goal.ts";
import { listLeftOut } from "./left-out.ts";
import { acceptPlan, type PlanLimits, type PlannedNode } from "./plan.ts";
import { type GoalTree, settleDecision } from "./settle.ts";

export interface WantedPlan {
  readonly remark: string | null;
  readonly scout: boolean;
  readonly accept: Planning["accept"];
}

/** Under its number the asking is one action, whoever carries it out. A second wish replaces what was proposed or failed. */
export function requestPlan(goal: Goal, wanted: WantedPlan, moment: Moment): Decision<number> {
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
    ...({ goalId, actionId: planActionId(goalId, number), kind: "plan", because, notBefore: moment.now } as const),
    payload: { number },
  };
  return accept(
    [aboutPlan(goalId, moment, "plan.wanted", because, { number, ...wanted }), actionDecided(request, moment)],
    number,
  );
}

/** The action that asks for it. */
export function planActionId(goalId: string, number: number): string {
  return `plan:${goalId}:${number}`;
}

/** Whether what comes back is still what was asked for; the reason where it is not. */
export function findOutdated(goal: Goal | undefined, number: number, base: number): string | undefined {
  if (!goal) return "its goal is gone";
  if (goal.status !== "active" && goal.status !== "paused") return `its goal is ${goal.status}`;
  const { planning } = goal;
  if (planning?.number !== number) return planning ? "another plan was asked for since" : "it was dropped";
  if (planning.status === "proposed") return "it has been proposed already";
  if (planning.status === "failed") return "it has failed already";
  if (goal.plan.length !== base) return `the plan has become revision ${goal.plan.length} since`;
  return undefined;
}

export function proposePlan(
  goalId: string,
  number: number,
  proposal: Proposal,
  moment: Moment,
  because: "model-answered" | "edited" = "model-answered",
): NewEvent {
  return aboutPlan(goalId, moment, "plan.proposed", because, { number, ...proposal });
}

export function holdPlan(
  goalId: string,
  number: number,
  { detail, until, because = "no-model" }: HeldPlan,
  moment: Moment,
): NewEvent {
  return aboutPlan(goalId, moment, "plan.waits", because, { number, detail, until });
}

export interface HeldPlan {
  /** Why, as a clause. */
  readonly detail: string;
  readonly until: number;
  /** `no-answer`: somebody was asked, and nobody answered. */
  readonly because?: "no-model" | "no-answer";
}

const NO_ANSWER_BACKOFF: Backoff = { baseMs: 30_000, maxMs: 30 * 60_000 };
/** Each of these has taken all the time there is, and may have cost money. */
const MOST_TOO_SLOW = 3;

/**
 * After how long it is asked again where nobody answered, given how often that was so before; undefined where it is given
 * up: a model that never answers in time is asked too much. One that cannot be reached costs nothing.
 */
export function waitAfterNoAnswer(how: "unreached" | "too-slow", before: number): number | undefined {
  if (how === "too-slow" && before + 1 >= MOST_TOO_SLOW) return undefined;
  return backoffMs(before + 1, NO_ANSWER_BACKOFF);
}

export interface FailedPlan {
  readonly problems: readonly string[];
  readonly rejected: readonly string[];
  readonly logPath: string;
}

export function failPlan(goalId: string, number: number, failed: FailedPlan, moment: Moment): NewEvent {
  return aboutPlan(goalId, moment, "plan.failed", "no-plan-that-holds", { number, ...failed });
}

/** An answer that was overtaken ends its own asking, with the reason; another one is none of its business. */
export function dropOutdated(
  goal: Goal | undefined,
  number: number,
  reason: string | undefined,
  moment: Moment,
): NewEvent[] {
  const { planning } = goal ?? {};
  const isWaitedFor = planning?.number === number && (planning.status === "wanted" || planning.status === "waits");
  if (!goal || !isWaitedFor) return [];
  return [aboutPlan(goal.goalId, moment, "plan.dropped", "outdated", { number, reason: reason ?? null })];
}

/**
 * A proposal that nobody has to look at, accepted in the same breath. One that would cancel open work stays a proposal: by
 * itself a model takes nothing away.
 */
export function acceptProposed(
  tree: GoalTree,
  proposed: NewEvent,
  { base: _base, nodeCount: _count, ...provenance }: Proposal,
  phases: readonly PlannedNode[],
  limits: PlanLimits,
  moment: Moment,
): Decision<string> {
  const { goal, nodes } = tree;
  if (listLeftOut(nodes, phases).length > 0) return accept([proposed], "proposed: it would cancel open work");
  const decision = settleDecision(tree, acceptPlan(goal, nodes, phases, limits, provenance, moment), moment);
  return decision.ok ? accept([proposed, ...decision.events], "accepted") : accept([proposed], "proposed");
}

export function dropPlan(goal: Goal, reason: string | null, moment: Moment): Decision<number> {
  const { goalId, planning } = goal;
  if (!planning) return noProposal(goalId);
  const { number } = planning;
  return accept([aboutPlan(goalId, moment, "plan.dropped", "dropped", { number, reason })], number);
}

export function noProposal(goalId: string, planning: Planning | null = null): Decision<never> {
  const isUnderWay = planning?.status === "wanted" || planning?.status === "waits";
  return refuse(
    "not-found",
    "NO_PROPOSAL",
    `No plan is proposed for ${goalId}${isUnderWay ? " yet" : ""}.`,
    isUnderWay
      ? `A model is being asked; see how it is getting on: overseer goal plan ${goalId} --show`
      : `Ask for one: overseer goal plan ${goalId} --with-model`,
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

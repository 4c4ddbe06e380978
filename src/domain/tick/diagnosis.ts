/**
 * A model's opinion about an agent that is stuck (PLAN-4, WATCH-2): asked for once per stall, before its turn is ended or
 * its work given to another; and what of it may be done. The ladder takes it only as far as its own budgets go, one piece
 * at a time and with its own waits between them. Without a model, or where it does not answer in time, the rules act as
 * they would: nothing here is ever needed. What is asked and how the answer is read is act/planning/diagnose-stall.ts.
 */
import { hasPassed } from "#domain/core/elapsed.ts";
import type { Advice, Diagnosis, Triage } from "#domain/model/advice.ts";
import { describeAdvice } from "#domain/model/advice.ts";
import { subject } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { MODELS } from "#domain/model/condition.ts";
import type { LadderLimits, Recovery, Rung, RungBars } from "#domain/model/ladder-state.ts";
import { reasonAgainstRung } from "#domain/model/ladder-state.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Outbox, TickStep } from "./draft.ts";
import type { Scene } from "./scene.ts";
import type { Stuck } from "./stuck.ts";

/** What is done to an agent, as against what is said to it. */
const ACTS: readonly Rung[] = ["resend", "replan", "reassign", "pause"];
const HOUR_MS = 3_600_000;

export type Consultation =
  /** The rules act as they would. */
  | { readonly kind: "none" }
  /** A model is being asked. */
  | { readonly kind: "awaited" }
  | { readonly kind: "asked"; readonly steps: readonly TickStep[] }
  | { readonly kind: "said"; readonly diagnosis: Diagnosis };

export function consultModel(scene: Scene, outbox: Outbox, stuck: Stuck, rung: Rung): Consultation {
  const { planner } = scene.limits;
  if (!planner.diagnoseStalls || planner.off !== null || !ACTS.includes(rung)) return { kind: "none" };
  const { assignment, recovery, cause, seen } = stuck;
  const { diagnosis } = recovery;
  if (diagnosis?.assignmentId === assignment.assignmentId) {
    if (diagnosis.left.length > 0) return { kind: "said", diagnosis };
    const isOver = diagnosis.said !== null || diagnosis.failed !== null;
    return isOver || hasPassed(diagnosis.askedAt, planner.diagnoseWithinMs, scene.now)
      ? { kind: "none" }
      : { kind: "awaited" };
  }
  if (countDiagnoses(scene, outbox) >= planner.diagnosesPerHour) return { kind: "none" };
  const node = nodeKey(recovery.goalId, recovery.workNodeId);
  const request: TickStep = {
    // Not for the attempt: nothing is on its way to the agent.
    ...subject(assignment),
    actionId: `diagnose:${node}:${assignment.assignmentId}:${recovery.total}`,
    kind: "diagnose",
    because: cause,
    notBefore: scene.now,
    payload: { from: seen.attempt.attempt, cause },
  };
  return { kind: "asked", steps: [request] };
}

/**
 * WATCH-2: the same for an agent that has died or failed, once for each failure and before the last time that it would be
 * started again. What the model recommends is taken as far as budgets go; without it the rules act as they would.
 */
export function consultAboutFailure(scene: Scene, outbox: Outbox, { recovery, last, cause }: Failure): Consultation {
  const { limits, now, snapshot } = scene;
  if (limits.triage === null || snapshot.watching) return { kind: "none" };
  if (recovery.restarts < limits.ladder.restarts - 1) return { kind: "none" };
  const { diagnosis } = recovery;
  if (diagnosis?.assignmentId === last.assignmentId) {
    const isOver = diagnosis.said !== null || diagnosis.failed !== null;
    const isAwaited = !isOver && !hasPassed(diagnosis.askedAt, limits.triage.withinMs, now);
    return isAwaited ? { kind: "awaited" } : { kind: "none" };
  }
  if (countDiagnoses(scene, outbox) >= limits.planner.diagnosesPerHour) return { kind: "none" };
  const { goalId, workNodeId: nodeId, assignmentId, attempt: from } = last;
  const request: TickStep = {
    ...{ goalId, nodeId, assignmentId, agent: last.agent },
    actionId: `diagnose:${nodeKey(goalId, nodeId)}:${assignmentId}:failure`,
    kind: "diagnose",
    because: cause,
    notBefore: now,
    payload: { from, cause, failure: true },
  };
  return { kind: "asked", steps: [request] };
}

/** What a model recommends after this failure; undefined where none has said anything. */
export function findTriage({ diagnosis }: Recovery, { assignmentId }: Attempt): Triage | undefined {
  return diagnosis?.assignmentId === assignmentId ? diagnosis.triage : undefined;
}

/** That an agent has ended without anybody having asked for it. */
interface Failure {
  readonly recovery: Recovery;
  readonly last: Attempt;
  readonly cause: string;
}

/** Within the last hour, those to come included. */
function countDiagnoses(scene: Scene, outbox: Outbox): number {
  const asked = scene.condition("models", MODELS)?.diagnoses ?? [];
  const lately = asked.filter((at) => !hasPassed(at, HOUR_MS, scene.now)).length;
  const open = [...scene.actions, ...outbox.actions].filter(({ kind }) => kind === "diagnose").length;
  return lately + open;
}

/** What decides about a piece of advice. */
export interface AdviceCase {
  readonly recovery: Recovery;
  readonly ladder: LadderLimits;
  /** A person is asked about the node already. */
  readonly isAsked: boolean;
  /** Why its work cannot be split; undefined where it can. */
  readonly againstSplit: string | undefined;
  /** What may not be done at all. */
  readonly bars: RungBars;
}

/** After these nothing is left that other advice could be about. */
const LAST: readonly Advice["do"][] = ["reassign", "replan", "escalate"];

/** Why the ladder does not do this, as a clause; `before` is what it is to do before it. */
export function refuseAdvice(advice: Advice, before: readonly Advice[], at: AdviceCase): string | undefined {
  const last = before.find((one) => LAST.includes(one.do));
  if (last) return `nothing follows after ${describeAdvice(last)}`;
  if (before.some((one) => one.do === advice.do)) return "it is advised twice";
  const rung = rungOf(advice);
  const barred = rung && reasonAgainstRung(rung, at.bars);
  if (barred !== undefined) return barred;
  const { steps } = at.recovery;
  switch (advice.do) {
    case "resend":
      return steps.resend < at.ladder.resend ? undefined : "recovery.steps.interrupts allows no more";
    case "reassign":
      return steps.reassign < at.ladder.reassign ? undefined : "recovery.steps.freshAgents allows no more";
    case "replan":
      return steps.replan < at.ladder.replan ? at.againstSplit : "recovery.steps.splits allows no more";
    case "escalate":
      return at.isAsked ? "a person is asked already" : undefined;
    default:
      return undefined;
  }
}

/** Which rung it amounts to; waiting is none. */
function rungOf({ do: what }: Advice): Rung | undefined {
  if (what === "wait") return undefined;
  return what === "nudge" ? "hint" : what === "escalate" ? "ask" : what;
}

/** What may be done of it, in order, and what may not, with why. */
export function judgeAdvice(all: readonly Advice[], at: AdviceCase) {
  const actions: Advice[] = [];
  const refused: { readonly advice: Advice; readonly reason: string }[] = [];
  for (const advice of all) {
    const reason = refuseAdvice(advice, actions, at);
    if (reason === undefined) actions.push(advice);
    else refused.push({ advice, reason });
  }
  return { actions, refused };
}

/**
 * Whether there is more to see of a goal that somebody follows: it is reached, waits for a person, has ended without, or
 * goes on; and which of its steps are told meanwhile. A person is waited for only once nothing else of it moves: a task
 * that waits for review does not end the view of the others. Whoever sits there and decides is asked about it at once.
 */
import type { EventOf, EventType } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { isOpen, nodeKey, type WorkNode } from "#domain/model/work.ts";
import { countAll, listLost, progressOfGoal } from "#domain/plans/rollup.ts";
import { isRoutineEvent } from "./event-line.ts";
import type { Standstill, StandstillKind } from "./standstill.ts";

export interface FollowedGoalFacts {
  readonly goal: Goal;
  readonly nodes: readonly WorkNode[];
  readonly standstills: readonly Standstill[];
  readonly isDaemonUp: boolean;
  /** `goal/node` of those that an agent lives for. */
  readonly living: ReadonlySet<string>;
  /** Somebody decides about finished work while they follow; what they put off (`goal/node`) is not asked about again. */
  readonly putOff?: ReadonlySet<string>;
}

export type FollowedGoal =
  | { readonly kind: "goes-on" }
  | { readonly kind: "landed"; readonly text: string }
  | { readonly kind: "failed"; readonly text: string; readonly command: string }
  | {
      readonly kind: "waits";
      readonly text: string;
      readonly command: string;
      /** How many other things of it wait for a person too. */
      readonly more: number;
      /** The task, `goal/node`, where it is finished work that waits to be looked at. */
      readonly review: string | null;
    };

const GOES_ON: FollowedGoal = { kind: "goes-on" };

export function judgeFollowedGoal(facts: FollowedGoalFacts): FollowedGoal {
  const { goal, nodes } = facts;
  const { goalId, status } = goal;
  if (status === "cancelled") return judgeCancelled(goal);
  const leaves = nodes.filter(({ leaf }) => leaf);
  const isOver = status === "completed" || status === "archived";
  if (isOver || (leaves.length > 0 && leaves.every((node) => !isOpen(node)))) return judgeEnd(goal, nodes);
  if (status === "paused") return wait(`${goalId} is paused.`, `overseer goal resume ${goalId}`);
  return leaves.length === 0 ? judgePlanning(facts) : judgeWork(facts, leaves);
}

function judgeCancelled({ goalId, statusReason }: Goal): FollowedGoal {
  const why = statusReason ? `: ${withoutStop(statusReason)}` : "";
  return { kind: "failed", text: `${goalId} was cancelled${why}.`, command: `overseer why ${goalId}` };
}

function judgeEnd({ goalId }: Goal, nodes: readonly WorkNode[]): FollowedGoal {
  const progress = progressOfGoal(nodes, true);
  if (progress.done === 0) {
    return {
      kind: "failed",
      text: `${goalId} ended without any of its tasks done.`,
      command: `overseer why ${goalId}`,
    };
  }
  const all = countAll(progress);
  const lost = listLost(progress);
  const text =
    lost.length > 0
      ? `${goalId} is reached in part: ${progress.done} of ${all} tasks are done, ${lost.join(", ")}.`
      : `${goalId} is reached: ${all === 1 ? "its task is" : `all ${all} tasks are`} done.`;
  return { kind: "landed", text };
}

function judgePlanning({ goal, isDaemonUp }: FollowedGoalFacts): FollowedGoal {
  const { goalId, planning } = goal;
  const byHand = `overseer goal plan ${goalId} --file plan.yaml`;
  switch (planning?.status) {
    case undefined:
      return wait(`${goalId} has no plan.`, byHand);
    case "proposed":
      return wait(`A plan for ${goalId} is proposed and waits for you.`, `overseer goal plan ${goalId} --accept`);
    case "failed":
      return wait(`No plan came of ${goalId}: ${withoutStop(planning.detail ?? "")}.`, byHand);
    default:
      // Whoever comes back by this word asks the model itself.
      return isDaemonUp
        ? GOES_ON
        : wait(`No daemon runs, so no model is asked for a plan of ${goalId}.`, "overseer do");
  }
}

/** Nothing of any goal moves while these hold, or nothing more than what is at work already. */
const HOLD_DISPATCH: ReadonlySet<StandstillKind> = new Set(["provider", "dispatch", "not-started"]);

function judgeWork(facts: FollowedGoalFacts, leaves: readonly WorkNode[]): FollowedGoal {
  const { goal, isDaemonUp, living } = facts;
  const { goalId } = goal;
  const persons = facts.standstills.filter(({ kind, turn }) => turn === "person" && kind !== "no-daemon");
  const whole = persons.find(({ about }) => holdsWhole(about, goalId));
  if (whole) return wait(whole.text, whole.command);
  const own = persons.filter(({ about }) => about.some((one) => one.startsWith(`${goalId}/`)));
  const held = new Set(own.flatMap(({ about }) => about));
  const dispatch = persons.find(({ kind }) => HOLD_DISPATCH.has(kind));
  const moving = leaves.filter((node) => {
    if (held.has(keyOf(node))) return false;
    return node.status === "in_progress" || (node.status === "queued" && !dispatch);
  });
  const [first = dispatch, ...more] = own;
  const ready = facts.putOff && own.find((one) => findReview(one, goalId, facts.putOff) !== null);
  if (ready) {
    return { ...wait(ready.text, ready.command, more.length), review: findReview(ready, goalId, facts.putOff) };
  }
  if (moving.length > 0) {
    if (isDaemonUp || moving.some((node) => living.has(keyOf(node)))) return GOES_ON;
    return wait(`No daemon runs, so nothing of ${goalId} moves.`, "overseer up", own.length);
  }
  if (first)
    return { ...wait(first.text, first.command, more.length), review: findReview(first, goalId, facts.putOff) };
  const blocked = leaves.filter(({ status }) => status === "blocked");
  const [one] = blocked;
  if (one) {
    const text = `${keyOf(one)} is blocked: ${withoutStop(one.blockedReason?.detail ?? "no reason kept")}.`;
    return wait(text, `overseer why ${keyOf(one)}`, blocked.length - 1);
  }
  return isDaemonUp ? GOES_ON : wait(`No daemon runs, so nothing of ${goalId} moves.`, "overseer up");
}

/** About the whole fleet, the day, or this goal as a whole. */
function holdsWhole(about: readonly string[], goalId: string): boolean {
  if (about.length === 0) return true;
  return about.some((one) => one === goalId || one === `goal:${goalId}` || one.startsWith("day:"));
}

function wait(text: string, command: string, more = 0) {
  return { kind: "waits", text, command, more, review: null } as const;
}

function findReview(
  { kind, about }: Standstill,
  goalId: string,
  putOff: ReadonlySet<string> = new Set(),
): string | null {
  if (kind !== "review") return null;
  return about.find((one) => one.startsWith(`${goalId}/`) && !putOff.has(one)) ?? null;
}

function keyOf({ goalId, workNodeId }: WorkNode): string {
  return nodeKey(goalId, workNodeId);
}

function withoutStop(text: string): string {
  return text.trim().replace(/\.+$/, "");
}

/** What becomes of each task, and what people are asked; not how it is done, and nothing that a later line says again. */
const MILESTONES: ReadonlySet<EventType> = new Set<EventType>([
  "goal.paused",
  "goal.resumed",
  "plan.accepted",
  "plan.waits",
  "plan.failed",
  "work.added",
  "work.requeued",
  "work.blocked",
  "work.unblocked",
  "work.done",
  "work.cancelled",
  "work.overridden",
  "work.taken_back",
  "work.claimed",
  "work.checked",
  "work.returned",
  "check.finished",
  "landing.landed",
  "landing.refused",
  "landing.waiting",
  "landing.approved",
  "merge.parked",
  "agent.slung",
  "agent.ended",
  "agent.blocked",
  "agent.paused",
  "agent.resumed",
  "agent.stop_requested",
  "question.asked",
  "question.answered",
  "question.withdrawn",
  "budget.warned",
  "budget.exceeded",
  "budget.paused",
  "budget.raised",
]);

/** Of what becomes of an assignment, what another line says already. */
const SAID_OTHERWISE: ReadonlySet<EventType> = new Set<EventType>([
  "assignment.cancelled",
  "assignment.blocked",
  "assignment.status_requested",
]);

export function isGoalMilestone(event: EventOf): boolean {
  // Whatever is done about an agent that is stuck, also what later versions do.
  if (event.type.startsWith("assignment.")) return !isRoutineEvent(event) && !SAID_OTHERWISE.has(event.type);
  if (!MILESTONES.has(event.type)) return false;
  switch (event.type) {
    case "work.added":
      // The first plan was just looked at; what a later revision adds was not.
      return event.data.revision > 1;
    case "work.done":
      return event.because !== "landed" && event.because !== "all-children-done";
    case "check.finished":
      return event.data.verdict !== "pass";
    case "agent.stop_requested":
      // Overseer's own follows from what was told already.
      return event.actor.startsWith("human:");
    case "agent.ended":
      return event.data.cause !== "finished" && event.data.cause !== "stopped";
    default:
      return true;
  }
}

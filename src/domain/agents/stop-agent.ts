/**
 * Asking an agent to stop, and what becomes of its task: back into the queue, reserved for the person who stopped it, or
 * put aside for the same agent to continue. It is decided in the commit that asks for the stop, so that no tick in
 * between gives the task to anybody else. What was reported done stands on its commit, whoever is stopped. Pure.
 */
import { type Moment, nameOfActor } from "#domain/core/actor.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel, isLiving, requestStop } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { liftBlock, nodeKey } from "#domain/model/work.ts";

/**
 * `queue`: whoever is next gets it. `reserve`: nobody, until a person says otherwise. `resume`: the same agent, in the
 * same worktree and session, as soon as there is a place for it.
 */
export type AfterStop = "queue" | "reserve" | "resume";

export interface StopSeen {
  readonly attempt: Attempt | undefined;
  readonly node: WorkNode | undefined;
  /** The last attempt at that node. */
  readonly last: number;
}

/**
 * One that has ended is as good as stopped; its task is reserved all the same, as long as nobody else has it, or given
 * back to the queue where that is asked for.
 */
export function stopAttempt(
  { attempt, node, last }: StopSeen,
  order: { readonly name: string; readonly reason: string | null; readonly after: AfterStop },
  moment: Moment,
): Decision<number> {
  const { name, reason, after } = order;
  const asked =
    attempt && !isLiving(attempt)
      ? accept([], attempt.attempt)
      : requestStop(attempt, name, reason, moment, after === "resume");
  if (!asked.ok || !attempt || !node || last !== attempt.attempt) return asked;
  if (after === "queue" && node.blockedReason?.stopped === attempt.attempt)
    return accept([...asked.events, ...endReservation(node, moment).events], asked.value);
  if (after !== "reserve") return asked;
  const isTheirs = node.status === (isLiving(attempt) ? "in_progress" : "queued") && !node.claim;
  return isTheirs ? accept([...asked.events, reserve(node, attempt, moment)], asked.value) : asked;
}

function reserve(node: WorkNode, attempt: Attempt, moment: Moment): NewEvent {
  const label = nodeKey(node.goalId, node.workNodeId);
  const blocked = {
    kind: "other",
    detail: `${nameOfActor(moment.actor)} stopped ${attemptLabel(attempt)}`,
    needs: `'overseer restart ${attempt.agent}' to let it continue, or 'overseer work unblock ${label}' to dispatch it again`,
    stopped: attempt.attempt,
  } as const;
  return attemptEvent(attempt, moment.actor, "work.blocked", "stopped-by-a-person", { blocked });
}

/** Whoever a person puts on a task that is reserved for them ends the reservation: the task as it is then. */
export function endReservation(
  node: WorkNode,
  moment: Moment,
): { readonly node: WorkNode; readonly events: NewEvent[] } {
  const isReserved = node.status === "blocked" && node.blockedReason?.stopped !== undefined;
  if (!isReserved || !moment.actor.startsWith("human:")) return { node, events: [] };
  const events = liftBlock(node, "put-to-work-by-a-person", null, moment);
  return { node: { ...node, status: "queued", blockedReason: null }, events };
}

/**
 * The end of an attempt, as one decision: the attempt itself, its assignment, the claim on its node, the messages it
 * never saw, and what whoever asked for the work is told. How it came to its end is known to whoever calls.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { afterEnd, dispatchResults } from "#domain/inbox/mailing.ts";
import { outcomeOfEnd, tellOutcome } from "#domain/inbox/outcome.ts";
import type { Attempt, AttemptEnd } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Message } from "#domain/model/message.ts";
import { isUnseen } from "#domain/model/message.ts";
import { nodeKey } from "#domain/model/work.ts";

/** What an attempt leaves behind when it ends. */
export interface EndedAround {
  readonly node:
    | {
        readonly status: string;
        readonly claim?: { readonly attempt: number } | undefined;
        readonly blockedReason?: { readonly stopped?: number } | null;
      }
    | undefined;
  readonly assignment: { readonly status: string } | undefined;
  /** Messages it has not seen; they end openly or wait for a successor, and are never lost in silence. */
  readonly waiting: readonly Message[];
  /** The attempt that asked for the work, as it stands now. */
  readonly parent: Attempt | undefined;
}

/**
 * It has ended: the attempt, its assignment, and the claim on its node, which goes back into the queue so that somebody
 * else can have it. Work that it has reported done stands without it: node and assignment wait for checks and landing.
 * Ending twice changes nothing; the first end stands.
 */
export function endAttempt(
  attempt: Attempt | undefined,
  around: EndedAround,
  end: AttemptEnd,
  moment: Moment,
): Decision<boolean> {
  if (!attempt || !isLiving(attempt)) return accept([], false);
  const because = attempt.stopRequested ? "stop-requested" : end.cause;
  const events: NewEvent[] = [attemptEvent(attempt, moment.actor, "agent.ended", because, end)];
  const { node, assignment, waiting, parent } = around;
  events.push(...afterEnd(waiting, node, moment.actor));
  events.push(...dispatchResults(attempt, waiting.filter(isUnseen), "timeout", "attempt-ended"));
  if (node?.claim?.attempt === attempt.attempt) return accept(events, true);
  if (assignment && assignment.status !== "done" && assignment.status !== "cancelled") {
    events.push(attemptEvent(attempt, moment.actor, "assignment.cancelled", "attempt-ended", { reason: end.detail }));
    if (isNews(attempt)) {
      const outcome = outcomeOfEnd(end.cause, node?.status);
      events.push(tellOutcome(attempt, parent, { outcome, detail: end.detail, wip: end.wip }, moment.actor));
    }
  }
  if (node?.status === "in_progress") {
    events.push(attemptEvent(attempt, moment.actor, "work.requeued", "attempt-ended", { reason: end.detail }));
  }
  return accept(events, true);
}

/** Why nobody could continue its work once it has ended; asked before it is stopped for that. */
export function refuseSuccessor(
  attempt: Attempt,
  node: EndedAround["node"],
  asked?: string,
): Decision<never> | undefined {
  const key = nodeKey(attempt.goalId, attempt.workNodeId);
  if (node?.claim?.attempt === attempt.attempt) {
    return refuse(
      "conflict",
      "REPORTED_DONE",
      `${attemptLabel(attempt)} has reported ${key} done; its claim stands until it has landed or is sent back.`,
      `'overseer why ${key}' shows how far it is; 'overseer reject ${attempt.agent}' sends it back to be worked on.`,
    );
  }
  const isReserved = node?.blockedReason?.stopped === attempt.attempt;
  const isItsOwn = isLiving(attempt) && node?.status === "in_progress";
  const isFree = node === undefined || node.status === "queued" || isReserved || isItsOwn;
  if (!isFree && node.status === "blocked" && asked !== undefined) {
    return refuse(
      "conflict",
      "NODE_NOT_READY",
      `${attemptLabel(attempt)} has asked a question (${asked}), and ${key} waits for the answer.`,
      `Answer it: 'overseer answer ${asked} <choice or text>'. The daemon lets it continue then; without one, 'overseer restart ${attempt.agent}' does.`,
    );
  }
  return isFree
    ? undefined
    : refuse(
        "conflict",
        "NODE_NOT_READY",
        `${key} is ${node.status}, so ${attemptLabel(attempt)} could not be started on it again.`,
        `Run 'overseer why ${key}' to see what it waits for.`,
      );
}

/** An agent asked for it, and it had come up: one that never did was heard of by whoever tried to start it. */
function isNews(attempt: Attempt): boolean {
  return attempt.parent !== null && attempt.startedAt !== null;
}

/**
 * What a person does with finished work beside letting it land (may-land.ts): sends it back with a reason, or takes it
 * into their own hands. Both end what was asked about it. A person's no is not a failure of the work, so it uses up
 * none of the rounds after which a person would be asked. Looking at the work is control/review.ts.
 */
import { type Moment, nameOfActor } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, liftBlock, nodeEvent, nodeKey } from "#domain/model/work.ts";
import { withdrawMoot } from "./closing.ts";
import type { ClaimSeen, NotHeld, ReturnPolicy } from "./report-done.ts";
import { endAssignment, returnClaim } from "./report-done.ts";

/** Back to its author with the person's words, however often that has happened. */
export function rejectWork(
  seen: ClaimSeen,
  reason: string,
  ids: Pick<ReturnPolicy, "messageId" | "questionId">,
  moment: Moment,
): Decision<NotHeld> {
  const { node } = seen;
  const { claim } = node;
  if (!claim || !isOpen(node)) return nothingReported(node);
  if (reason.trim() === "") {
    return refuse(
      "usage",
      "REASON_MISSING",
      "Rejecting needs a reason: the author has to know what to change.",
      'Say it: --reason "…".',
    );
  }
  const out = node.status === "blocked" ? liftBlock(node, "rejected", null, moment) : [];
  const failure = {
    what: `${nameOfActor(moment.actor)} reviewed it and sent it back`,
    material: reason,
    byPerson: true,
    hint: "Change what the reviewer asks for, commit on your branch, and report done again.",
    because: "rejected",
  } as const;
  const going = { ...seen, node: { ...node, status: "in_progress" } as const };
  const decision = returnClaim(going, claim, failure, { ...ids, rounds: Number.POSITIVE_INFINITY }, moment);
  return decision.ok ? accept([...out, ...decision.events], decision.value) : decision;
}

export interface TakenOver {
  readonly node: string;
  readonly branch: string;
  readonly worktree: string;
  /** The attempt that was asked to stop. */
  readonly stopped: number | null;
}

/**
 * The branch and its worktree are the person's from now on: its agent stops, nobody else is given the node, and nothing
 * lands until that person says so.
 */
export function takeOver(seen: ClaimSeen, reason: string | null, moment: Moment): Decision<TakenOver> {
  const { node, attempt, assignment } = seen;
  const label = nodeKey(node.goalId, node.workNodeId);
  if (!isOpen(node) || !attempt) return nothingReported(node);
  const { branch, worktree } = attempt;
  const stops = isLiving(attempt) && !attempt.stopRequested;
  const blocked = {
    kind: "human",
    detail: `${nameOfActor(moment.actor)} has taken ${branch} over`,
    needs: `'overseer merge --branch ${branch}' when it is finished, or 'overseer work unblock ${label}' to dispatch it again`,
  } as const;
  const events: NewEvent[] = [
    ...endAssignment(assignment, "cancelled", "taken-over", reason, moment),
    ...(stops ? [attemptEvent(attempt, moment.actor, "agent.stop_requested", "taken-over", { reason })] : []),
  ];
  if (node.claim) {
    const data = { commit: node.claim.commit, round: node.rounds ?? 0, reason: blocked.detail };
    events.push(nodeEvent(node, moment, "work.returned", "taken-over", data));
  }
  if (node.status === "blocked") events.push(nodeEvent(node, moment, "work.unblocked", "taken-over", { reason }));
  events.push(nodeEvent(node, moment, "work.blocked", "taken-over", { blocked }));
  return accept(events, { node: label, branch, worktree, stopped: stops ? attempt.attempt : null });
}

/** What was asked about the node needs no answer any more: a person has decided. */
export function withdrawOpenQuestions<T>(
  decision: Decision<T>,
  node: WorkNode,
  open: readonly Question[],
  moment: Moment,
): Decision<T> {
  if (!decision.ok) return decision;
  const isHere = ({ goalId, workNodeId }: Question) => goalId === node.goalId && workNodeId === node.workNodeId;
  const ended = open.filter((one) => one.status === "open" && one.askedBy === "overseer" && isHere(one));
  return accept([...decision.events, ...ended.map((one) => withdrawMoot(one, moment))], decision.value);
}

function nothingReported(node: WorkNode): Decision<never> {
  const label = nodeKey(node.goalId, node.workNodeId);
  return refuse(
    "conflict",
    "NOTHING_TO_REVIEW",
    `There is no finished work for ${label}.`,
    `'overseer why ${label}' shows its progress.`,
  );
}

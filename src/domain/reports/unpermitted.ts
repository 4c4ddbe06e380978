/**
 * An agent whose permit was not heard (HOOK-3). The permit leaves a mark for every call it lets pass; a call that has run
 * without one was judged by nobody: hooks are switched off, broken, or the CLI is another than we think. What such an
 * agent does next would be judged by nobody either, so it is stopped, its work is kept, and a person is asked. The node
 * is blocked with it: another agent would meet the same.
 */
import type { Moment } from "#domain/core/actor.ts";
import { needsPermit } from "#domain/core/tools.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { SignalData } from "#domain/signals/signal.ts";
import { askPerson } from "./answer.ts";

/** A call as its end tells it. */
export type CallEnd = Pick<SignalData["tool.ended"], "tool" | "does" | "ok" | "errorClass">;

/** Has it really been made? One that was refused, interrupted or not even understood says nothing about the permit. */
export function hasRun({ does, ok, errorClass }: CallEnd): boolean {
  return needsPermit(does) && (ok || errorClass === "timeout" || errorClass?.startsWith("exit-") === true);
}

export interface UnpermittedSeen {
  readonly attempt: Attempt;
  readonly node: WorkNode | undefined;
  readonly questions: readonly Question[];
}

/** What is written down before it is stopped. */
export function findUnpermitted(
  { attempt, node, questions }: UnpermittedSeen,
  call: { readonly tool: string; readonly id: string },
  questionId: string,
  moment: Moment,
): Decision<null> {
  const because = "guard-not-heard";
  const { goalId, workNodeId: nodeId, assignmentId } = attempt;
  const label = nodeKey(goalId, nodeId);
  const detail = describeUnpermitted(attempt, call.tool);
  const found = attemptEvent(attempt, moment.actor, "agent.unguarded", because, { tool: call.tool, call: call.id });
  const text = `${label}: ${detail} It was stopped and its work is kept. Check the hooks of its CLI ('overseer doctor' tries them in this project); then say how to continue.`;
  const options = ["try again", "cancel it", "leave it to me"];
  const asked = askPerson(questions, { questionId, goalId, nodeId, assignmentId, text, options }, moment);
  if (!asked.ok) return asked;
  const needs = `answer ${asked.value.questionId}, or 'overseer work unblock ${label}'`;
  const blocked = { kind: "human", detail, needs } as const;
  // Also what it has reported done already: it waits for the same word.
  const holds = node?.status === "in_progress";
  return accept(
    [
      found,
      ...asked.events,
      ...(holds ? [attemptEvent(attempt, moment.actor, "work.blocked", because, { blocked })] : []),
    ],
    null,
  );
}

export function describeUnpermitted(attempt: Pick<Attempt, "agent" | "attempt">, tool: string): string {
  return `${attemptLabel(attempt)} ran ${tool} and the permit hook was not asked.`;
}

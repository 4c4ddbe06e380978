/**
 * TELL-1: the agent that asked for work hears how it ended, once, from Overseer and not from its agent. The message is
 * queued by the very commit that ends the assignment and its id follows from the assignment's, so there is no moment at
 * which it could be told twice or forgotten. Where the asker has ended, it goes to the person. What is reported done is
 * told when it has landed (tell.ts).
 */
import type { Actor } from "#domain/core/actor.ts";
import type { Attempt, EndCause } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { MailType } from "#domain/model/message.ts";
import { PERSON_ADDRESS } from "#domain/model/protocol.ts";
import { OVERSEER_ADDRESS } from "./addresses.ts";
import { queueEvent } from "./mailing.ts";

export type Outcome = "done" | "failed" | "died" | "cancelled" | "stopped" | "finished";

export function outcomeOfEnd(cause: EndCause, nodeStatus: string | undefined): Outcome {
  if (nodeStatus === "done") return "done";
  if (nodeStatus === "cancelled") return "cancelled";
  return cause === "failed_to_start" ? "failed" : cause;
}

const SAID: Readonly<Record<Outcome, string>> = {
  done: "is done",
  failed: "failed",
  died: "died",
  cancelled: "was cancelled",
  stopped: "was stopped",
  finished: "ended its session without reporting done",
};

export interface OutcomeDetails {
  readonly outcome: Outcome;
  /** One sentence for people. */
  readonly detail: string;
  /** Where uncommitted work is kept. */
  readonly wip: string | null;
}

/** `asker` is the attempt that asked for it as it stands now. */
export function tellOutcome(
  worker: Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId" | "branch">,
  asker: Attempt | undefined,
  told: OutcomeDetails,
  actor: Actor,
): NewEvent {
  const box = asker && isLiving(asker) ? asker : { agent: PERSON_ADDRESS };
  const type = mailTypeOf(told.outcome);
  const label = attemptLabel(worker);
  return queueEvent(
    box,
    {
      messageId: outcomeId(worker.assignmentId),
      kind: "mail",
      from: OVERSEER_ADDRESS,
      to: box.agent,
      subject: `${label} ${SAID[told.outcome]}`,
      body: [
        `${label} on ${worker.goalId}/${worker.workNodeId} ${SAID[told.outcome]}. ${told.detail}`.trim(),
        `Its branch is ${worker.branch}.`,
        ...(told.wip ? [`What it had not committed is kept in ${told.wip}.`] : []),
        ...(asker && !isLiving(asker) ? [`${attemptLabel(asker)}, who asked for it, has ended.`] : []),
      ].join("\n"),
      type,
      priority: type === "error" ? "high" : "normal",
    },
    actor,
    "outcome",
  );
}

export function mailTypeOf(outcome: string): MailType {
  if (outcome === "done") return "result";
  return outcome === "failed" || outcome === "died" ? "error" : "status";
}

/** One assignment has one outcome, so one message. */
export function outcomeId(assignmentId: string): string {
  return `m_${assignmentId.replace(/^A_/, "")}-end`;
}

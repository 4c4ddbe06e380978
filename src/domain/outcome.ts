/**
 * TELL-1: whoever asked for work hears how it ended, once, from Overseer and not from the agent. The message is queued
 * by the very commit that ends the assignment and its id follows from the assignment's, so there is no moment at which
 * it could be told twice or forgotten. It goes to the agent that asked while that lives, else to the person.
 */
import type { Actor } from "./actor.ts";
import { OVERSEER_ADDRESS } from "./addresses.ts";
import type { Attempt, EndCause } from "./attempt.ts";
import { attemptLabel, isLiving } from "./attempt.ts";
import type { NewEvent } from "./event.ts";
import { queueEvent } from "./mailing.ts";
import type { MailType } from "./message.ts";
import { PERSON_ADDRESS } from "./protocol.ts";

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

export interface Told {
  readonly outcome: Outcome;
  /** One sentence for people. */
  readonly detail: string;
  /** Where uncommitted work is kept. */
  readonly wip: string | null;
}

/** `asker` is the attempt that asked for it as it stands now; undefined when a person did. */
export function tellOutcome(
  worker: Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId" | "branch">,
  asker: Attempt | undefined,
  told: Told,
  actor: Actor,
): NewEvent {
  const box = asker && isLiving(asker) ? asker : { agent: PERSON_ADDRESS };
  const type: MailType =
    told.outcome === "done" ? "result" : told.outcome === "failed" || told.outcome === "died" ? "error" : "status";
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
        ...(asker && !isLiving(asker) ? [`${attemptLabel(asker)}, who asked for it, is over.`] : []),
      ].join("\n"),
      type,
      priority: type === "error" ? "high" : "normal",
    },
    actor,
    "outcome",
  );
}

/** One assignment has one outcome, so one message. */
export function outcomeId(assignmentId: string): string {
  return `m_${assignmentId.replace(/^A_/, "")}-end`;
}

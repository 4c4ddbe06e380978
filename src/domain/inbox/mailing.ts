/**
 * The rules of the inbox: where a message goes, what follows from handing it over, and what becomes of it when an
 * agent ends. Every rule returns the events of one commit, so a message is never in two states and never in none.
 * Mail and syncs belong to the work and wait for whoever continues with it; everything else was said to one attempt and
 * ends with it, openly.
 */
import type { Actor, Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Letter, Message } from "#domain/model/message.ts";
import { belongsToWork, isUnseen } from "#domain/model/message.ts";
import { nobodyCalled, OVERSEER_ADDRESS } from "./addresses.ts";

/** An inbox: that of an attempt, or one that no attempt has. */
export type Box =
  | Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId">
  | { readonly agent: string };

/** Where a message goes, and what its sender has to know about that. */
export interface Route {
  readonly box: Box;
  readonly note: string | null;
}

/** What is known about a name that somebody writes to. */
export interface KnownRecipient {
  /** The newest attempt under this name. */
  readonly last: Attempt | undefined;
  /** Who works on that attempt's node now. */
  readonly holder: Attempt | undefined;
  /** Who started it, if that one still lives. */
  readonly parent: Attempt | undefined;
  /** How the node stands. */
  readonly node: { readonly status: string } | undefined;
  readonly livingNames: readonly string[];
}

/**
 * The living one gets it. Of one that has ended, whoever continues with its work does, now or later; where the work has
 * ended too, whoever asked for it; and where nobody is left, it is refused.
 */
export function routeTo(name: string, known: KnownRecipient): Decision<Route> {
  const { last, holder, parent, node } = known;
  if (!last) return nobodyCalled(name, known.livingNames);
  if (isLiving(last)) return accept([], { box: last, note: null });
  const label = attemptLabel(last);
  if (holder) {
    return accept([], {
      box: holder,
      note: `${label} has ended; ${attemptLabel(holder)} continues with its work and gets it.`,
    });
  }
  if (node && node.status !== "done" && node.status !== "cancelled") {
    return accept([], { box: last, note: `${label} has ended; whoever continues with its work gets it.` });
  }
  if (parent) {
    return accept([], {
      box: parent,
      note: `${label} has ended, and so has its work; it goes to ${attemptLabel(parent)}, who asked for it.`,
    });
  }
  return refuse(
    "conflict",
    "RECIPIENT_FINISHED",
    `${label} has ended, and so has its work; nobody is left to read it.`,
    "Write to human, or to a running agent: 'overseer agents' lists them.",
  );
}

/** The event that puts a letter into a box. */
export function queueEvent(box: Box, letter: Letter, actor: Actor, because: string): NewEvent {
  if ("attempt" in box) return attemptEvent(box, actor, "message.queued", because, letter);
  return { type: "message.queued", actor, agent: box.agent, because, data: letter };
}

/** Messages are put before whose they are. */
export function markHanded(messages: readonly Message[], handedAs: string, because: string): NewEvent[] {
  return messages.map((message) =>
    aboutMessage(message, "overseer", "message.handed", because, { messageId: message.messageId, handedAs }),
  );
}

/** The same for an attempt. `left` says how many wait on, so that it is not told again in the same turn. */
export function handOver(
  attempt: Attempt,
  handing: { readonly messages: readonly Message[]; readonly handedAs: string; readonly left: number },
  because: string,
): NewEvent[] {
  const { messages, handedAs, left } = handing;
  const [first] = messages;
  return [
    ...markHanded(messages, handedAs, because),
    ...dispatchResults(attempt, messages, "accepted", because),
    ...(left > 0 ? [attemptEvent(attempt, "overseer", "agent.announced", "over-the-cap", { left })] : []),
    ...(attempt.waiting && first
      ? [attemptEvent(attempt, "overseer", "agent.woken", "message-arrived", { by: first.messageId })]
      : []),
  ];
}

/** DISP-2: what became of a dispatch follows what became of its message: handed, seen, expired, or a dead letter. */
export function dispatchResults(
  attempt: Attempt,
  messages: readonly Message[],
  result: "accepted" | "timeout",
  because: string,
): NewEvent[] {
  return messages.flatMap(({ dispatchId }) =>
    dispatchId === null
      ? []
      : [
          attemptEvent(attempt, "overseer", "assignment.delivered", because, {
            dispatchId,
            result,
            runId: null,
            notes: "",
          }),
        ],
  );
}

/** A sentence of the supervisor, said and put before the agent in one breath by whoever stands at its boundary. */
export function steerEvents(
  attempt: Attempt,
  said: { readonly messageId: string; readonly body: string; readonly handedAs: string },
): NewEvent[] {
  const { messageId, body, handedAs } = said;
  const letter: Letter = { messageId, kind: "steering", from: OVERSEER_ADDRESS, body };
  return [
    attemptEvent(attempt, "overseer", "message.queued", "steered", letter),
    attemptEvent(attempt, "overseer", "message.handed", "at-a-boundary", { messageId, handedAs }),
  ];
}

/** There is proof that these were seen. Those that are seen already are left alone. */
export function markSeen(messages: readonly Message[], actor: Actor, because: string): NewEvent[] {
  return messages
    .filter(isUnseen)
    .map((message) => aboutMessage(message, actor, "message.seen", because, { messageId: message.messageId }));
}

/** Handed over and without a trace: back into the queue, or, after too many times, to the dead letters. */
export function requeueEvents(messages: readonly Message[], reason: string): NewEvent[] {
  return messages
    .filter((message) => message.status === "handed")
    .map((message) =>
      message.hands >= MOST_HANDS
        ? aboutMessage(message, "overseer", "message.dead_lettered", "handed-in-vain", {
            messageId: message.messageId,
            reason: `it was delivered ${message.hands} times and never seen`,
          })
        : aboutMessage(message, "overseer", "message.requeued", "not-taken", { messageId: message.messageId, reason }),
    );
}

/** After that many times it is the message that cannot be taken, not those who were to take it. */
export const MOST_HANDS = 20;

/** Those whose time is up; nobody has to see a nudge of yesterday. */
export function overdue(messages: readonly Message[], now: number): Message[] {
  return messages.filter(
    (message) => message.status === "queued" && message.expiresAt !== null && message.expiresAt <= now,
  );
}

export function expiryEvents(messages: readonly Message[]): NewEvent[] {
  return messages.map((message) =>
    aboutMessage(message, "overseer", "message.expired", "too-old", {
      messageId: message.messageId,
      reason: `nobody saw the ${message.kind} in time`,
    }),
  );
}

/** Syncs that nobody was handed yet, of a learning that was forgotten: nobody is told what does not hold. */
export function withdrawSyncs(messages: readonly Message[], actor: Actor): NewEvent[] {
  return messages
    .filter(({ kind, status }) => kind === "sync" && status === "queued")
    .map((message) =>
      aboutMessage(message, actor, "message.expired", "forgotten", {
        messageId: message.messageId,
        reason: "the learning was forgotten",
      }),
    );
}

/** What becomes of the unseen messages of an attempt that ends: see the head of this file. */
export function afterEnd(
  waiting: readonly Message[],
  node: { readonly status: string } | undefined,
  actor: Actor,
): NewEvent[] {
  const workGoesOn = node !== undefined && node.status !== "done" && node.status !== "cancelled";
  return waiting.filter(isUnseen).flatMap((message) => {
    const { messageId } = message;
    if (!belongsToWork(message)) {
      const reason = "the agent it was for has ended";
      return [aboutMessage(message, actor, "message.expired", "attempt-ended", { messageId, reason })];
    }
    if (!workGoesOn) {
      const reason = "the agent it was for has ended, and so has its work";
      return [aboutMessage(message, actor, "message.dead_lettered", "work-ended", { messageId, reason })];
    }
    return requeueEvents([message], "the agent it was handed to has ended");
  });
}

/** Whoever continues with the work gets what its predecessors never saw. */
export function inherit(
  heir: Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId">,
  unseen: readonly Message[],
  actor: Actor,
): NewEvent[] {
  return unseen
    .filter((message) => message.status === "queued" && belongsToWork(message))
    .map(({ messageId }) => attemptEvent(heir, actor, "message.moved", "went-on-with-the-work", { messageId }));
}

type Receipt = "message.handed" | "message.seen" | "message.requeued" | "message.expired" | "message.dead_lettered";

function aboutMessage<T extends Receipt>(
  message: Message,
  actor: Actor,
  type: T,
  because: string,
  data: Extract<NewEvent, { type: T }>["data"],
): NewEvent {
  const about = message.attempt === 0 ? { agent: message.agent } : { agent: message.agent, attempt: message.attempt };
  return { type, actor, ...about, because, data } as NewEvent;
}

/** WAIT-1: an agent ends its turn and is resumed when somebody speaks to it. */
export function beginWaiting(
  attempt: Attempt | undefined,
  number: number,
  wish: { readonly on: readonly string[]; readonly unseen: number; readonly living: readonly string[] },
  moment: Moment,
): Decision<{ readonly waits: boolean; readonly on: readonly string[] }> {
  if (!attempt || !isLiving(attempt)) {
    return refuse(
      "conflict",
      "ATTEMPT_FENCED",
      `Attempt #${number} has ended; it waits for nothing.`,
      "Nothing to do.",
    );
  }
  // What it would wait for is there already, or will never come: waiting would be for ever.
  if (wish.unseen > 0) return accept([], { waits: false, on: wish.on });
  const gone = wish.on.filter((name) => !wish.living.includes(name));
  if (wish.on.length > 0 && gone.length === wish.on.length) {
    return refuse(
      "conflict",
      "NOBODY_TO_WAIT_FOR",
      `${gone.join(", ")} ${gone.length === 1 ? "is" : "are"} not at work, and nothing of theirs is unread.`,
      "See 'overseer mail list' for what came before, and 'overseer status' for who is at work.",
    );
  }
  return accept([attemptEvent(attempt, moment.actor, "agent.waiting", "asked-for", { on: wish.on })], {
    waits: true,
    on: wish.on,
  });
}

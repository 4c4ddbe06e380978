/**
 * A message to an agent: a row in its inbox with a receipt. Queued by whoever speaks, handed over at a boundary, seen
 * when there is proof of it; expired when it no longer matters, dead-lettered when nobody is left to see it. Six kinds,
 * one table, one way. What may be sent to whom is decided in mailing.ts, how it reads in injection.ts.
 */

import type { Moves } from "#domain/core/moves.ts";
import type { EventOf } from "./event.ts";
import type { MAIL_PRIORITIES, MAIL_TYPES } from "./protocol.ts";

export const MESSAGE_STATUSES = ["queued", "handed", "seen", "expired", "dead_lettered"] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/**
 * Handed goes back to queued when the one it was handed to ended and no trace of it was found. Queued goes straight to
 * seen when its recipient reads it by itself.
 */
export const MESSAGE_MOVES: Moves<MessageStatus> = {
  queued: ["handed", "seen", "expired", "dead_lettered"],
  handed: ["seen", "queued", "expired", "dead_lettered"],
  seen: [],
  expired: [],
  dead_lettered: [],
};

export const MESSAGE_KINDS = ["instruction", "mail", "nudge", "sync", "steering", "pause"] as const;
export type MessageKind = (typeof MESSAGE_KINDS)[number];

export type MailType = (typeof MAIL_TYPES)[number];
export type MailPriority = (typeof MAIL_PRIORITIES)[number];

export const NUDGE_SEVERITIES = ["hint", "warning", "critical"] as const;
export type NudgeSeverity = (typeof NUDGE_SEVERITIES)[number];

export const SYNC_URGENCIES = ["blocking", "helpful", "fyi"] as const;
export type SyncUrgency = (typeof SYNC_URGENCIES)[number];

/** What is settled about a message when it is queued. Only the first four are needed; the rest has a natural default. */
export interface Letter {
  readonly messageId: string;
  readonly kind: MessageKind;
  /** Whom to answer: an agent's name, `human`, `orchestrator`, `overseer`; an instruction says who exactly gave it. */
  readonly from: string;
  readonly body: string;
  /** The dispatch that an instruction carries out. */
  readonly dispatchId?: string | null;
  /** The address as it was typed, e.g. `@builders`. */
  readonly to?: string;
  readonly subject?: string;
  readonly type?: MailType;
  readonly priority?: MailPriority;
  readonly threadId?: string | null;
  /** How urgent a nudge or a sync is. */
  readonly tone?: NudgeSeverity | SyncUrgency;
  readonly expiresAt?: number | null;
}

export interface Message extends Required<Omit<Letter, "tone" | "type">> {
  /** Whose inbox it lies in: an agent, `human` or `orchestrator`. */
  readonly agent: string;
  /** The attempt it is for; 0 for boxes that no attempt has. */
  readonly attempt: number;
  readonly type: MailType | null;
  readonly tone: NudgeSeverity | SyncUrgency | null;
  readonly status: MessageStatus;
  /** Its place in the queue, as a place in the log: later arrivals and those that came back stand behind. */
  readonly place: number;
  /** What comes first among those that wait; see rankOf. */
  readonly rank: number;
  /** The id under which it was written to the agent's stream, or who else took it; proof of `seen` refers to it. */
  readonly handedAs: string | null;
  /** How often it was handed over. */
  readonly hands: number;
  readonly createdAt: number;
  readonly handedAt: number | null;
  readonly endedAt: number | null;
  /** Why it expired or was dead-lettered. */
  readonly endReason: string | null;
}

const PRIORITY_RANKS: Readonly<Record<MailPriority, number>> = { urgent: 2, high: 3, normal: 4, low: 5 };
const TONE_RANKS: Readonly<Record<NudgeSeverity | SyncUrgency, number>> = {
  critical: 1,
  blocking: 2,
  warning: 3,
  hint: 4,
  helpful: 4,
  fyi: 5,
};

/** Instructions first, because everything else is read in their light; then by urgency. Age decides between equals. */
export function rankOf(letter: Pick<Letter, "kind" | "priority" | "tone">): number {
  switch (letter.kind) {
    case "instruction":
    case "pause":
      return 0;
    case "steering":
      return 1;
    case "nudge":
    case "sync":
      return TONE_RANKS[letter.tone ?? "hint"];
    case "mail":
      return PRIORITY_RANKS[letter.priority ?? "normal"];
  }
}

/** Mail and what others learned concern the work, whoever does it; the rest was said to one attempt alone. */
export function belongsToWork(message: Pick<Message, "kind">): boolean {
  return message.kind === "mail" || message.kind === "sync";
}

/** Whether an agent between two turns begins one because of it; what others learned waits for the next that there is. */
export function isWorthTurn(message: Pick<Message, "kind">): boolean {
  return message.kind !== "sync";
}

export function isUnseen(message: Pick<Message, "status">): boolean {
  return message.status === "queued" || message.status === "handed";
}

export function applyToMessage(known: Message | undefined, event: EventOf): Message | undefined {
  if (event.type === "message.queued") return toMessage(event);
  if (!known) return undefined;
  switch (event.type) {
    case "message.handed":
      return {
        ...known,
        status: "handed",
        handedAs: event.data.handedAs,
        handedAt: event.at,
        hands: known.hands + 1,
      };
    case "message.requeued":
      return { ...known, status: "queued", handedAs: null, handedAt: null, place: event.seq };
    case "message.moved":
      return { ...known, agent: event.agent ?? known.agent, attempt: event.attempt ?? 0, place: event.seq };
    case "message.seen":
      return { ...known, status: "seen", endedAt: event.at };
    case "message.expired":
      return { ...known, status: "expired", endedAt: event.at, endReason: event.data.reason };
    case "message.dead_lettered":
      return { ...known, status: "dead_lettered", endedAt: event.at, endReason: event.data.reason };
    default:
      return known;
  }
}

function toMessage(event: EventOf<"message.queued">): Message {
  const { data } = event;
  return {
    messageId: data.messageId,
    kind: data.kind,
    agent: event.agent ?? "",
    attempt: event.attempt ?? 0,
    from: data.from,
    to: data.to ?? event.agent ?? "",
    subject: data.subject ?? "",
    body: data.body,
    type: data.type ?? null,
    priority: data.priority ?? "normal",
    tone: data.tone ?? null,
    threadId: data.threadId ?? null,
    dispatchId: data.dispatchId ?? null,
    expiresAt: data.expiresAt ?? null,
    status: "queued",
    place: event.seq,
    rank: rankOf(data),
    handedAs: null,
    hands: 0,
    createdAt: event.at,
    handedAt: null,
    endedAt: null,
    endReason: null,
  };
}

/**
 * A message to an agent: a row in its inbox with a receipt. Queued by whoever speaks, handed over by the runner, seen
 * when the agent's own stream echoes it; expired when nobody is left to see it. For now there is one kind, the
 * instruction; mail, nudges and the rest join the same table and the same path.
 */
import type { EventOf } from "./event.ts";
import type { Moves } from "./moves.ts";

export const MESSAGE_STATUSES = ["queued", "handed", "seen", "expired"] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/** Handed goes back to queued when the one it was handed to died before it was seen. */
export const MESSAGE_MOVES: Moves<MessageStatus> = {
  queued: ["handed", "expired"],
  handed: ["seen", "queued", "expired"],
  seen: [],
  expired: [],
};

export interface Message {
  readonly messageId: string;
  readonly kind: "instruction";
  readonly agent: string;
  readonly attempt: number;
  readonly from: string;
  readonly body: string;
  readonly dispatchId: string | null;
  readonly status: MessageStatus;
  /** The id under which it was written to the agent's stream; its echo proves that it was seen. */
  readonly handedAs: string | null;
  readonly createdAt: number;
  readonly handedAt: number | null;
  readonly endedAt: number | null;
}

export function applyToMessage(known: Message | undefined, event: EventOf): Message | undefined {
  if (event.type === "message.queued") {
    return {
      messageId: event.data.messageId,
      kind: event.data.kind,
      agent: event.agent ?? "",
      attempt: event.attempt ?? 0,
      from: event.data.from,
      body: event.data.body,
      dispatchId: event.data.dispatchId,
      status: "queued",
      handedAs: null,
      createdAt: event.at,
      handedAt: null,
      endedAt: null,
    };
  }
  if (!known) return undefined;
  switch (event.type) {
    case "message.handed":
      return { ...known, status: "handed", handedAs: event.data.handedAs, handedAt: event.at };
    case "message.seen":
      return { ...known, status: "seen", endedAt: event.at };
    case "message.expired":
      return { ...known, status: "expired", endedAt: event.at };
    default:
      return known;
  }
}

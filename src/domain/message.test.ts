/** A message and its receipts. */
import { expect, test } from "bun:test";
import type { EventOf } from "./event.ts";
import { applyToMessage, MESSAGE_MOVES, MESSAGE_STATUSES, type Message } from "./message.ts";

const about = { seq: 1, v: 1, actor: "overseer", because: "x", agent: "a", attempt: 3 } as const;
const event = (type: string, data: object, at: number) => ({ ...about, type, at, data }) as unknown as EventOf;
const queued = event(
  "message.queued",
  { messageId: "m_1", kind: "instruction", from: "human:ada", body: "Go.", dispatchId: null },
  1,
);
const handed = event("message.handed", { messageId: "m_1", handedAs: "uuid" }, 2);
const seen = event("message.seen", { messageId: "m_1" }, 3);
const expired = event("message.expired", { messageId: "m_1", reason: "its agent has ended" }, 4);

const rows: [why: string, events: EventOf[], message: Partial<Message> | undefined][] = [
  ["queued", [queued], { status: "queued", agent: "a", attempt: 3, body: "Go.", handedAs: null, createdAt: 1 }],
  [
    "handed under an id of its own",
    [queued, handed],
    { status: "handed", handedAs: "uuid", handedAt: 2, endedAt: null },
  ],
  ["seen", [queued, handed, seen], { status: "seen", endedAt: 3 }],
  ["expired before anybody saw it", [queued, expired], { status: "expired", endedAt: 4 }],
  ["a receipt for what was never queued is nothing", [handed, seen], undefined],
  [
    "an event about something else changes nothing",
    [queued, event("agent.resumed", { reason: null }, 9)],
    { status: "queued" },
  ],
];
test.each(rows)("%s", (_why, events, message) => {
  const made = events.reduce<Message | undefined>(applyToMessage, undefined);
  if (message === undefined) expect(made).toBeUndefined();
  else expect(made).toMatchObject(message);
});

test("what was seen or has expired stays so, and everything else can still end", () => {
  for (const status of MESSAGE_STATUSES) {
    const last = status === "seen" || status === "expired";
    expect(MESSAGE_MOVES[status].length === 0).toBe(last);
    if (!last) expect(MESSAGE_MOVES[status]).toContain("expired");
  }
});

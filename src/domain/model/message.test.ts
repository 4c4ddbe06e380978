/** A message and its receipts. */
import { expect, test } from "bun:test";
import type { EventOf } from "./event.ts";
import { applyToMessage, MESSAGE_MOVES, MESSAGE_STATUSES, type Message, rankOf } from "./message.ts";

const about = { v: 1, actor: "overseer", because: "x", agent: "a", attempt: 3 } as const;
const event = (type: string, data: object, at: number, more = {}) =>
  ({ ...about, seq: at, type, at, data: { messageId: "m_1", ...data }, ...more }) as unknown as EventOf;
const queued = event("message.queued", { kind: "instruction", from: "human:ada", body: "Go.", dispatchId: null }, 1);
const handed = event("message.handed", { handedAs: "uuid" }, 2);
const seen = event("message.seen", {}, 3);
const expired = event("message.expired", { reason: "its agent has ended" }, 4);
const requeued = event("message.requeued", { reason: "its agent has ended" }, 5);
const moved = event("message.moved", {}, 6, { agent: "b", attempt: 9 });
const dead = event("message.dead_lettered", { reason: "nobody is left" }, 7);

const rows: [why: string, events: EventOf[], message: Partial<Message> | undefined][] = [
  ["queued", [queued], { status: "queued", agent: "a", attempt: 3, body: "Go.", to: "a", place: 1, createdAt: 1 }],
  [
    "handed under an id",
    [queued, handed],
    { status: "handed", handedAs: "uuid", handedAt: 2, hands: 1, endedAt: null },
  ],
  ["seen", [queued, handed, seen], { status: "seen", endedAt: 3 }],
  ["read by its recipient before it was handed", [queued, seen], { status: "seen", hands: 0 }],
  [
    "expired before anybody saw it",
    [queued, expired],
    { status: "expired", endedAt: 4, endReason: "its agent has ended" },
  ],
  ["back in the queue, behind", [queued, handed, requeued], { status: "queued", handedAs: null, hands: 1, place: 5 }],
  ["moved to a successor", [queued, moved], { status: "queued", agent: "b", attempt: 9, place: 6, createdAt: 1 }],
  ["dead-lettered", [queued, dead], { status: "dead_lettered", endReason: "nobody is left" }],
  ["a receipt for what was never queued is nothing", [handed, seen], undefined],
  ["an event about something else changes nothing", [queued, event("agent.resumed", {}, 9)], { status: "queued" }],
];
test.each(rows)("RCPT-1: %s", (_why, events, message) => {
  const made = events.reduce<Message | undefined>(applyToMessage, undefined);
  if (message === undefined) expect(made).toBeUndefined();
  else expect(made).toMatchObject(message);
});

test("RCPT-1: what was seen, has expired or is dead stays so, and everything else can still end", () => {
  for (const status of MESSAGE_STATUSES) {
    const last = status !== "queued" && status !== "handed";
    expect(MESSAGE_MOVES[status].length === 0).toBe(last);
    if (!last) expect(MESSAGE_MOVES[status]).toContain("expired");
  }
});

test("INJ-1: instructions come first, then what is urgent; equals by age", () => {
  const order: Parameters<typeof rankOf>[0][] = [
    { kind: "instruction" },
    { kind: "steering" },
    { kind: "mail", priority: "urgent" },
    { kind: "mail", priority: "high" },
    { kind: "mail" },
    { kind: "mail", priority: "low" },
  ];
  const ranks = order.map(rankOf);
  expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
  expect(new Set(ranks).size).toBe(order.length);
  expect(rankOf({ kind: "nudge", tone: "critical" })).toBe(rankOf({ kind: "steering" }));
  expect(rankOf({ kind: "sync", tone: "blocking" })).toBe(rankOf({ kind: "mail", priority: "urgent" }));
  expect(rankOf({ kind: "pause" })).toBe(0);
});

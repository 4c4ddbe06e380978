/** Questions about messages are answered the same by both stores, whatever was sent, handed over, seen and moved. */
import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Letter } from "#domain/model/message.ts";
import { MESSAGE_KINDS } from "#domain/model/message.ts";
import { MAIL_PRIORITIES } from "#domain/model/protocol.ts";
import { attemptByNumber, parentAttemptOf } from "#store/attempts.ts";
import { memoryStore } from "#store/memory.ts";
import {
  countQueuedMessages,
  holderOfLast,
  isAnythingQueued,
  lastByName,
  listExpiredMessages,
  listQueuedMessages,
  livingNames,
  livingParentOfLast,
  messageById,
  messagesByIds,
  messagesLike,
  messagesWithPrefix,
  nodeOfLast,
  unreadMail,
  unseenAtNode,
  unseenInBox,
  waitingCount,
  waitingMessages,
} from "#store/messages.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Query } from "#store/query.ts";
import type { Store } from "#store/store.ts";
import { countWaitingMessages } from "#store/watch.ts";
import { addRunning } from "../support/attempts.ts";
import { scaled } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";

const opened: Store[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

async function both(): Promise<Store[]> {
  const path = `${tempDir("messages-")}/overseer.db`;
  await prepareStore({ address: path, backupDir: `${path}.backups`, now: 0 });
  const stores = [memoryStore(), await openForWriting({ address: path })];
  for (const store of stores) await addRunning(store, 2, { pid: 1, start: "1" });
  opened.push(...stores);
  return stores;
}

type Move = {
  readonly do: "queue" | "hand" | "see" | "requeue" | "expire" | "move" | "announce";
  readonly which: number;
};
const letter = fc.record({
  kind: fc.constantFrom(...MESSAGE_KINDS),
  from: fc.constantFrom("human", "agent-0", "overseer"),
  priority: fc.constantFrom(...MAIL_PRIORITIES),
  body: fc.string({ maxLength: 5 }),
});
const moves = fc.array(
  fc.record({
    do: fc.constantFrom<Move["do"]>("queue", "queue", "queue", "hand", "see", "requeue", "expire", "move", "announce"),
    which: fc.nat(30),
    to: fc.constantFrom(1, 2, 0),
    letter,
  }),
  { maxLength: 40 },
);

const questions: Record<string, Query<unknown>> = {
  ...{ w1: waitingMessages(1), w2: waitingMessages(2, 3), box: unseenInBox("agent-0"), human: unseenInBox("human", 2) },
  ...{ c1: waitingCount({ attempt: 1 }), cb: waitingCount({ agent: "agent-1" }), mail: unreadMail() },
  ...{ q1: listQueuedMessages(1, { fresh: true, limit: 9 }), q2: listQueuedMessages(1, { fresh: false, limit: 2 }) },
  ...{
    n1: countQueuedMessages(1, { fresh: true }),
    n2: countQueuedMessages(2, { fresh: false }),
    e1: listExpiredMessages(1),
    any: isAnythingQueued(1),
    worth: isAnythingQueued(1, true),
    coming: countWaitingMessages(),
  },
  ...{ one: messageById("m_1"), ids: messagesByIds(["m_2", "m_0", "m_99"]), like: messagesWithPrefix("m_1") },
  ...{ all: messagesLike({ limit: 9 }), from: messagesLike({ from: "human", limit: 5, unread: true }) },
  ...{
    thread: messagesLike({ thread: "m_0", limit: 5 }),
    kind: messagesLike({ to: "agent-0", kind: "mail", limit: 5 }),
  },
  ...{ at: unseenAtNode("goal_RUNNING000", "T1"), last: lastByName("agent-1"), none: lastByName("nobody") },
  ...{ holder: holderOfLast("agent-0"), parent: livingParentOfLast("agent-0"), node: nodeOfLast("agent-0") },
  ...{ names: livingNames(), asked: parentAttemptOf(1) },
};

test("MAIL-1: memory and SQLite answer alike after any moves", async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (list) => {
      const [memory, sqlite] = await both();
      if (!memory || !sqlite) throw new Error("no stores");
      for (const store of [memory, sqlite]) await play(store, list);
      expect(await sqlite.read(questions)).toEqual(await memory.read(questions));
      const before = await sqlite.dump();
      await sqlite.rebuild();
      expect(await sqlite.dump()).toEqual(before);
      expect(await memory.dump()).toEqual(before);
    }),
    { numRuns: scaled(25) },
  );
});

test("SYNC-2: what others learned is on its way to nobody before it is handed over, and no reason to continue a turn", async () => {
  for (const store of await both()) {
    const queue = { do: "queue", which: 7, to: 2, letter: { kind: "sync", from: "agent-0", body: "x" } } as const;
    const asked = { any: isAnythingQueued(2), worth: isAnythingQueued(2, true), coming: countWaitingMessages() };
    await store.commit({
      at: 1,
      reads: { one: attemptByNumber(2), first: waitingMessages(2) },
      decide: ({ one, first }) => {
        const seen = (messageId: string) =>
          one ? [attemptEvent(one, "overseer", "message.seen", "x", { messageId })] : [];
        return accept(
          first.flatMap(({ messageId }) => seen(messageId)),
          null,
        );
      },
    });
    await play(store, [queue]);
    const waiting = await store.read(asked);
    expect([waiting.any, waiting.worth, waiting.coming.get(2)]).toEqual([true, false, undefined]);
    await play(store, [
      { ...queue, which: 8 },
      { ...queue, do: "hand", which: 8 },
    ]);
    expect((await store.read(asked)).coming.get(2)).toMatchObject({ handed: 1 });
  }
});

/** Moves that the table forbids are left out: the rules never make them. */
async function play(
  store: Store,
  list: readonly { do: Move["do"]; which: number; to: number; letter: Omit<Letter, "messageId"> }[],
) {
  const status = new Map<number, string>();
  let at = 1_000;
  for (const move of list) {
    at += 1;
    const { which } = move;
    const messageId = `m_${which}`;
    const now = status.get(which);
    const allowed: Record<Move["do"], readonly (string | undefined)[]> = {
      ...{ queue: [undefined], hand: ["queued"], see: ["queued", "handed"], requeue: ["handed"] },
      ...{ expire: ["queued", "handed"], move: ["queued"], announce: [undefined, "queued", "handed", "ended"] },
    };
    if (!allowed[move.do].includes(now)) continue;
    await store.commit({
      at,
      reads: { one: attemptByNumber(move.to) },
      decide: ({ one }) => {
        const box = one ?? { agent: "human" };
        const event = (type: string, data: object): NewEvent =>
          ("attempt" in box
            ? attemptEvent(box, "overseer", type as "message.seen", "x", data as { messageId: string })
            : { type, actor: "overseer", agent: "human", because: "x", data }) as NewEvent;
        const made: Record<Move["do"], () => NewEvent[]> = {
          queue: () => [event("message.queued", { messageId, ...move.letter })],
          hand: () => [event("message.handed", { messageId, handedAs: "u" })],
          see: () => [event("message.seen", { messageId })],
          requeue: () => [event("message.requeued", { messageId, reason: "x" })],
          expire: () => [event("message.expired", { messageId, reason: "x" })],
          move: () => (one ? [event("message.moved", { messageId })] : []),
          announce: () => (one ? [event("agent.announced", { left: 1 })] : []),
        };
        return accept(made[move.do](), null);
      },
    });
    const next: Record<Move["do"], string | undefined> = {
      ...{
        queue: "queued",
        hand: "handed",
        see: "ended",
        requeue: "queued",
        expire: "ended",
        move: now,
        announce: now,
      },
    };
    if (next[move.do] !== undefined) status.set(which, next[move.do] ?? "");
  }
}

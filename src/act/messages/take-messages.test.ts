/** Taking messages out of an inbox: once, within the cap, and not while its attempt is paused or the fleet frozen. */
import { expect, test } from "bun:test";
import { attemptEvent, pauseAttempt } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { freezeFleet, thawFleet } from "#domain/model/fleet.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { theFleet } from "#store/fleet.ts";
import { memoryStore } from "#store/memory.ts";
import { messageById } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../../../test/support/attempts.ts";
import { ADA } from "../../../test/support/samples.ts";
import { confirmShown, steerAttempt, takeForAttempt, takeFromBox } from "./take-messages.ts";
import { idsInText, traceMessages } from "./trace-messages.ts";

async function fleet(): Promise<{ store: Store; attempt: number }> {
  const store = memoryStore();
  const [attempt = 0] = await addRunning(store, 1, { pid: 1, start: "1" });
  return { store, attempt };
}

async function say(store: Store, attempt: number, messageId: string, more: object = {}): Promise<void> {
  await store.commit({
    at: 1,
    reads: { one: attemptByNumber(attempt) },
    decide: ({ one }) => {
      const data = { messageId, kind: "mail", from: "human", body: "b".repeat(300), ...more } as const;
      if (!one)
        return accept([{ type: "message.queued", actor: "overseer", agent: "orchestrator", because: "x", data }], null);
      return accept([attemptEvent(one, "overseer", "message.queued", "x", data)], null);
    },
  });
}

const TAKING = { handedAs: "u", because: "x", capBytes: 8192, now: 10, midTurn: false };
const statusOf = async (store: Store, id: string) => (await store.read({ one: messageById(id) })).one?.status;

test("MAIL-3: what one takes, another does not get", async () => {
  const { store, attempt } = await fleet();
  await say(store, attempt, "m_a");
  const [first, second] = [await takeForAttempt(store, attempt, TAKING), await takeForAttempt(store, attempt, TAKING)];
  expect(idsInText(first.text)).toEqual(["m_RUNNING0", "m_a"]);
  expect(second.text).toBe("");
});

test("INJ-4: in the middle of a turn only what it was not told of already; the rest with the next turn", async () => {
  const { store, attempt } = await fleet();
  for (let index = 0; index < 20; index += 1) await say(store, attempt, `m_${index}`);
  const small = { ...TAKING, capBytes: 1_500 };
  const first = await takeForAttempt(store, attempt, { ...small, midTurn: true });
  expect(first.left).toBeGreaterThan(10);
  expect((await takeForAttempt(store, attempt, { ...small, midTurn: true })).text).toBe("");
  await say(store, attempt, "m_new");
  expect(idsInText((await takeForAttempt(store, attempt, { ...small, midTurn: true })).text)).toEqual(["m_new"]);
  expect((await takeForAttempt(store, attempt, small)).handed.length).toBeGreaterThan(0);
});

test("RCPT-1: what is too old is not handed over, and says so", async () => {
  const { store, attempt } = await fleet();
  await say(store, attempt, "m_old", { kind: "nudge", tone: "hint", expiresAt: 5 });
  expect((await takeForAttempt(store, attempt, TAKING)).text).not.toContain("m_old");
  expect(await statusOf(store, "m_old")).toBe("expired");
});

test("INJ-3, EDGE-5: a paused attempt gets nothing, not even steering", async () => {
  const { store, attempt } = await fleet();
  await say(store, attempt, "m_a");
  await store.commit({
    at: 2,
    reads: { one: attemptByNumber(attempt) },
    decide: ({ one }) => pauseAttempt(one, "agent-0", { now: false, reason: null }, ADA),
  });
  expect((await takeForAttempt(store, attempt, TAKING)).text).toBe("");
  expect(await steerAttempt(store, attempt, { messageId: "m_s", body: "x", handedAs: "h", now: 3 })).toBe("");
  expect(await statusOf(store, "m_s")).toBeUndefined();
});

test("INJ-1: steering is said and handed over in one commit, as the supervisor's", async () => {
  const { store, attempt } = await fleet();
  const said = { messageId: "m_s", body: "The same call failed three times.", handedAs: "hook:1", now: 3 };
  const text = await steerAttempt(store, attempt, said);
  expect(text).toContain("[SUPERVISOR] The same call failed three times.");
  expect(idsInText(text)).toEqual(["m_s"]);
  expect(await statusOf(store, "m_s")).toBe("handed");
});

test("ORCH-1: a box without an attempt is emptied once, and seen when it was shown", async () => {
  const { store } = await fleet();
  await say(store, 99, "m_o");
  const taken = await takeFromBox(store, "orchestrator", TAKING);
  expect(idsInText(taken.text)).toEqual(["m_o"]);
  expect(await statusOf(store, "m_o")).toBe("handed");
  expect((await takeFromBox(store, "orchestrator", TAKING)).text).toBe("");
  await confirmShown(store, taken, 20);
  expect(await statusOf(store, "m_o")).toBe("seen");
});

test("RCPT-1: found in the transcript it was seen; lost, it waits again", async () => {
  const { store, attempt } = await fleet();
  await say(store, attempt, "m_a");
  const { text } = await takeForAttempt(store, attempt, TAKING);
  const path = `${process.env.TMPDIR ?? "/tmp"}/transcript-${crypto.randomUUID()}.jsonl`;
  await Bun.write(path, `${JSON.stringify({ message: { content: text.replace(/<overseer-mail[\s\S]*/, "") } })}\n`);
  const settled = await traceMessages(store, attempt, {
    now: 11,
    transcript: path,
    isLost: () => true,
    reason: "gone",
  });
  await Bun.file(path).delete();
  expect(settled).toEqual({ seen: 1, requeued: 1 });
  expect(await statusOf(store, "m_RUNNING0")).toBe("seen");
  expect(await statusOf(store, "m_a")).toBe("queued");
});

test("FREEZE-1: nothing is handed over while the fleet is frozen, and everything after", async () => {
  const store = memoryStore();
  const [attempt = 0] = await addRunning(store, 1, { pid: 1, start: "1" });
  const taking = { handedAs: "h", because: "test", capBytes: 8_192, now: ADA.now, midTurn: false };
  const fleet = (rule: typeof freezeFleet) =>
    store.commit({ at: ADA.now, reads: { fleet: theFleet() }, decide: ({ fleet }) => rule(fleet, null, ADA) });

  await fleet(freezeFleet);
  expect(await takeForAttempt(store, attempt, taking)).toMatchObject({ text: "", handed: [] });
  await fleet(thawFleet);
  expect((await takeForAttempt(store, attempt, taking)).handed).toHaveLength(1);
  expect((await takeForAttempt(store, attempt, taking)).handed).toHaveLength(0);
});

import { expect, test } from "bun:test";
import { takeForAttempt } from "#act/messages/take-messages.ts";
import { parseConfig } from "#config/load.ts";
import { type SyncFleet, syncFleet } from "../../test/support/sync-world.ts";
import { addByHand, forgetByHand, learnings, readReach, searchLearnings, showLearning, syncs } from "./learnings.ts";
import { prime } from "./prime.ts";
import type { World } from "./world.ts";

const HINT = { text: "Run make db before the tests.", tags: ["api"], paths: ["src/db"] };

/** The same world as one of its agents sees it. */
function asAgent({ world, attempts }: SyncFleet, attempt: number): World {
  const agent = `agent-${attempts.indexOf(attempt)}`;
  const env = { OVERSEER_ATTEMPT: String(attempt), OVERSEER_AGENT: agent };
  return { ...world, actor: `agent:${agent}#${attempt}`, env };
}

test("SYNC-3: what a person adds is told to those it concerns, found by its words, and dropped by a part of its id", async () => {
  const fleet = await syncFleet([["api"], ["ui"]]);
  const id = await addByHand(fleet.world, HINT);
  await fleet.turn();
  expect(await syncs(fleet.world, { limit: 9 })).toMatchObject([
    { agent: "agent-0", from: "human", learningId: id, urgency: "fyi", status: "queued", text: HINT.text },
  ]);
  expect(await syncs(fleet.world, { agent: "agent-1", limit: 9 })).toEqual([]);
  expect(await searchLearnings(fleet.world, "make DB", 9)).toMatchObject([{ learningId: id, counts: { told: 1 } }]);
  expect((await showLearning(fleet.world, id.slice(0, 6))).recipients).toHaveLength(1);
  expect(await forgetByHand(fleet.world, id, "wrong")).toEqual({ learningId: id, wasKept: true });
  expect(await forgetByHand(fleet.world, id, "wrong")).toEqual({ learningId: id, wasKept: false });
  expect(await learnings(fleet.world, { all: false, limit: 9 })).toEqual([]);
  expect(await searchLearnings(fleet.world, "make DB", 9)).toEqual([]);
  expect(forgetByHand(fleet.world, "L_NOSUCH", undefined)).rejects.toThrow("There is no learning L_NOSUCH.");
});

test("SYNC-3: which command fails and what to run instead is told, shown as it is typed, and never as a fingerprint", async () => {
  const fleet = await syncFleet([["api"]]);
  const id = await addByHand(fleet.world, { ...HINT, fails: "npm test 2>&1 | tail", fix: "make db" });
  await fleet.turn();
  expect((await fleet.syncs())[0]?.body).toContain("`npm test 2>&1 | tail` fails; run `make db`.");
  const shown = await showLearning(fleet.world, id);
  expect(shown).toMatchObject({ failingCommand: "npm test", fixCommand: "make db" });
  expect(JSON.stringify(shown)).not.toContain(" ! ");
});

test("SYNC-3: whoever adds is told when it reaches nobody: without tag and path, or with the sync switched off", async () => {
  const fleet = await syncFleet([["api"]]);
  const reach = async (wish: typeof HINT) => readReach(fleet.world, await addByHand(fleet.world, wish));
  expect(await reach(HINT)).toBe("agents");
  expect(await reach({ text: "It concerns nobody.", tags: [], paths: [] })).toBe("nobody");
  const off = { ...fleet.world, config: async () => parseConfig("sync: {enabled: false}", "config.yaml") };
  expect(await readReach(off, await addByHand(off, HINT))).toBe("switched-off");
});

test("SYNC-3, EDGE-4: what an agent adds says so, carries its tags, comes back to nobody of its own, and is limited", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  const agent = asAgent(fleet, 1);
  const id = await addByHand(agent, { text: "The linter wants Node 22.", tags: [], paths: [] });
  expect(await showLearning(fleet.world, id)).toMatchObject({ via: "agent", tags: ["api"], foundBy: { attempt: 1 } });
  await fleet.turn();
  expect((await syncs(fleet.world, { limit: 9 })).map((one) => one.agent)).toEqual(["agent-1"]);
  for (let more = 2; more <= 5; more += 1) await addByHand(agent, { text: `Thing ${more}.`, tags: [], paths: [] });
  expect(addByHand(agent, { text: "One too many.", tags: [], paths: [] })).rejects.toThrow("within an hour");
  await fleet.world.clock.advance(61 * 60_000);
  expect(await addByHand(agent, { text: "One too many.", tags: [], paths: [] })).toStartWith("L_");
});

test("SYNC-3, PRIME-1: an agent that asks for its context is offered what concerns it, once by the log", async () => {
  const fleet = await syncFleet([["api"], ["ui"]]);
  const id = await addByHand(fleet.world, HINT);
  const look = async (attempt: number) => (await prime(asAgent(fleet, attempt), { compact: false })).text;
  expect((await prime(fleet.world, { agent: "agent-0", compact: false })).text).toContain(HINT.text);
  expect((await showLearning(fleet.world, id)).recipients).toEqual([]);
  expect(await look(1)).toContain(HINT.text);
  expect(await look(1)).toContain(HINT.text);
  expect(await look(2)).not.toContain(HINT.text);
  expect((await showLearning(fleet.world, id)).recipients).toMatchObject([{ attempt: 1, how: "offered", seen: true }]);
  await fleet.turn();
  expect(await syncs(fleet.world, { limit: 9 })).toEqual([]);
});

test("SYNC-2, SYNC-3: what is forgotten is not told any more: what waits is withdrawn in the same commit, and nothing is handed over late", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  const id = await addByHand(fleet.world, HINT);
  await fleet.turn();
  const [first, second] = await fleet.syncs();
  if (!first || !second) throw new Error("not told");
  const about = { agent: first.agent, attempt: first.attempt, actor: "overseer" } as const;
  const { messageId } = first;
  const handed = { ...about, type: "message.handed", because: "boundary", data: { messageId, handedAs: "h" } } as const;
  await fleet.write(handed);
  await forgetByHand(fleet.world, id, "wrong");
  const fates = async () =>
    (await fleet.syncs()).map(({ attempt, status, endReason }) => [attempt, status, endReason]).toSorted();
  expect(await fates()).toEqual(
    [
      [first.attempt, "handed", null],
      [second.attempt, "expired", "the learning was forgotten"],
    ].toSorted(),
  );
  await fleet.write({
    ...about,
    type: "message.requeued",
    because: "not-seen",
    data: { messageId, reason: "not seen" },
  });
  const now = fleet.world.clock.now();
  const taking = { handedAs: "h2", because: "boundary", capBytes: 9_000, now, midTurn: false };
  const { handed: taken, left } = await takeForAttempt(fleet.store, first.attempt, taking);
  expect([taken.map(({ kind }) => kind), left]).toEqual([["instruction"], 0]);
  expect((await fates()).map(([, status]) => status)).toEqual(["expired", "expired"]);
});

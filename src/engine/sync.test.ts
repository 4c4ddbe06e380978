import { describe, expect, test } from "bun:test";
import { parseConfig } from "#config/load.ts";
import { addByHand, learningStats, learnings, showLearning } from "#control/learnings.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { signalsOfAll } from "#store/signals.ts";
import { type SyncFleet, syncFleet } from "../../test/support/sync-world.ts";

const FAILS = "Error: no test database, set DB=memory";

async function findIt(fleet: SyncFleet, attempt = 1): Promise<void> {
  await fleet.run(attempt, "npm test -- auth", false, FAILS);
  await fleet.run(attempt, "DB=memory npm test -- auth", true, "12 passed");
}

test("SYNC-1, SYNC-2: what one finds out reaches those it concerns once, and nobody else", async () => {
  const fleet = await syncFleet([["api"], ["api"], ["ui"]]);
  await findIt(fleet);
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 1 });
  expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
  const [sync, ...others] = await fleet.syncs();
  expect(others).toEqual([]);
  expect(sync).toMatchObject({
    attempt: 2,
    agent: "agent-1",
    kind: "sync",
    from: "agent-0",
    tone: "helpful",
    status: "queued",
  });
  expect(sync?.body).toContain("DB=memory npm test -- auth");
});

test("SYNC-2: a daemon that begins anew hears a part again, and tells nothing again", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await findIt(fleet);
  await fleet.turn();
  fleet.restart();
  expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
  expect(await fleet.syncs()).toHaveLength(1);
});

test("SYNC-1: what was begun under one daemon and ended under the next is heard whole", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await fleet.run(1, "npm test -- auth", false, FAILS);
  await fleet.turn();
  fleet.restart();
  await fleet.run(1, "DB=memory npm test -- auth", true, "12 passed");
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 1 });
});

test("SYNC-2, INJ-1: one that fails at the very same just now is told that it is blocking", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await fleet.run(2, "npm test -- auth 2>&1 | tail -20", false, FAILS);
  await findIt(fleet);
  await fleet.turn();
  expect((await fleet.syncs())[0]).toMatchObject({ attempt: 2, tone: "blocking" });
});

test("LEARN-1, STAT-1: seen and used, it has saved a failure; seen and repeated, it has not; what never helps dies", async () => {
  const fleet = await syncFleet([["api"], ["api"], ["api"], ["api"], ["api"]]);
  await findIt(fleet);
  await fleet.turn();
  const syncs = await fleet.syncs();
  expect(syncs).toHaveLength(4);
  for (const sync of syncs) await fleet.see(sync);
  await fleet.run(2, "DB=memory npm test -- auth", true);
  await fleet.run(3, "npm test -- auth", false, FAILS);
  await fleet.end(4);
  await fleet.turn();
  expect(await learningStats(fleet.world)).toMatchObject({
    ...{ kept: 1, forgotten: 0, relayed: 4, seen: 4, used: 1, repeated: 1, unused: 1, saved: 1 },
  });
  const [one] = await learnings(fleet.world, { all: false, limit: 9 });
  const detail = await showLearning(fleet.world, one?.learningId ?? "");
  expect(detail.recipients.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [2, "used"],
    [3, "repeated"],
    [4, "unused"],
    [5, null],
  ]);
});

test("LEARN-1: seen by four and of use to none, it is let go, and being found again does not bring it back", async () => {
  const fleet = await syncFleet(Array.from({ length: 6 }, () => ["api"]));
  await findIt(fleet);
  await fleet.turn();
  for (const sync of await fleet.syncs()) await fleet.see(sync);
  for (const attempt of [2, 3, 4, 5]) await fleet.end(attempt);
  await fleet.turn();
  expect(await learnings(fleet.world, { all: false, limit: 9 })).toEqual([]);
  expect(await learnings(fleet.world, { all: true, limit: 9 })).toMatchObject([{ forgottenBecause: "never-helped" }]);
  await findIt(fleet, 6);
  expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
});

test("SYNC-2: at most three an hour for one agent, the third kept for what is blocking, and the rest when the hour is over", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  for (const name of ["alpha", "beta", "gamma", "delta", "epsilon"]) {
    await fleet.run(1, `npm run ${name}`, false, `Error: ${name} wants MODE`);
    await fleet.run(1, `MODE=${name} npm run ${name}`, true, "ok");
  }
  await fleet.turn();
  await fleet.turn();
  expect(await fleet.syncs()).toHaveLength(2);
  await fleet.run(2, "npm run alpha", false, "Error: alpha wants MODE");
  await fleet.run(2, "npm run beta", false, "Error: beta wants MODE");
  await fleet.run(2, "npm run gamma", false, "Error: gamma wants MODE");
  await fleet.turn();
  expect((await fleet.syncs()).map(({ tone }) => tone)).toEqual(["blocking", "helpful", "helpful"]);
  await fleet.world.clock.advance(61 * 60_000);
  await fleet.turn();
  expect(await fleet.syncs()).toHaveLength(5);
});

test("SYNC-2: what concerns an agent between two turns lies in its inbox at once", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  const turn = (kind: "turn.started" | "turn.ended", source: string) =>
    fleet.store.signals.record(2, "agent-1", [
      {
        kind,
        source,
        phase: kind,
        at: 1,
        data: { by: "x", ok: true, reason: "completed", text: "", costUsd: null },
      } as never,
    ]);
  await turn("turn.ended", "t1");
  await findIt(fleet);
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 1 });
  expect(await fleet.syncs()).toMatchObject([{ attempt: 2, status: "queued" }]);
});

test("SYNC-2, CONF-3: switched off, nothing is heard and nothing written", async () => {
  const fleet = await syncFleet([["api"], ["api"]], parseConfig("sync: {enabled: false}", "config.yaml"));
  await findIt(fleet);
  expect(await fleet.turn()).toEqual({ found: 0, relayed: 0, unheard: 0, more: false });
  expect(await learnings(fleet.world, { all: true, limit: 9 })).toEqual([]);
});

test("EDGE-4: a noisy agent yields few learnings, each once, and floods nobody", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  for (let round = 0; round < 120; round += 1) {
    await fleet.run(1, `grep -rn "thing${round % 7}" src`, round % 2 === 0, "src/a.ts: error: not found");
    await fleet.run(1, "npm test", false, `Error: attempt ${round} failed at 12:00:${round % 60}`);
    await fleet.run(1, "npm test", true, "ok");
  }
  await fleet.turn();
  expect((await learnings(fleet.world, { all: true, limit: 99 })).length).toBeLessThanOrEqual(10);
  expect((await fleet.syncs()).length).toBeLessThanOrEqual(3);
});

test("SYNC-1: a signal that is spoiled is counted and passed over; what comes after it is heard, once", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  const said = { kind: "said", phase: "said", at: 1, data: { text: "Fine." } } as const;
  await fleet.store.signals.record(1, "agent-0", [
    { ...said, source: "s1" },
    { ...said, source: "s2" },
  ]);
  // As somebody who damages the store leaves them.
  const { rows } = await fleet.store.read({ rows: signalsOfAll(0, 9) });
  Object.assign(rows[0]?.signal.data ?? {}, { text: null });
  Object.assign(rows[1]?.signal ?? {}, { data: null });
  await findIt(fleet);
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 1, unheard: 2 });
  expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0, unheard: 0 });
});

test("SYNC-1: what was found while nothing could be written is kept and told when it can be", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await findIt(fleet);
  const { commit } = fleet.store;
  Object.assign(fleet.store, { commit: () => Promise.reject(new Error("database is locked")) });
  for (let turn = 0; turn < 3; turn += 1) await expect(fleet.turn()).rejects.toThrow("locked");
  Object.assign(fleet.store, { commit });
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 1 });
  expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
});

test("SYNC-2: what is heard long after it happened is as old as it is, and not passed on as new", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await findIt(fleet);
  await fleet.world.clock.advance(48 * 60 * 60_000);
  expect(await fleet.turn()).toMatchObject({ found: 1, relayed: 0 });
  const [one] = await learnings(fleet.world, { all: false, limit: 9 });
  expect(one?.foundAt).toBeLessThan(fleet.world.clock.now() - 47 * 60 * 60_000);
});

test("LEARN-1: one that was let go as too old does not come back because a new daemon hears the old words again", async () => {
  const fleet = await syncFleet([["api"], ["api"]], parseConfig("sync: {keptFor: 2h, relayWithin: 1h}", "config.yaml"));
  await findIt(fleet);
  await fleet.turn();
  await fleet.world.clock.advance(3 * 60 * 60_000);
  await fleet.turn();
  fleet.restart();
  expect(await fleet.turn()).toMatchObject({ found: 0 });
  await findIt(fleet, 2);
  expect(await fleet.turn()).toMatchObject({ found: 1 });
});

async function say(fleet: SyncFleet, attempt: number, source: string, text: string): Promise<void> {
  await fleet.store.signals.record(attempt, `agent-${attempt - 1}`, [
    { kind: "said", source, phase: "said", at: fleet.world.clock.now(), data: { text } },
  ]);
  await fleet.world.clock.advance(1_000);
}

const ECHO = "`npm test` needs `DB=memory` to be set, otherwise the auth tests fail without the database.";

describe("SYNC-1, SYNC-2: what an agent was told and says again is no discovery of its own", () => {
  const told = async () => {
    const fleet = await syncFleet([["api"], ["api"], ["api"]]);
    await findIt(fleet);
    await fleet.turn();
    for (const sync of await fleet.syncs()) await fleet.see(sync);
    return fleet;
  };

  test("in its own words, in the same turn", async () => {
    const fleet = await told();
    await say(fleet, 2, "s1", ECHO);
    expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
  });

  test("under a daemon that begins anew", async () => {
    const fleet = await told();
    await fleet.turn();
    // So much was written since that it is not heard again.
    for (let more = 0; more < 600; more += 1) await fleet.write(NOTE);
    fleet.restart();
    await say(fleet, 2, "s1", ECHO);
    expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
  });

  test("where it was offered with its context, also under a daemon that begins anew", async () => {
    const fleet = await syncFleet([["api"], ["api"], ["api"]]);
    await addByHand(fleet.world, { text: "`npm test` fails without `DB=memory`.", tags: ["ui"], paths: ["src/api"] });
    const [one] = await learnings(fleet.world, { all: false, limit: 9 });
    const learningId = one?.learningId ?? "";
    await fleet.write({
      ...{ type: "learning.offered", actor: "overseer", agent: "agent-1", attempt: 2 },
      ...{ goalId: "goal_RUNNING001", nodeId: "T1", because: "asked-for-context", data: { learningId } },
    });
    await say(fleet, 2, "s1", ECHO);
    expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
    for (let more = 0; more < 600; more += 1) await fleet.write(NOTE);
    fleet.restart();
    await say(fleet, 2, "s2", ECHO);
    expect(await fleet.turn()).toMatchObject({ found: 0, relayed: 0 });
  });

  test("with the id of the learning, whoever says it", async () => {
    const fleet = await syncFleet([["api"], ["api"], ["api"]]);
    await say(fleet, 3, "s1", `${ECHO} (learning L_ABC of agent-0#1)`);
    await say(fleet, 3, "s2", `${ECHO}\n(learning L_ABC of agent-0#1)`);
    expect(await fleet.turn()).toMatchObject({ found: 0 });
    await say(fleet, 3, "s3", ECHO);
    expect(await fleet.turn()).toMatchObject({ found: 1 });
  });
});

const NOTE: NewEvent = {
  ...{ type: "goal.updated", actor: "human:ada", goalId: "goal_RUNNING000", because: "asked-for" },
  data: { changes: { tags: ["api"] } },
};

test("SYNC-1: what an agent says in other words of the remedy it has just found is no second learning", async () => {
  const fleet = await syncFleet([["api"], ["api"]]);
  await fleet.run(1, "make all", false, "Error: connect ECONNREFUSED 127.0.0.1:5432");
  await fleet.run(1, "make db", true, "created");
  await fleet.run(1, "make all", true, "ok");
  const text = "make all fails until make db was run.";
  await fleet.store.signals.record(1, "agent-0", [
    { kind: "said", source: "s1", phase: "said", at: fleet.world.clock.now(), data: { text } } as never,
  ]);
  await fleet.turn();
  expect(await learnings(fleet.world, { all: true, limit: 9 })).toMatchObject([
    { failingCommand: "make all", fixCommand: "make db" },
  ]);
});

/** The watch over both stores: what it keeps, what it reads again, whom it skips, and what it leaves to the tick. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { listHealth, listHealthChanges } from "#control/health.ts";
import { healthOf, latestHealthChanges } from "#store/health.ts";
import { openForWriting, openHealthLog, openSignalLog, prepareStore } from "#store/open.ts";
import { pulsesOfLiving } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { WATCHED_PULSES } from "#store/watch.ts";
import { endIt } from "../../test/contract/signal-log.suite.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { tempDir } from "../../test/support/temp.ts";
import { BLIND, watchOver } from "../../test/support/watch-observations.ts";
import { worldOn } from "../../test/support/world.ts";
import { DegradedWatch } from "./degraded-watch.ts";
import { tick } from "./tick.ts";
import { Watch } from "./watch.ts";

const HALF = 30_000;
const PLENTY = {
  load: 0,
  cores: 4,
  freeMemoryBytes: 9e9,
  totalMemoryBytes: 9e9,
  freeDiskBytes: 9e9,
  totalDiskBytes: 9e9,
};

describe("WATCH-1: a cycle", () => {
  test("keeps how each does, and writes no more while nothing changes", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(3);
    await speak(...attempts);
    const first = await watch.look(world);
    expect([first.agents, first.changed.length]).toEqual([3, 3]);
    await speak(...attempts);
    await world.clock.advance(HALF);
    const second = await watch.look(world);
    // Seen to act between two looks: how fresh they are is known now.
    expect(second.changed.map(({ freshness }) => freshness)).toEqual(["fresh", "fresh", "fresh"]);
    await speak(...attempts);
    await world.clock.advance(HALF);
    expect((await watch.look(world)).changed).toEqual([]);
    const { changes } = await store.read({ changes: latestHealthChanges(10) });
    expect(changes.map(({ was, status }) => [was, status])).toEqual([
      [null, "working"],
      [null, "working"],
      [null, "working"],
    ]);
  });

  test("calls for the tick where one is silent, by name and cause, and acts on nobody itself", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(2);
    const [quiet = 0, busy = 0] = attempts;
    await speak(quiet, busy);
    for (let at = 0; at < 40; at += 1) {
      await world.clock.advance(HALF);
      await speak(busy);
      await watch.look(world);
    }
    const before = (await store.log({ after: 0, limit: 1_000 })).length;
    const { causes } = await watch.look(world);
    expect(causes).toEqual(["agent-0 no-activity"]);
    expect((await store.log({ after: 0, limit: 1_000 })).length).toBe(before);
    const { health } = await store.read({ health: healthOf(quiet) });
    expect(health).toMatchObject({ status: "silent", phase: "stalled", freshness: "very-stale", nextNudge: "hint" });
  });

  test("EDGE-1: one that ends while it is looked at is skipped, and the cycle goes on", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(2);
    const [gone = 0, there = 0] = attempts;
    await speak(...attempts);
    // Between the look at which versions there are and the reading of documents it ends.
    let reads = 0;
    const racing: Store = {
      ...store,
      async read(wanted) {
        reads += 1;
        if ("some" in wanted && reads === 3) await endIt(store, gone);
        return store.read(wanted);
      },
    };
    const { agents, changed } = await watch.look({ ...world, reader: async () => racing });
    expect([agents, changed.map(({ attempt }) => attempt)]).toEqual([1, [there]]);
    expect((await store.read({ health: healthOf(gone) })).health).toBeUndefined();
  });

  test("FRESH-1, EDGE-10: neither a wall clock that is set nor a machine that slept makes anybody stale", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(1);
    const [attempt = 0] = attempts;
    await speak(attempt);
    await watch.look(world);
    await speak(attempt);
    await watch.look(world);
    world.clock.jump(5 * 3_600_000);
    await watch.look(world);
    const fresh = async () => (await store.read({ health: healthOf(attempt) })).health?.freshness;
    expect(await fresh()).toBe("fresh");
    await world.clock.suspend(8 * 3_600_000);
    await watch.look(world);
    expect(await fresh()).toBe("fresh");
  });

  test("FRESH-1: the next life of the daemon knows since when somebody is quiet; another boot does not", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(1);
    const [attempt = 0] = attempts;
    const fresh = async () => (await store.read({ health: healthOf(attempt) })).health?.freshness;
    await watch.look(world);
    await speak(attempt);
    for (let at = 0; at < 5; at += 1) {
      await watch.look(world);
      await world.clock.advance(HALF);
    }
    await watch.look(world);
    expect(await fresh()).toBe("stale");
    const next = () => new Watch({ observer: async () => BLIND, openHealth: () => store.health });
    await next().look(world);
    expect(await fresh()).toBe("stale");
    const rebooted = { ...world, clock: { ...world.clock, boot: () => "another" } };
    await next().look(rebooted);
    expect(await fresh()).toBe("unknown");
  });

  test("DEGR-1: a pulse that cannot be judged makes it fail, and thresholds still know since when the others are quiet", async () => {
    const { world, watch, attempts, speak, store } = await watchOver(2);
    const [spoiled = 0, quiet = 0] = attempts;
    await speak(spoiled, quiet);
    await watch.look(world);
    await speak(spoiled);
    for (let at = 0; at < 35; at += 1) {
      await world.clock.advance(HALF);
      await speak(spoiled);
      await watch.look(world);
    }
    await speak(spoiled);
    const broken: Store = {
      ...store,
      async read(wanted) {
        const seen = await store.read(wanted);
        const some = (seen as { some?: readonly { calls?: unknown; attempt: number }[] }).some;
        const spoil = (one: { calls?: unknown; attempt: number }) =>
          one.attempt === spoiled && "calls" in one ? { ...one, calls: undefined } : one;
        return some ? { ...seen, some: some.map(spoil) } : seen;
      },
    };
    const blinded = { ...world, reader: async () => broken };
    await expect(watch.look(blinded)).rejects.toThrow();
    const blind = new DegradedWatch((attempt, beats) => watch.readQuiet(attempt, beats));
    expect((await blind.look(blinded)).stepped).toEqual(["agent-1"]);
    expect((await watch.look(world)).agents).toBe(2);
  });
});

test("DEGR-1: one spoiled pulse is named, everybody else is judged, and it is never paused for it; its next signal ends that", async () => {
  const address = `${tempDir("watch-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  const store = await openForWriting({ address });
  const [spoiled = 0, other = 0] = await addRunning(store, 2, { pid: 7, start: "7" });
  const world = worldOn(store);
  const watch = new Watch({ observer: async () => BLIND, openHealth: () => openHealthLog(address) });
  const log = openSignalLog(address);
  let count = 0;
  const speak = async (...who: readonly number[]) => {
    for (const one of who) {
      count += 1;
      const said = {
        kind: "said",
        source: `s${count}`,
        phase: "",
        at: world.clock.now(),
        data: { text: "on" },
      } as const;
      await log.record(one, `agent-${one === spoiled ? 0 : 1}`, [said]);
    }
  };
  await speak(spoiled, other);
  await watch.look(world);
  const db = new Database(address);
  db.run("update pulses set doc = json_remove(doc, '$.calls'), beats = beats + 1 where attempt = ?1", [spoiled]);
  db.close();
  const blind = new DegradedWatch((attempt, beats) => watch.readQuiet(attempt, beats));
  const stepped: string[] = [];
  for (let at = 0; at < 40; at += 1) {
    await world.clock.advance(HALF);
    await speak(other);
    const { agents, unjudged } = await watch.look(world);
    expect([agents, unjudged.map(({ agent }) => agent)]).toEqual([2, ["agent-0"]]);
    // Also where nobody could be judged, it is not the one to be paused.
    stepped.push(...(await blind.look(world)).stepped);
    expect((await tick({ ...world, room: async () => PLENTY }, BLIND, "test")).judged.get(spoiled)).toMatchObject({
      because: "pulse-unusable",
    });
  }
  expect(stepped).toEqual([]);
  expect((await store.read({ health: healthOf(spoiled) })).health?.diagnosis).toContain("spoiled");
  await speak(spoiled);
  expect((await watch.look(world)).unjudged).toEqual([]);
  expect((await store.read({ health: healthOf(spoiled) })).health?.status).toBe("working");
  log.close();
  await store.close();
});

test("DEGR-1: a spoiled row of health is as none: the next look writes it again, and people can read the others", async () => {
  const address = `${tempDir("watch-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  const store = await openForWriting({ address });
  const attempts = await addRunning(store, 2, { pid: 7, start: "7" });
  const [spoiled = 0, other = 0] = attempts;
  const world = worldOn(store);
  const watch = () => new Watch({ observer: async () => BLIND, openHealth: () => openHealthLog(address) });
  await watch().look(world);
  for (const doc of ['{"attempt":', "null", `{"attempt":${spoiled},"quiet":7}`]) {
    const db = new Database(address);
    db.run("update health set doc = ?2 where attempt = ?1", [spoiled, doc]);
    db.run("update diagnoses set doc = ?2 where attempt = ?1", [spoiled, doc]);
    db.close();
    expect((await listHealth(world)).agents.map(({ attempt }) => attempt)).toEqual([other]);
    expect((await listHealthChanges(world, { limit: 9 })).changes.map(({ attempt }) => attempt)).toEqual([other]);
    await watch().look(world);
    expect((await listHealth(world)).agents.map(({ attempt }) => attempt)).toEqual([...attempts]);
  }
  await store.close();
});

test("EDGE-3: hooks and looks at one pulse at the same time lose no beat of it", async () => {
  const address = `${tempDir("watch-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  const store = await openForWriting({ address });
  const [attempt = 0] = await addRunning(store, 1, { pid: 7, start: "7" });
  const world = worldOn(store);
  const watch = new Watch({ observer: async () => BLIND, openHealth: () => openHealthLog(address) });
  const logs = [1, 2, 3].map(() => openSignalLog(address));
  const said = (who: number, at: number) =>
    ({ kind: "said", source: `${who}-${at}`, phase: "", at, data: { text: "on" } }) as const;
  const ROUNDS = 20;
  await Promise.all([
    ...logs.map(async (log, who) => {
      for (let at = 0; at < ROUNDS; at += 1) await log.record(attempt, "agent-0", [said(who, at)]);
    }),
    (async () => {
      for (let at = 0; at < ROUNDS; at += 1) await watch.look(world);
    })(),
  ]);
  const { pulses, versions } = await store.read({ pulses: pulsesOfLiving(), versions: WATCHED_PULSES.versions() });
  expect(pulses[0]?.beats).toBe(3 * ROUNDS);
  expect(versions).toEqual([{ id: String(attempt), version: 3 * ROUNDS }]);
  expect((await watch.look(world)).agents).toBe(1);
  expect((await store.read({ health: healthOf(attempt) })).health?.status).toBe("working");
  for (const log of logs) log.close();
  await store.close();
});

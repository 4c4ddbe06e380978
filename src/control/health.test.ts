/** What `stats` counts, and the older words beside ours, over both stores. */
import { describe, expect, test } from "bun:test";
import type { Actor } from "#domain/core/actor.ts";
import { requestStop } from "#domain/model/attempt.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { tempDir } from "../../test/support/temp.ts";
import { watchOver } from "../../test/support/watch-observations.ts";
import { worldOn } from "../../test/support/world.ts";
import { agents } from "./agents.ts";
import { readSupervisionStats } from "./health.ts";
import { readLifeWords, sayLifeWords } from "./life-words.ts";

async function openOnDisk(): Promise<Store> {
  const address = `${tempDir("stats-")}/overseer.db`;
  await prepareStore({ address, backupDir: `${address}.backups`, now: 0 });
  return openForWriting({ address });
}

describe.each([
  ["memory", async (): Promise<Store> => memoryStore()],
  ["sqlite", openOnDisk],
])("STAT-1: in %s", (_where, open) => {
  test("agents that a person stopped count as aborts; those that a rule ended or that only rest do not", async () => {
    const store = await open();
    const stops: readonly [Actor, boolean][] = [
      ["human:ada", false],
      ["human:ada", true],
      ["overseer", false],
    ];
    const running = await addRunning(store, stops.length, { pid: 7, start: "7" });
    for (const [at, [actor, resume]] of stops.entries()) {
      const number = running[at] ?? 0;
      await store.commit({
        at: 1,
        reads: { attempt: attemptByNumber(number) },
        decide: ({ attempt }) => requestStop(attempt, "it", null, { now: 1, actor }, resume),
      });
    }
    expect(await readSupervisionStats(worldOn(store))).toMatchObject({ aborts: 1, pauses: 0 });
    await store.close();
  });
});

const MINUTE = 60_000;

test("HEALTH-2: agents are told in the older words too, as the watch kept them, and how fresh they are as of now", async () => {
  const { world, watch, attempts, speak } = await watchOver(2);
  const [first = 0] = attempts;
  const said = async () => (await agents(world)).map(({ phase, freshness }) => [phase, freshness]);
  expect(await said()).toEqual([
    [null, "unknown"],
    [null, "unknown"],
  ]);
  await speak(...attempts);
  await watch.look(world);
  await speak(first);
  await watch.look(world);
  await world.clock.advance(MINUTE);
  await watch.look(world);
  await world.clock.advance(3 * MINUTE);
  expect((await said())[1]).toEqual(["working", "stale"]);
  const words = await readLifeWords({ ...world, config: () => Promise.reject(new Error("It cannot be read.")) });
  expect(words({ attempt: first, status: "running" })).toEqual({ phase: "working", freshness: "fresh" });
  expect(words({ attempt: first, status: "ended" }).phase).toBe("terminated");
  expect(sayLifeWords({ phase: "stalled", freshness: "very-stale" })).toBe("stalled, very stale");
  expect(sayLifeWords({ phase: null, freshness: "unknown" })).toBe("");
});

/** Many real processes on one database: nothing lost, nothing doubled, nobody told to try again. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { goalById } from "#store/goals.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { addGoal } from "../support/samples.ts";
import { tempDir } from "../support/temp.ts";

const WRITER = join(import.meta.dir, "../support/writer.ts");
const WRITERS = 50;
const COMMITS = 200;

test("STORE-4: 50 processes making 200 commits each lose nothing, and no caller sees an error", async () => {
  const directory = tempDir("writers-");
  const path = `${directory}/overseer.db`;
  await prepareStore({ address: path, backupDir: `${directory}/backups`, now: 0 });
  const store = await openForWriting({ address: path });
  try {
    await addGoal(store, "goal_SHARED");
    const writers = Array.from({ length: WRITERS }, (_, index) =>
      Bun.spawn([process.execPath, WRITER, path, "goal_SHARED", String(COMMITS), `writer-${index}`], {
        stdout: "ignore",
        stderr: "pipe",
      }),
    );
    const ends = await Promise.all(writers.map(async (one) => [await one.exited, await one.stderr.text()] as const));
    expect(ends.filter(([code, said]) => code !== 0 || said !== "")).toEqual([]);

    const log = await store.log({ after: 1, limit: WRITERS * COMMITS + 1 });
    expect(log.length).toBe(WRITERS * COMMITS);
    expect(log.findIndex((event, index) => event.seq !== index + 2)).toBe(-1);
    const perWriter = Map.groupBy(log, (event) => event.actor);
    expect([...perWriter.values()].filter((events) => events.length !== COMMITS)).toEqual([]);
    const { goal } = await store.read({ goal: goalById("goal_SHARED") });
    expect(goal?.owner).toBe(String(WRITERS * COMMITS));

    const before = await store.dump();
    expect((await store.rebuild()).events).toBe(WRITERS * COMMITS + 1);
    expect(await store.dump()).toEqual(before);
  } finally {
    await store.close();
  }
}, 120_000);

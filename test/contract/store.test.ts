import { expect, test } from "bun:test";
import { memoryStore } from "#store/memory.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { addGoal } from "../support/samples.ts";
import { tempDir } from "../support/temp.ts";
import { storeSuite } from "./store.suite.ts";

async function sqlite() {
  const directory = tempDir("store");
  const path = `${directory}/overseer.db`;
  await prepareStore({ address: path, backupDir: `${directory}/backups`, now: 0 });
  return { path, store: await openForWriting({ address: path }) };
}

storeSuite("memory", async () => memoryStore());
storeSuite("SQLite", async () => (await sqlite()).store);

test("STORE-4: two connections on one file see each other's commits, and the follower's mark moves", async () => {
  const { path, store } = await sqlite();
  const other = await openForWriting({ address: path });
  const mark = await other.changeMark();
  await addGoal(store, "goal_A");
  expect(await other.changeMark()).not.toBe(mark);
  await addGoal(other, "goal_B");
  expect((await store.log({ after: 0, limit: 10 })).map((event) => event.goalId)).toEqual(["goal_A", "goal_B"]);
  await store.close();
  await other.close();
});

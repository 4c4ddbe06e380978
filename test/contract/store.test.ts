import { expect, test } from "bun:test";
import { rmSync } from "node:fs";

import { memoryStore } from "#store/memory.ts";
import { openForWriting, prepareStore, watchStore } from "#store/open.ts";
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

test("STORE-4: whoever watches is told of a commit at once, and not any more when the watch has ended", async () => {
  const { path, store } = await sqlite();
  await addGoal(store, "goal_A");
  let [told, count] = [(): void => {}, 0];
  const unwatch = watchStore(path, () => {
    count += 1;
    told();
  });
  const news = new Promise<void>((resolve) => {
    told = resolve;
  });
  const other = await openForWriting({ address: path });
  await addGoal(other, "goal_B");
  await news;
  unwatch();
  const before = count;
  await addGoal(other, "goal_C");
  await store.close();
  await other.close();
  expect(count).toBe(before);
});

test("STORE-4: a store that is not there is watched by nobody", () => {
  watchStore(`${tempDir("store")}/overseer.db`, () => expect.unreachable())();
});

test("STORE-5: a -wal that is removed under an open store costs nothing: its holder brings it home, and all is there when it is opened again", async () => {
  const { path: address, store: holder } = await sqlite();
  await addGoal(holder, "goal_A");
  rmSync(`${address}-wal`);
  await expect(holder.read({})).rejects.toMatchObject({ code: "STORE_WAL_GONE" });
  const next = await openForWriting({ address });
  await addGoal(next, "goal_B");
  const other = await openForWriting({ address });
  const ids = (await other.log({ after: 0, limit: 100 })).flatMap(({ goalId }) => goalId ?? []);
  expect(ids).toEqual(["goal_A", "goal_B"]);
  await expect(holder.changeMark()).rejects.toMatchObject({ code: "STORE_WAL_GONE" });
  for (const one of [other, next]) await one.close();
});

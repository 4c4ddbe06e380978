/** SALUTE-2: the files of a shared volume, with real ones: two containers, writers at work, and what is no report. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { saluteLatest, steeringFile } from "#domain/signals/salute.ts";
import { systemFiles } from "#sys/files.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { reportOf } from "../../test/support/salutes.ts";
import { tempDir } from "../../test/support/temp.ts";
import { SaluteWatch } from "./salute-watch.ts";

const files = systemFiles();

function volume() {
  const shared = tempDir("shared-");
  const [one, two] = [join(shared, "one"), join(shared, "two")];
  for (const directory of [one, two]) mkdirSync(directory);
  const clock = virtualClock();
  const watch = new SaluteWatch({ files, clock, directory: shared, goneAfterMs: 60_000 });
  return { shared, one, two, watch };
}

test("each container has its own agent of a name, and only the one in trouble is steered", async () => {
  const { one, two, watch } = volume();
  writeFileSync(saluteLatest(one, "ada"), reportOf(3));
  writeFileSync(saluteLatest(two, "ada"), reportOf(1));
  writeFileSync(join(two, "notes.txt"), "not a report");
  writeFileSync(join(two, "bob_latest.json"), '{"half');
  const notes = await watch.look();
  expect(notes.filter((note) => note.includes("is told")).length).toBe(1);
  expect(notes.filter((note) => note.includes("not a report this version understands")).length).toBe(1);
  expect(JSON.parse(readFileSync(steeringFile(one, "ada"), "utf8"))).toMatchObject({
    v: 1,
    attempt: 1,
    anomaly: "loop",
  });
  expect(existsSync(steeringFile(two, "ada"))).toBe(false);
  expect(await watch.look()).toEqual([]);
});

test("what waits for an agent that has ended is taken away, and an emergency leaves a notice", async () => {
  const { one, watch } = volume();
  writeFileSync(saluteLatest(one, "ada"), reportOf(9));
  await watch.look();
  expect(JSON.parse(readFileSync(join(one, "ada_emergency.json"), "utf8"))).toMatchObject({
    agent: "ada",
    status: { pace: "emergency", health: "critical" },
  });
  expect(existsSync(steeringFile(one, "ada"))).toBe(true);
  writeFileSync(saluteLatest(one, "ada"), reportOf(9, true));
  expect(await watch.look()).toEqual(["ada#1 has ended."]);
  expect(existsSync(steeringFile(one, "ada"))).toBe(false);
});

test("no report is ever read by half while it is being written", async () => {
  const { one, watch } = volume();
  let writing = true;
  const notes: string[] = [];
  const writer = (async () => {
    for (let count = 0; count < 40; count += 1) await files.write(saluteLatest(one, "ada"), reportOf(1 + (count % 12)));
    writing = false;
  })();
  while (writing) notes.push(...(await watch.look()));
  await writer;
  expect(notes.length).toBeGreaterThan(0);
  expect(notes.filter((note) => note.includes("no report"))).toEqual([]);
});

test("a directory that is gone is said clearly", async () => {
  const { shared, watch } = volume();
  rmSync(shared, { recursive: true });
  await expect(watch.look()).rejects.toMatchObject({ kind: "environment", code: "SALUTE_DIR_GONE" });
});

/** SALUTE-2: the files of a shared volume, with real ones: two containers, writers at work, and what is no report. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

test.each<[string, (directory: string) => void]>([
  ["an emergency without a task", (at) => putChanged(at, ({ unit }) => delete unit.task)],
  ["rules without patience", (at) => putChanged(at, ({ rules }) => delete rules.loopRepeats)],
  ["rules without words", (at) => putChanged(at, ({ rules }) => delete rules.pace)],
  [
    "a course with a call that is none",
    (at) => putChanged(at, ({ evidence }) => (evidence.course = { calls: [null] })),
  ],
  ["the report of another name", (at) => putChanged(at, ({ unit }) => (unit.agent = "bob"))],
  ["a report that is too large", (at) => putChanged(at, ({ unit }) => (unit.task = "x".repeat(70_000)))],
  ["a link to what has no end", (at) => symlinkSync("/dev/zero", saluteLatest(at, "ada"))],
  ["a pipe", (at) => void Bun.spawnSync(["mkfifo", saluteLatest(at, "ada")])],
])("SALUTE-2: %s is skipped with a note, once, and everybody else is watched", async (_what, put) => {
  const { shared, one, two } = volume();
  const emergencies: string[] = [];
  const watch = new SaluteWatch({
    ...{ files, clock: virtualClock(), directory: shared, goneAfterMs: 60_000 },
    onEmergency: async ({ container, unit }) => void emergencies.push(`${container} ${unit.task.length}`),
  });
  put(one);
  writeFileSync(saluteLatest(two, "ada"), reportOf(9));
  const notes = await watch.look();
  expect(notes.filter((note) => note.includes("it is skipped"))).toHaveLength(1);
  expect(emergencies).toEqual(["two 2"]);
  expect((await watch.look()).filter((note) => note.includes("it is skipped"))).toEqual([]);
});

test("SALUTE-2: what fails about one report is a note, and the others are watched", async () => {
  const { shared, one, two } = volume();
  for (const directory of [one, two]) writeFileSync(saluteLatest(directory, "ada"), reportOf(9));
  const asked: string[] = [];
  const watch = new SaluteWatch({
    ...{ files, clock: virtualClock(), directory: shared, goneAfterMs: 60_000 },
    onEmergency: async ({ container }) => {
      if (container === "one") throw new Error("No room.");
      asked.push(container);
      return undefined;
    },
  });
  expect((await watch.look()).filter((note) => note.includes("No room."))).toHaveLength(1);
  expect(asked).toEqual(["two"]);
});

test("SALUTE-2: a container whose directory cannot be listed is a note, and the others are watched", async () => {
  const { shared, one, two } = volume();
  for (const directory of [one, two]) writeFileSync(saluteLatest(directory, "ada"), reportOf(1));
  const denied = {
    ...files,
    list: async (path: string) => (path === one ? Promise.reject(new Error("EACCES")) : files.list(path)),
  };
  const watch = new SaluteWatch({ files: denied, clock: virtualClock(), directory: shared, goneAfterMs: 60_000 });
  expect(await watch.look()).toEqual([`${one} could not be followed: EACCES`, expect.stringContaining("ada#1: ")]);
  expect(await watch.look()).toEqual([]);
});

// biome-ignore lint/suspicious/noExplicitAny: it is made into what no type allows
function putChanged(directory: string, change: (report: any) => unknown): void {
  const report = JSON.parse(reportOf(9));
  change(report);
  writeFileSync(saluteLatest(directory, "ada"), JSON.stringify(report));
}

import { expect, test } from "bun:test";
import { defaultConfig } from "#config/schema.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { DaemonLog } from "./log.ts";

const settings = defaultConfig().logs;

async function logged(changes: Partial<typeof settings>, write: (log: DaemonLog) => void) {
  const files = memoryFiles();
  await files.makeDir("/logs");
  const log = new DaemonLog({ files, clock: virtualClock(), path: "/logs/daemon.ndjson" }, { ...settings, ...changes });
  write(log);
  await log.flush();
  return files;
}

test("LOG-2: a record has time, level, event, agent and data, and no secret", async () => {
  const files = await logged({}, (log) => log.record("info", "action.done", { token: "swordfish" }, "ada"));
  const line = JSON.parse((await files.read("/logs/daemon.ndjson")) ?? "") as Record<string, unknown>;
  expect(line).toMatchObject({ time: "1970-01-01T00:00:00.000Z", level: "info", event: "action.done", agent: "ada" });
  expect(JSON.stringify(line)).not.toContain("swordfish");
});

test("LOG-2: records below the configured level are left out", async () => {
  const files = await logged({ level: "warning" }, (log) => {
    for (const level of ["debug", "info", "warn", "error"] as const) log.record(level, level);
  });
  const events = ((await files.read("/logs/daemon.ndjson")) ?? "").trim().split("\n");
  expect(events.map((line) => JSON.parse(line).event)).toEqual(["warn", "error"]);
});

test("LOG-2: the file turns over by size, and so many are kept", async () => {
  const files = await logged({ maxSize: 1024, keep: 2 }, (log) => {
    for (let number = 0; number < 200; number += 1) log.record("info", "tick.ended", { number });
  });
  expect(await files.list("/logs")).toEqual(["daemon.ndjson", "daemon.ndjson.1", "daemon.ndjson.2"]);
  for (const name of ["daemon.ndjson", "daemon.ndjson.1"]) {
    expect((await files.facts(`/logs/${name}`))?.size).toBeLessThanOrEqual(1024);
  }
  expect(await files.read("/logs/daemon.ndjson")).toContain('"number":199');
});

test("LOG-2: new settings count from the next record, and nothing is lost on the way", async () => {
  const files = await logged({ keep: 1000, maxSize: 1024 }, (log) => {
    for (let number = 0; number < 50; number += 1) log.record("info", "before", { number });
    log.follow({ ...settings, level: "error", keep: 1000, maxSize: 1024 });
    log.record("info", "left out");
    log.record("error", "after");
  });
  const names = (await files.list("/logs")) ?? [];
  const text = (await Promise.all(names.map((name) => files.read(`/logs/${name}`)))).join("");
  expect(text.match(/"before"/g)).toHaveLength(50);
  expect(text).toContain('"after"');
  expect(text).not.toContain("left out");
});

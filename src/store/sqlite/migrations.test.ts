/** The schema as one can read it, and the promise that every log ever written still folds into what it folded into. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventOf } from "#domain/model/event.ts";
import { EVENT_TYPES } from "#domain/model/event.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { memoryStore } from "#store/memory.ts";
import { openForReading, openForWriting, openSignalLog, prepareStore } from "#store/open.ts";
import type { DumpRow } from "#store/store.ts";
import { presentSchema } from "../../../scripts/dump-schema.ts";
import { addRunning } from "../../../test/support/attempts.ts";
import { undoColumns } from "../../../test/support/older-store.ts";
import { provenLog } from "../../../test/support/store-proof.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { connect } from "./file.ts";

test("STORE-3: schema.sql is what the migrations make (bun scripts/dump-schema.ts > src/store/sqlite/schema.sql)", () => {
  expect(readFileSync(join(import.meta.dir, "schema.sql"), "utf8")).toBe(presentSchema());
});

const LOGS = join(import.meta.dir, "../../../test/logs");
const recorded = readdirSync(LOGS).filter((name) => name.endsWith(".ndjson"));

function recording(name: string): { events: EventOf[]; rows: DumpRow[] } {
  const lines: ({ event: EventOf } | { row: DumpRow })[] = readFileSync(join(LOGS, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return {
    events: lines.flatMap((line) => ("event" in line ? [line.event] : [])),
    rows: lines.flatMap((line) => ("row" in line ? [line.row] : [])),
  };
}

test.each(recorded)("STORE-3: the log recorded in %s still folds into the tables of its day", async (name) => {
  const { events, rows } = recording(name);
  const path = `${tempDir("log-")}/overseer.db`;
  await prepareStore({ address: path, backupDir: `${path}.backups`, now: 0 });
  for (const store of [memoryStore(), await openForWriting({ address: path })]) {
    await store.append(events);
    expect(await store.dump()).toEqual(rows);
    await store.rebuild();
    expect(await store.dump()).toEqual(rows);
    await store.close();
  }
});

test("STORE-3: a store from before there were columns for parent, announced, ended_at and pulses is migrated with them filled", async () => {
  const path = `${tempDir("columns-")}/overseer.db`;
  const options = { address: path, backupDir: `${path}.backups`, now: 0 };
  await prepareStore(options);
  const store = await openForWriting({ address: path });
  const [attempt = 0] = await addRunning(store, 2, { pid: 7, start: "7" });
  const signals = openSignalLog(path);
  await signals.record(attempt, "agent-0", [
    { kind: "turn.started", source: "s", phase: "", at: 5, data: { by: "overseer" } },
  ]);
  signals.close();
  const before = await store.read({ rows: agentsAtWork() });
  await store.close();
  const db = connect(path, false);
  undoColumns(db);
  db.run("pragma user_version = 7");
  db.close();
  expect(await prepareStore(options)).toEqual({ created: false, migratedFrom: 7 });
  const migrated = await openForReading({ address: path });
  expect(await migrated.read({ rows: agentsAtWork() })).toEqual(before);
  expect(before.rows.map(({ inTurn, lastAt }) => [inTurn, lastAt])).toContainEqual([true, 5]);
  await migrated.close();
  provenLog(path);
});

test("the first recorded log holds the events of goals, plans, work, and handoffs", () => {
  const types = new Set(recording("0001.ndjson").events.map((event) => event.type));
  const expected = EVENT_TYPES.filter((type) => /^(goal|plan|work|crystallization)\./.test(type));
  expect(expected.filter((type) => !types.has(type))).toEqual([
    "work.requeued",
    "work.claimed",
    "work.checked",
    "work.returned",
  ]);
});

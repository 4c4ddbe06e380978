/** The schema as one can read it, and the promise that every log ever written still folds into what it folded into. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EventOf } from "#domain/model/event.ts";
import { EVENT_TYPES } from "#domain/model/event.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { memoryStore } from "#store/memory.ts";
import { inspectStore, openForReading, openForWriting, openSignalLog, prepareStore } from "#store/open.ts";
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

/** The statements of the version before, as its runners and hooks have them prepared while they live. */
const OLDER_ATTEMPT = `insert into attempts (id, attempt, agent, goal_id, node_id, status, created_at, version, doc)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) on conflict (id) do update set
  status = excluded.status, version = excluded.version, doc = excluded.doc`;
const OLDER_PULSE = `insert into pulses (attempt, agent, beats, updated_at, doc) values (?1, ?2, ?3, ?4, ?5)
  on conflict (attempt) do update set beats = excluded.beats, updated_at = excluded.updated_at, doc = excluded.doc`;

test("STORE-3, STORE-4: runners that an older version started write on through a migration, and nothing of it is lost", async () => {
  const path = `${tempDir("older-")}/overseer.db`;
  const options = { address: path, backupDir: `${path}.backups`, now: 0 };
  await prepareStore(options);
  const store = await openForWriting({ address: path });
  const [attempt = 0, other = 0] = await addRunning(store, 2, { pid: 7, start: "7" });
  await store.close();
  const older = connect(path, false);
  undoColumns(older);
  older.run("update meta set value = '5' where key = 'fold'");
  older.run("delete from meta where key = 'fold_done'");
  const saveAttempt = older.query(OLDER_ATTEMPT);
  const savePulse = older.query(OLDER_PULSE);
  const docOf = (number: number) =>
    JSON.parse(
      older.query<{ doc: string }, [number]>("select doc from attempts where attempt = ?1").get(number)?.doc ?? "",
    );
  savePulse.run(attempt, "agent-0", 1, 1, JSON.stringify({ attempt, inTurn: false, turns: 0 }));
  expect(await prepareStore(options)).toEqual({ created: false, migratedFrom: 7 });

  // What it asks before it writes: a number it does not know, and it would write nothing.
  expect(older.query("pragma user_version").values()).toEqual([[7]]);
  expect(older.query("select value from meta where key = 'fold'").values()).toEqual([["5"]]);
  const metered = { usage: { costUsd: 0.5 }, contextTokens: 7, contextWindow: 9, turnSince: 2 };
  savePulse.run(attempt, "agent-0", 2, 2, JSON.stringify({ attempt, inTurn: true, turns: 3, ...metered }));
  savePulse.run(other, "agent-1", 1, 2, JSON.stringify({ attempt: other, inTurn: true, turns: 1 }));
  const { agent, goalId, workNodeId, createdAt, ...doc } = docOf(attempt);
  const ended = {
    ...doc,
    ...{ agent, goalId, workNodeId, createdAt },
    status: "ended",
    endedAt: 9,
    announced: 4,
    end: { usage: { costUsd: 2 } },
  };
  const child = { ...ended, attempt: 90, agent: "child", parent: { attempt } };
  saveAttempt.run(String(attempt), attempt, agent, goalId, workNodeId, "ended", createdAt, 9, JSON.stringify(ended));
  saveAttempt.run("90", 90, "child", goalId, workNodeId, "ended", createdAt, 1, JSON.stringify(child));
  const columns = "select parent, announced, ended_at, cost from attempts where attempt = ?1";
  expect(older.query(columns).values(attempt)).toEqual([[null, 4, 9, 2]]);
  expect(older.query(columns).values(90)).toEqual([[attempt, 4, 9, 2]]);
  const meter = "select in_turn, turns, cost, context_tokens, context_window, turn_since from pulses order by attempt";
  expect(older.query(meter).values()).toEqual([
    [1, 3, 0.5, 7, 9, 2],
    [1, 1, 0, 0, null, null],
  ]);
  older.close();
});

test("STORE-3: a database that asks for no more than we know is opened, however far a newer version took it", async () => {
  const path = `${tempDir("further-")}/overseer.db`;
  const options = { address: path, backupDir: `${path}.backups`, now: 0 };
  await prepareStore(options);
  const db = connect(path, false);
  db.run("update meta set value = '99' where key in ('schema_done', 'fold_done')");
  expect(await inspectStore(path)).toEqual({ state: "ready" });
  expect(await prepareStore(options)).toEqual({ created: false, migratedFrom: null });
  db.run("pragma user_version = 99");
  expect((await inspectStore(path)).state).toBe("newer");
  db.close();
});

test("the first recorded log holds the events of goals, plans, work, and handoffs", () => {
  const types = new Set(recording("0001.ndjson").events.map((event) => event.type));
  const expected = EVENT_TYPES.filter((type) => /^(goal|plan|work|crystallization)\./.test(type));
  expect(expected.filter((type) => !types.has(type))).toEqual([
    "plan.wanted",
    "plan.waits",
    "plan.proposed",
    "plan.failed",
    "plan.dropped",
    "work.requeued",
    "work.claimed",
    "work.checked",
    "work.returned",
    "work.taken_back",
    "work.given_anew",
  ]);
});

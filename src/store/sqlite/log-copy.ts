/**
 * The copy of the log: a small database beside the backups to which new events are appended after every landing, every
 * start of an agent, everything a person says, and at the latest a minute after anything else. The log is the truth, so
 * a copy of it brings everything back but telemetry. How far it reaches is the high-water mark of the store: a store
 * that does not have its last event went back in time (domain/health/high-water.ts). An append is one transaction, and each
 * event is held against its checksum before it is taken, so that damage never gets in (docs/decisions/0012).
 */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { Continuity, HighWater } from "#domain/health/high-water.ts";
import { standingOf } from "#domain/health/high-water.ts";
import { OverseerError } from "#errors.ts";
import { LOG_COLUMNS } from "#store/events.ts";
import type { Row } from "#store/query.ts";
import { isBusy } from "./errors.ts";
import { checksum, identityIn, rowsAfter } from "./log-rows.ts";

/** Not the number of our own database: one that is put in its place by hand is moved aside and read out. */
const APPLICATION_ID = 0x4f56524c;

const PAGE = 2_000;
/** Somebody else appends right now, and that takes milliseconds. */
const BUSY_MS = 250;
/** Nothing is older than this without having been copied, as long as anybody writes. */
export const COPY_EVERY_MS = 60_000;

export function copyPath(directory: string): string {
  return `${directory}/log.db`;
}

const SCHEMA = `
  create table if not exists meta (key text primary key, value text not null) strict;
  create table if not exists counters (name text primary key, value integer not null) strict;
  create table if not exists events (
    seq integer primary key, at integer not null, type text not null, v integer not null, actor text not null,
    goal_id text, node_id text, assignment_id text, agent text, attempt integer, because text not null,
    data text not null, sum integer not null
  ) strict;
  pragma application_id = ${APPLICATION_ID};`;

const INSERT = `insert into events (${LOG_COLUMNS.join(", ")}, sum) values (${[...LOG_COLUMNS, "sum"].map((_, i) => `?${i + 1}`).join(", ")})`;

export type Kept =
  | { readonly kind: "kept"; readonly added: number; readonly seq: number }
  /** Another process was at it; it takes what there is. */
  | { readonly kind: "busy" }
  /** The store does not follow on from the copy, which is left as it is. */
  | { readonly kind: "doubted"; readonly standing: Continuity };

/** Appends what the store has and the copy has not. A copy that is damaged goes aside, and a new one is made. */
export function keepUp(main: Database, directory: string): Kept {
  try {
    return append(main, directory);
  } catch (error) {
    if (isBusy(error)) return { kind: "busy" };
    if (!isDamaged(error)) throw error;
    const path = copyPath(directory);
    moveParts(path, `${path}.damaged-${Date.now()}`);
    return append(main, directory);
  }
}

function append(main: Database, directory: string): Kept {
  const copy = open(directory);
  try {
    copy.run("begin immediate");
    let mark = markIn(copy);
    if (mark === undefined) {
      copy.query("insert or replace into meta (key, value) values ('identity', ?1)").run(identityIn(main));
      mark = { identity: identityIn(main), seq: 0, sum: 0, attempt: 0, at: 0 };
    }
    const standing = standingOf(mark, readLogEnd(main, mark.seq));
    if (standing.kind !== "follows") {
      copy.run("rollback");
      return { kind: "doubted", standing };
    }
    const end = copyRows(main, copy, mark);
    const attempt = Math.max(end.attempt, attemptsUpTo(main));
    const added = end.seq - mark.seq;
    if (added > 0 || attempt > mark.attempt) {
      const set = copy.query("insert or replace into counters (name, value) values (?1, ?2)");
      for (const [name, value] of Object.entries({ seq: end.seq, sum: end.sum, attempt })) set.run(name, value);
    }
    copy.run("commit");
    return { kind: "kept", added, seq: end.seq };
  } finally {
    copy.close();
  }
}

function copyRows(main: Database, copy: Database, mark: HighWater): Pick<HighWater, "seq" | "sum" | "attempt"> {
  let { seq, sum, attempt } = mark;
  const insert = copy.query(INSERT);
  for (;;) {
    const rows = rowsAfter(main, seq, PAGE);
    for (const row of rows) {
      const own = checksum(row, sum);
      if (row.seq !== seq + 1 || own !== row.sum) throw logBrokenError(seq);
      insert.run(...LOG_COLUMNS.map((column) => row[column] as string | number | null), own);
      attempt = Math.max(attempt, Number(row.attempt ?? 0));
      seq += 1;
      sum = own;
    }
    if (rows.length < PAGE) return { seq, sum, attempt };
  }
}

function logBrokenError(seq: number): OverseerError {
  return new OverseerError(
    "environment",
    "LOG_BROKEN",
    `The log is damaged after event ${seq}; nothing of what follows was copied.`,
    "Run 'overseer doctor --fix' to recover what is readable.",
  );
}

function open(directory: string): Database {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = copyPath(directory);
  closeSync(openSync(path, "a", 0o600)); // SQLite would let everybody read it
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run(`pragma busy_timeout = ${BUSY_MS}`);
    db.run("pragma journal_mode = wal");
    db.run("pragma synchronous = full");
    if (db.query("select 1 from sqlite_schema limit 1").get() === null) db.run(SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** How far the copy reaches; undefined when there is none, or none that can be read: then nothing is known. */
export function highWater(directory: string): HighWater | undefined {
  const path = copyPath(directory);
  if (!existsSync(path)) return undefined;
  let db: Database | undefined;
  try {
    db = new Database(path, { readonly: true });
    db.run(`pragma busy_timeout = ${BUSY_MS}`);
    return markIn(db);
  } catch (error) {
    if (error instanceof Error && error.name === "SQLiteError") return undefined;
    throw error;
  } finally {
    db?.close();
  }
}

function markIn(db: Database): HighWater | undefined {
  if (db.query("select 1 from sqlite_schema where name = 'meta'").get() === null) return undefined;
  const identity = identityIn(db);
  if (identity === "") return undefined;
  const counters = db.query<{ name: string; value: number }, []>("select name, value from counters").all();
  const value = (name: string) => counters.find((one) => one.name === name)?.value ?? 0;
  const seq = value("seq");
  const last = db.query<{ at: number }, [number]>("select at from events where seq = ?1").get(seq);
  return { identity, seq, sum: value("sum"), attempt: value("attempt"), at: last?.at ?? 0 };
}

/** How the store stands to what was seen of it. */
export function standingIn(main: Database, directory: string): Continuity {
  const mark = highWater(directory);
  return mark === undefined ? { kind: "follows" } : standingOf(mark, readLogEnd(main, mark.seq));
}

function readLogEnd(main: Database, seq: number) {
  const last = main.query<Row, []>("select seq, at from events order by seq desc limit 1").get();
  const there = main.query<{ sum: number }, [number]>("select sum from events where seq = ?1").get(seq);
  return {
    identity: identityIn(main),
    seq: Number(last?.seq ?? 0),
    at: last === null ? null : Number(last.at),
    sumAtMark: there?.sum,
  };
}

/** The number below which no attempt begins any more, whatever the tables say. */
function attemptsUpTo(main: Database): number {
  return main.query<{ value: number }, []>("select value from counters where name = 'attempt'").get()?.value ?? 0;
}

/**
 * A person continues with what the store holds now: the copy of what was seen before becomes a backup like the others,
 * and a new one begins. No attempt gets a number again that one ever had.
 */
export function acceptAsItIs(main: Database, directory: string, options: { now: number; attempts: number }): void {
  const path = copyPath(directory);
  const attempts = Math.max(options.attempts, highWater(directory)?.attempt ?? 0, attemptsUpTo(main));
  main.query("insert or replace into counters (name, value) values ('attempt', ?1)").run(attempts);
  if (existsSync(path)) {
    const stamp = new Date(options.now).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
    moveParts(path, freeName(`${directory}/overseer-${stamp}-set-aside`));
  }
  keepUp(main, directory);
}

function freeName(base: string): string {
  for (let number = 1; ; number += 1) {
    const path = `${base}${number === 1 ? "" : `-${number}`}.db`;
    if (!existsSync(path)) return path;
  }
}

/** With its -wal, which may hold the newest of it; the -shm is made again by whoever opens it. */
function moveParts(path: string, to: string): void {
  for (const suffix of ["-wal", ""])
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${to}${suffix}`);
  rmSync(`${path}-shm`, { force: true });
}

/** Whether so much time has passed since the last append, or none was ever made. */
export function isCopyDue(directory: string, now: number): boolean {
  const made = statSync(copyPath(directory), { throwIfNoEntry: false })?.mtimeMs;
  return made === undefined || Math.abs(now - made) >= COPY_EVERY_MS;
}

function isDamaged(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(String(error.code));
}

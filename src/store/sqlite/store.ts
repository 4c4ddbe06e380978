/**
 * The store on SQLite, through bun:sqlite: one file, many processes. A commit is one immediate transaction with no
 * await inside; `synchronous=FULL` makes it durable before it is called done. Opening never changes a database:
 * making and migrating one is done in file.ts by the few commands that may.
 */
import type { Database, Statement } from "bun:sqlite";
import type { Continuity } from "#domain/health/high-water.ts";
import { isKeptAtOnce, isRefusedInDoubt } from "#domain/health/high-water.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Entity, EntityKind, EntityRef } from "#domain/model/fold.ts";
import { OverseerError } from "#errors.ts";
import { BEGINNING, gapInLog, inDoubt, notEmpty } from "#store/continuity.ts";
import { eventOfRow, LOG_COLUMNS } from "#store/events.ts";
import type { Folded, Folding, Versioned } from "#store/folding.ts";
import type { Query, Row } from "#store/query.ts";
import { compareText } from "#store/query.ts";
import type { Caps } from "#store/seal.ts";
import type { Commit, CommitOutcome, DumpRow, ReadResults, Reads, Store } from "#store/store.ts";
import type { SqlValue } from "#store/tables.ts";
import { ENTITY_KINDS, rowOf, TABLES, upsertSql } from "#store/tables.ts";
import { isBusy, storeError } from "./errors.ts";
import { checksum, identityIn, rowsAfter } from "./log-rows.ts";

export interface SqliteOptions {
  readonly path: string;
  readonly caps?: Partial<Caps>;
  /**
   * Asked before every read and commit: throws when the file was moved or replaced, since writes would then go into a
   * file that nobody reads, and reads would show what nobody writes any more.
   */
  readonly assertSameFile?: () => void;
  /** Where the copy of the log is kept (log-copy.ts); without it none is, and nothing is known of what was seen before. */
  readonly backupDir?: string;
  /** For a process that drives an agent: the copy follows a moment later, because its reflexes cannot wait for the disk. */
  readonly copyLater?: boolean;
  /** How long a writer waits for its turn; a hook cannot wait as long as a person. */
  readonly patienceMs?: number;
}

/** How long a read waits for another process to put the file in order, as after a crash. */
export const BUSY_TIMEOUT_MS = 15_000;

/** How long a writer waits for its turn before its caller hears that the store is busy. */
const PATIENCE_MS = 60_000;

const INSERT_EVENT = `insert into events
  (seq, at, type, v, actor, goal_id, node_id, assignment_id, agent, attempt, because, data, sum)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`;

export function sqliteStore(db: Database, options: SqliteOptions): Store {
  const translateErrors = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storeError(error, options.path);
    }
  };
  const see = <R extends Reads>(reads: R): ReadResults<R> =>
    Object.fromEntries(Object.entries(reads).map(([name, query]) => [name, ask(db, query)])) as ReadResults<R>;

  return {
    async commit<R extends Reads, T>(request: Commit<R, T>): Promise<CommitOutcome<T>> {
      const { outcome } = translateErrors(() => {
        options.assertSameFile?.();
        const work = () => {
          // Asked again when nobody else can write any more: a recovery moves the file first, and then waits for this lock.
          options.assertSameFile?.();
          return decideAndWrite(db, request, see, options);
        };
        return immediately(db, work, options.patienceMs);
      });
      if (outcome.ok && outcome.events.length > 0) copyAfter(db, options, outcome.events);
      return outcome;
    },
    async read(reads) {
      return translateErrors(() => {
        options.assertSameFile?.();
        return inOneState(db, () => see(reads));
      });
    },
    search: {
      async find(words, limit) {
        // Loaded by whoever searches.
        const { searchText } = require("./search.ts") as typeof import("./search.ts");
        return translateErrors(() => {
          options.assertSameFile?.();
          return searchText(db, words, limit);
        });
      },
    },
    async log({ after, limit }) {
      return translateErrors(() => rowsAfter(db, after, limit).map(eventOfRow));
    },
    async append(events) {
      translateErrors(() => {
        options.assertSameFile?.();
        immediately(db, () => {
          const { seq } = endOfLog(db);
          events.forEach((event, index) => {
            if (event.seq !== seq + 1 + index) throw gapInLog(seq + 1 + index, event.seq);
          });
          write(db, sealAll(events, options.caps));
          return { write: true };
        });
      });
    },
    async restore(events) {
      translateErrors(() => {
        options.assertSameFile?.();
        immediately(db, () => {
          if (db.query("select 1 from events where type <> ?1 limit 1").get(BEGINNING)) throw notEmpty();
          events.forEach((event, index) => {
            if (event.seq !== index + 1) throw gapInLog(index + 1, event.seq);
          });
          db.run("delete from events");
          db.run("update counters set value = 0 where name in ('seq', 'sum')");
          write(db, sealAll(events, options.caps));
          return { write: true };
        });
      });
    },
    async rebuild() {
      return translateErrors(() => rebuild(db, options.path));
    },
    async dump() {
      return translateErrors(() => inOneState(db, () => dumpOf(db)));
    },
    async changeMark() {
      return translateErrors(() => {
        // Whoever only waits would wait in a file that nobody writes any more.
        options.assertSameFile?.();
        return Number(db.query<Record<string, number>, []>("pragma data_version").get()?.data_version ?? 0);
      });
    },
    async identity() {
      return translateErrors(() => identityIn(db));
    },
    async standing() {
      const { backupDir } = options;
      return backupDir === undefined ? FOLLOWS : translateErrors(() => theCopy().standingIn(db, backupDir));
    },
    async close() {
      db.close();
    },
  };
}

const FOLLOWS: Continuity = { kind: "follows" };

/** Loaded by whoever needs it: it brings node:fs, which opening must not pay for. */
function theCopy(): typeof import("./log-copy.ts") {
  return require("./log-copy.ts") as typeof import("./log-copy.ts");
}

/**
 * The commit stands, whatever becomes of its copy: a full disk or a directory that may not be written costs the copy its
 * newest events until the next time, and `doctor` says how far it is behind.
 */
function copyAfter(db: Database, options: SqliteOptions, events: readonly EventOf[]): void {
  const { backupDir } = options;
  if (backupDir === undefined) return;
  const { isCopyDue, keepUp } = theCopy();
  const copy = () => {
    try {
      keepUp(db, backupDir);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  };
  if (!events.some(isKeptAtOnce) && !isCopyDue(backupDir, Date.now())) return;
  // Before its CLI is started and with its end there is nobody to disturb.
  const alone = events.some(({ type }) => type === "agent.started" || type === "agent.ended");
  if (options.copyLater && !alone) setTimeout(copy, COPY_LATER_MS).unref();
  else copy();
}

const COPY_LATER_MS = 10_000;

function ask<T>(db: Database, query: Query<T>): T {
  return query.read(db.query<Row, SqlValue[]>(query.sql).all(...query.args));
}

/** Reads that belong together see one state, also while others write. */
function inOneState<T>(db: Database, work: () => T): T {
  db.run("begin");
  try {
    const seen = work();
    db.run("commit");
    return seen;
  } catch (error) {
    // After some errors SQLite has ended it already; what went wrong is to be told, not that.
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

/** One immediate transaction; rolled back when the work throws or says that there is nothing to keep. */
function immediately<T extends { readonly write: boolean }>(
  db: Database,
  work: () => T,
  patienceMs: number = PATIENCE_MS,
): T {
  beginImmediate(db, patienceMs);
  try {
    const result = work();
    db.run(result.write ? "commit" : "rollback");
    return result;
  } catch (error) {
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

/**
 * Waits in line for the only writer's place. SQLite looks again ever more seldom the longer it has waited, so that
 * latecomers overtake: with 50 writers on two busy cores the unluckiest waited 5 to 11 s. Short tries of uneven length
 * begin eagerly again and again; the one run with these lengths had a longest wait of 2.7 s. Much shorter ones spend
 * more CPU on trying than on writing.
 */
function beginImmediate(db: Database, patienceMs: number): void {
  const started = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    db.run(`pragma busy_timeout = ${150 + ((process.pid * 31 + attempt * 97) % 300)}`);
    try {
      db.run("begin immediate");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - started > patienceMs) throw error;
    } finally {
      db.run(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }
}

function decideAndWrite<R extends Reads, T>(
  db: Database,
  request: Commit<R, T>,
  see: (reads: R) => ReadResults<R>,
  { caps, backupDir }: SqliteOptions,
): { readonly write: boolean; readonly outcome: CommitOutcome<T> } {
  const decision = request.decide(see(request.reads));
  if (!decision.ok) return { write: false, outcome: decision };
  if (backupDir !== undefined && decision.events.some(isRefusedInDoubt)) {
    if (theCopy().standingIn(db, backupDir).kind !== "follows") throw inDoubt();
  }
  const { seq } = endOfLog(db);
  const { DEFAULT_CAPS, seal } = theDoor();
  const limits = { ...DEFAULT_CAPS, ...caps };
  const events = decision.events.map((event, index) => seal(event, { seq: seq + 1 + index, at: request.at }, limits));
  if (events.length > 0) write(db, events);
  return { write: events.length > 0, outcome: { ok: true, value: decision.value, events } };
}

/** Loaded by the first write: what looks for secrets costs a reader as much as the reading. */
function theDoor(): typeof import("#store/seal.ts") {
  // By this name scripts/bundle.sh keeps it out of the bundle for readers.
  return require("#store/seal.ts") as typeof import("#store/seal.ts");
}

function sealAll(events: readonly EventOf[], caps: Partial<Caps> | undefined): EventOf[] {
  const { DEFAULT_CAPS, sealStored } = theDoor();
  const limits = { ...DEFAULT_CAPS, ...caps };
  return events.map((event) => sealStored(event, limits));
}

/** Appends events that follow on from the end of the log, and folds them. */
function write(db: Database, events: readonly EventOf[]): void {
  let { seq, sum } = endOfLog(db);
  const insert = db.query(INSERT_EVENT);
  const folding = newFolding((ref) => loadEntity(db, ref));
  for (const event of events) {
    const row = rowOfEvent(event);
    sum = checksum(row, sum);
    insert.run(...LOG_COLUMNS.map((column) => row[column]), sum);
    folding.take(event);
    seq = event.seq;
  }
  const upserts = new Map<EntityKind, Statement>();
  for (const folded of folding.listChanged()) save(db, folded, upserts);
  db.query("update counters set value = ?1 where name = 'seq'").run(seq);
  db.query("update counters set value = ?1 where name = 'sum'").run(sum);
}

function save(db: Database, folded: Folded, upserts: Map<EntityKind, Statement>): void {
  if (!folded.entity) return;
  let statement = upserts.get(folded.kind);
  if (!statement) {
    statement = db.query(upsertSql(folded.kind));
    upserts.set(folded.kind, statement);
  }
  statement.run(...rowOf(folded.kind, folded.entity, folded.version));
}

function loadEntity(db: Database, ref: EntityRef): Versioned | undefined {
  const row = db
    .query<{ version: number; doc: string }, [string]>(
      `select version, doc from ${TABLES[ref.kind].table} where id = ?1`,
    )
    .get(ref.id);
  return row ? { version: row.version, entity: JSON.parse(row.doc) as Entity } : undefined;
}

function endOfLog(db: Database): { seq: number; sum: number } {
  const rows = db.query<{ name: string; value: number }, []>("select name, value from counters").all();
  const value = (name: string) => rows.find((row) => row.name === name)?.value ?? 0;
  return { seq: value("seq"), sum: value("sum") };
}

function rowOfEvent(event: EventOf): Record<(typeof LOG_COLUMNS)[number], SqlValue> {
  return {
    seq: event.seq,
    at: event.at,
    type: event.type,
    v: event.v,
    actor: event.actor,
    goal_id: event.goalId ?? null,
    node_id: event.nodeId ?? null,
    assignment_id: event.assignmentId ?? null,
    agent: event.agent ?? null,
    attempt: event.attempt ?? null,
    because: event.because,
    data: JSON.stringify(event.data),
  };
}

/** How many events are folded between two looks at the database; bounds memory while a long log is read. */
const PAGE = 2_000;

/**
 * Folds the whole log again. The long part reads and folds without holding anything; then one transaction folds what
 * came meanwhile and puts the tables right. Readers see the old tables until that moment, writers wait only for it.
 * Rows that are right already are left alone: of sound tables nothing is written at all.
 */
function rebuild(db: Database, path: string): { readonly events: number; readonly entities: number } {
  const folding = newFolding(() => undefined);
  const walk = logWalker(db, path);
  while (walk.page((event) => folding.take(event)) > 0);
  return immediately(db, () => {
    while (walk.page((event) => folding.take(event)) > 0);
    for (const kind of ENTITY_KINDS) putRight(db, kind, folding);
    (require("./search.ts") as typeof import("./search.ts")).putTextRight(db);
    db.query("update counters set value = ?1 where name = 'seq'").run(walk.seq());
    db.query("update counters set value = ?1 where name = 'sum'").run(walk.sum());
    return { write: true, events: walk.seq(), entities: folding.size };
  });
}

/** Takes out every row that does not follow from the log before the missing ones go in, so that no two ever clash. */
/** Loaded by whoever writes: a command that only reads starts faster without it. */
function newFolding(load: ConstructorParameters<typeof Folding>[0]): Folding {
  const { Folding } = require("#store/folding.ts") as typeof import("#store/folding.ts");
  return new Folding(load);
}

function putRight(db: Database, kind: EntityKind, folding: Folding): void {
  const expected = new Map<string, Folded>();
  for (const folded of folding.listChangedOf(kind)) expected.set(folded.id, folded);
  const remove = db.query(`delete from ${TABLES[kind].table} where id = ?1`);
  for (const row of rowsOf(db, kind)) {
    const id = String(row[0]);
    const folded = expected.get(id);
    const right = folded?.entity && sameValues(rowOf(kind, folded.entity, folded.version), row);
    if (right) expected.delete(id);
    else remove.run(id);
  }
  const upserts = new Map<EntityKind, Statement>();
  for (const folded of expected.values()) save(db, folded, upserts);
}

function rowsOf(db: Database, kind: EntityKind): SqlValue[][] {
  const { table, columns } = TABLES[kind];
  return db.query(`select ${["id", ...columns, "version", "doc"].join(", ")} from ${table}`).values() as SqlValue[][];
}

function sameValues(expected: readonly SqlValue[], found: readonly SqlValue[]): boolean {
  return expected.every((value, index) => value === found[index]);
}

/** Walks the log page by page and proves it whole on the way: no gap, every checksum right. */
export function logWalker(db: Database, path: string) {
  let seq = 0;
  let sum = 0;
  const logDamagedError = (found: number) =>
    new OverseerError(
      "environment",
      "LOG_BROKEN",
      `The log in ${path} is damaged after event ${seq} (found ${found}).`,
      "Run 'overseer doctor --fix' to recover what is readable, or restore a backup from the git directory.",
    );
  return {
    seq: () => seq,
    sum: () => sum,
    errorAt: logDamagedError,
    page(take: (event: EventOf) => void): number {
      const rows = rowsAfter(db, seq, PAGE);
      for (const row of rows) {
        if (row.seq !== seq + 1) throw logDamagedError(Number(row.seq));
        const own = checksum(row, sum);
        if (own !== row.sum) throw logDamagedError(Number(row.seq));
        take(eventOfRow(row));
        seq += 1;
        sum = own;
      }
      return rows.length;
    },
  };
}

/** Folds the log and compares: which rows of the tables are not what it says. Throws LOG_BROKEN on a log that is not whole. */
export function tablesAgainstLog(
  db: Database,
  path: string,
): { readonly events: number; readonly differing: readonly string[] } {
  const folding = newFolding(() => undefined);
  const walk = logWalker(db, path);
  while (walk.page((event) => folding.take(event)) > 0);
  const end = endOfLog(db);
  if (end.seq !== walk.seq() || end.sum !== walk.sum()) throw walk.errorAt(end.seq);
  const expected = new Map<string, SqlValue[]>();
  for (const { kind, id, version, entity } of folding.listChanged()) {
    if (entity) expected.set(`${kind} ${id}`, rowOf(kind, entity, version));
  }
  const differing: string[] = [];
  for (const kind of ENTITY_KINDS) {
    for (const row of rowsOf(db, kind)) {
      const name = `${kind} ${row[0]}`;
      if (!sameRow(expected.get(name), row)) differing.push(name);
      expected.delete(name);
    }
  }
  const { countWrongTexts } = require("./search.ts") as typeof import("./search.ts");
  const wrong = countWrongTexts(db);
  const text = wrong === 0 ? [] : [`the full text of learnings (${wrong})`];
  return { events: walk.seq(), differing: [...differing, ...expected.keys(), ...text] };
}

/** The order of keys in a document depends on how often it was stored on the way; it means nothing. */
function sameRow(expected: readonly SqlValue[] | undefined, found: readonly SqlValue[]): boolean {
  return (
    expected?.every((value, index) => {
      if (value === found[index]) return true;
      return index === expected.length - 1 && sameDocument(String(value), String(found[index]));
    }) ?? false
  );
}

function sameDocument(expected: string, found: string): boolean {
  try {
    return Bun.deepEquals(JSON.parse(expected), JSON.parse(found), true);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function dumpOf(db: Database): DumpRow[] {
  return [...ENTITY_KINDS].sort(compareText).flatMap((kind) =>
    db
      .query<{ id: string; version: number; doc: string }, []>(
        `select id, version, doc from ${TABLES[kind].table} order by id`,
      )
      .all()
      .map((row) => ({ kind, id: row.id, version: row.version, doc: JSON.parse(row.doc) as unknown })),
  );
}

/**
 * The database file itself: what state it is in, opening it, making it, migrating it. Opening never changes it. Only
 * `init`, `up` and `doctor --fix` come through `prepareFile`, which makes a missing one and migrates an old one,
 * after a backup.
 */
import { constants, Database } from "bun:sqlite";
import { FOLD_VERSION, OLDEST_FOLD } from "#domain/core/fold-version.ts";
import { OverseerError, systemCode } from "#errors.ts";
import type { OpenOptions, PreparedStore, PrepareOptions, StoreState } from "#store/kind.ts";
import type { Store } from "#store/store.ts";
import { newerStore, storeError } from "./errors.ts";
import { identityIn } from "./log-rows.ts";
import { MIGRATIONS, OLDEST_SCHEMA, SCHEMA_VERSION } from "./migrations.ts";
import { BUSY_TIMEOUT_MS, sqliteStore } from "./store.ts";

/** Marks the file as ours ("OVRS"), so that a foreign database is never migrated. */
const APPLICATION_ID = 0x4f565253;

export async function openSqlite(
  path: string,
  options: OpenOptions,
  mode: { readonly readonly: boolean },
): Promise<Store> {
  try {
    const { db, facts } = mode.readonly ? look(path) : take(path);
    const problem = facts.applicationId === 0 && isBlank(db) ? blank(path) : problemWith(facts, path);
    if (problem) {
      db.close();
      throw problem;
    }
    const assertSameFile = mode.readonly && !options.longLived ? undefined : sameFileGuard(path, db);
    const { caps, patienceMs, backupDir, copyLater } = options;
    return sqliteStore(db, { path, caps, assertSameFile, patienceMs, backupDir, copyLater });
  } catch (error) {
    if (isOpening(error)) throw whyNotOpened(path, mode.readonly) ?? storeError(error, path);
    throw storeError(error, path);
  }
}

function take(path: string): { readonly db: Database; readonly facts: FileFacts } {
  const db = connect(path, false);
  return { db, facts: factsOf(db) };
}

/**
 * Opens for reading. Even a reader of a WAL database wants to make a -shm file; where the disk is full or read-only it
 * cannot, and then a database without a -wal is read as it lies there: nobody else can be writing it either.
 */
function look(path: string): { readonly db: Database; readonly facts: FileFacts } {
  let db: Database | undefined;
  try {
    db = connect(path, true);
    return { db, facts: factsOf(db) };
  } catch (error) {
    db?.close();
    if (!isOpening(error)) throw error;
    const { statSync } = require("node:fs") as typeof import("node:fs");
    const size = (part: string) => statSync(`${path}${part}`, { throwIfNoEntry: false })?.size ?? 0;
    if (size("") === 0 || size("-wal") > 0) throw error;
    const still = new Database(`file:${encodeURI(path).replace(/[?#]/g, encodeURIComponent)}?immutable=1`, AS_IT_LIES);
    return { db: still, facts: factsOf(still) };
  }
}

const AS_IT_LIES = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;

/** What SQLite says of a path with nothing, or with something else than a file, behind it. */
function isOpening(error: unknown): boolean {
  return /^SQLITE_(CANTOPEN|IOERR)/.test(systemCode(error) ?? "");
}

function whyNotOpened(path: string, readonly: boolean): unknown {
  const { accessSync, constants: may, statSync } = require("node:fs") as typeof import("node:fs");
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts) return missing(path);
  if (facts.isFile()) {
    try {
      accessSync(path, readonly ? may.R_OK : may.R_OK | may.W_OK);
      return undefined;
    } catch (error) {
      return storeError(error, path); // EACCES and EROFS say more than SQLite did
    }
  }
  return new OverseerError(
    "environment",
    "STORE_UNREADABLE",
    `There is ${facts.isDirectory() ? "a directory" : "something else than a file"} where the database ${path} should be.`,
    "Run 'overseer doctor --fix': it is moved aside, and the newest backup comes back.",
  );
}

/** Which store lies at that path, without opening it for more. */
export function identityOfFile(path: string): string | undefined {
  let db: Database | undefined;
  try {
    db = look(path).db;
    return identityIn(db) || undefined;
  } catch (error) {
    if (error instanceof Error && error.name === "SQLiteError") return undefined;
    throw error;
  } finally {
    db?.close();
  }
}

/** The file itself, for looking at what lies in it: no schema is asked for. The caller closes it. */
export function openAsItIs(path: string): Database {
  try {
    return look(path).db;
  } catch (error) {
    throw (isOpening(error) ? whyNotOpened(path, true) : undefined) ?? storeError(error, path);
  }
}

/** Bun keeps 20 prepared statements by itself and prepares all others at every call; one commit alone may ask twenty. */
Database.MAX_QUERY_CACHE_SIZE = 256;

export function connect(path: string, readonly: boolean): Database {
  const db = readonly ? new Database(path, { readonly: true }) : new Database(path, { readwrite: true, create: false });
  try {
    db.run(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (!readonly) db.run("pragma synchronous = full");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

interface FileFacts {
  readonly applicationId: number;
  /** What it has become, and which fold made its tables. */
  readonly schema: number;
  readonly fold: number;
  /** What a program has to know at least to use it. */
  readonly asks: { readonly schema: number; readonly fold: number };
}

/** Programs from before there was a difference look only at what is asked of them. */
const SCHEMA_DONE = "schema_done";
const FOLD_DONE = "fold_done";

function factsOf(db: Database): FileFacts {
  const pragma = (name: string): number => {
    const row = db.query<Record<string, number>, []>(`pragma ${name}`).get();
    return Number(row?.[name] ?? 0);
  };
  const applicationId = pragma("application_id");
  const schema = pragma("user_version");
  const isOurs = applicationId === APPLICATION_ID && schema > 0;
  const rows = isOurs ? db.query<{ key: string; value: string }, []>("select key, value from meta").all() : [];
  const numberIn = (name: string): number => Number(rows.find(({ key }) => key === name)?.value ?? 0);
  const fold = numberIn("fold");
  return {
    applicationId,
    schema: schema < OLDEST_SCHEMA ? schema : Math.max(schema, numberIn(SCHEMA_DONE)),
    fold: fold < OLDEST_FOLD ? fold : Math.max(fold, numberIn(FOLD_DONE)),
    asks: { schema, fold },
  };
}

function problemWith(facts: FileFacts, path: string): OverseerError | undefined {
  if (facts.applicationId !== APPLICATION_ID) {
    return new OverseerError(
      "environment",
      "STORE_FOREIGN",
      `${path} is not an Overseer database.`,
      "Move it away and run 'overseer init', or 'overseer doctor --fix' to have that done.",
    );
  }
  if (facts.asks.schema > SCHEMA_VERSION || facts.asks.fold > FOLD_VERSION) {
    return newerStore(path, facts.asks.schema, SCHEMA_VERSION);
  }
  if (facts.schema < SCHEMA_VERSION || facts.fold < FOLD_VERSION) {
    return new OverseerError(
      "environment",
      "STORE_OLD",
      `${path} was written by an older Overseer (schema ${facts.schema}, this one has ${SCHEMA_VERSION}).`,
      "Run 'overseer init' (or 'overseer doctor --fix') once; it makes a backup and migrates.",
    );
  }
  return undefined;
}

function blank(path: string): OverseerError {
  return new OverseerError(
    "environment",
    "STORE_CORRUPT",
    `The database ${path} is empty: it was cut off, or its making was interrupted.`,
    "Run 'overseer doctor --fix': it is moved aside and the newest backup comes back; 'overseer init' starts again.",
  );
}

/** Where the database of this repository lay before it moved below the git directory (docs/decisions/0011). */
export function earlierPlaceOf(path: string): string | undefined {
  const [, project] = /^(.*)\/\.git\/overseer\/overseer\.db$/.exec(path) ?? [];
  return project === undefined ? undefined : `${project}/.overseer/overseer.db`;
}

function missing(path: string): OverseerError {
  const { statSync } = require("node:fs") as typeof import("node:fs");
  const earlier = earlierPlaceOf(path);
  if (earlier !== undefined && statSync(earlier, { throwIfNoEntry: false })) {
    return new OverseerError(
      "environment",
      "STORE_MISPLACED",
      `The database still lies at ${earlier}, where 'git stash -u' and 'git clean' can take it.`,
      "Run 'overseer doctor --fix': it moves the database, the logs and the run files below the git directory.",
    );
  }
  return new OverseerError(
    "environment",
    "STORE_MISSING",
    `Overseer is not set up here: there is no database at ${path}.`,
    "Run 'overseer init' in the repository; 'overseer doctor' offers a backup if there was one.",
  );
}

const STATE_OF_CODE: Readonly<Record<string, StoreState>> = {
  STORE_MISSING: "missing",
  STORE_MISPLACED: "misplaced",
  STORE_OLD: "old",
  STORE_NEWER: "newer",
  STORE_FOREIGN: "foreign",
  STORE_CORRUPT: "corrupt",
};

export async function inspectFile(
  path: string,
): Promise<{ readonly state: StoreState; readonly problem?: OverseerError }> {
  try {
    await (await openSqlite(path, {}, { readonly: true })).close();
    return { state: "ready" };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { state: STATE_OF_CODE[error.code] ?? "unreadable", problem: error };
  }
}

/** Each step of a migration claims its number inside its own transaction. */
export async function prepareFile(path: string, options: PrepareOptions): Promise<PreparedStore> {
  try {
    const { closeSync, openSync, statSync } = await import("node:fs");
    const created = statSync(path, { throwIfNoEntry: false }) === undefined;
    const problem = created ? missing(path) : undefined;
    if (problem?.code === "STORE_MISPLACED") throw problem;
    // Made by hand, because SQLite would let everybody read it; -wal and -shm take over its mode.
    if (created) closeSync(openSync(path, "a", 0o600));
    const db = connect(path, false);
    try {
      return await migrate(db, created, path, options);
    } finally {
      db.close();
    }
  } catch (error) {
    throw (isOpening(error) ? whyNotOpened(path, false) : undefined) ?? storeError(error, path);
  }
}

async function migrate(db: Database, created: boolean, path: string, options: PrepareOptions): Promise<PreparedStore> {
  db.run(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
  const facts = factsOf(db);
  const blank = facts.schema === 0 && facts.applicationId === 0 && isBlank(db);
  if (!blank) {
    const problem = problemWith(facts, path);
    if (!problem) return { created: false, migratedFrom: null };
    if (problem.code !== "STORE_OLD") throw problem;
    const { backUp } = await import("./backup.ts"); // brings node:fs, which opening must not pay for
    await backUp(db, { directory: options.backupDir, now: options.now, label: `schema-${facts.schema}` });
  }
  db.run("pragma journal_mode = wal");
  db.run("pragma synchronous = full");
  for (const [index, sql] of MIGRATIONS.entries()) applyStep(db, index + 1, sql);
  if (blank && options.identity !== undefined)
    db.query("update meta set value = ?1 where key = 'identity'").run(options.identity);
  if (blank && options.attempts !== undefined)
    db.query("insert or replace into counters (name, value) values ('attempt', ?1)").run(options.attempts);
  if (facts.fold < FOLD_VERSION) {
    if (!blank) await sqliteStore(db, { path }).rebuild();
    noteFold(db, facts.asks.fold);
  }
  return { created: created || blank, migratedFrom: blank ? null : facts.schema };
}

function isBlank(db: Database): boolean {
  return db.query("select 1 from sqlite_schema limit 1").get() === null;
}

function applyStep(db: Database, number: number, sql: string): void {
  db.run("begin immediate");
  try {
    const at = factsOf(db).schema;
    if (at >= number) {
      db.run("rollback");
      return;
    }
    db.run(`pragma application_id = ${APPLICATION_ID}`);
    // Never lowered: a step that older programs would spoil may have been made by a version between theirs and this one.
    if (at < OLDEST_SCHEMA) db.run(`pragma user_version = ${Math.min(number, OLDEST_SCHEMA)}`);
    db.run(sql);
    if (number === 1) noteFold(db, 0);
    note(db, SCHEMA_DONE, number);
    db.run("commit");
  } catch (error) {
    if (db.inTransaction) db.run("rollback");
    throw error;
  }
}

/** The tables are of the present fold; what older programs have to know of it never goes down. */
function noteFold(db: Database, asked: number): void {
  note(db, "fold", Math.max(asked, OLDEST_FOLD));
  note(db, FOLD_DONE, FOLD_VERSION);
}

function note(db: Database, key: string, value: number): void {
  db.query("insert or replace into meta (key, value) values (?1, ?2)").run(key, String(value));
}

/** Throws once the file at `path`, or the -wal beside it, is no longer the one that was opened. */
function sameFileGuard(path: string, db: Database): () => void {
  const { statSync } = require("node:fs") as typeof import("node:fs");
  const inode = (part: string) => statSync(`${path}${part}`, { throwIfNoEntry: false })?.ino;
  const opened = inode("");
  const wal = inode("-wal");
  return () => {
    if (inode("") === opened) {
      if (wal === undefined || inode("-wal") === wal) return;
      // Nobody else can read what is only in there: the first that still has it open brings it home. Once others write
      // into a new one, that was done, and ours has nothing to add.
      const isNewUsed = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
      if (!isNewUsed && !db.inTransaction) db.run("pragma wal_checkpoint(truncate)");
      throw new OverseerError(
        "environment",
        "STORE_WAL_GONE",
        `Somebody removed the file ${path}-wal while it was in use; what was in it is kept.`,
        "Run the command again; where it says so again: 'overseer down', then 'overseer up'.",
      );
    }
    throw new OverseerError(
      "environment",
      "STORE_REPLACED",
      `The database ${path} was moved or replaced while it was in use; nothing was written.`,
      "Start again; 'overseer doctor' shows what happened to it.",
    );
  };
}

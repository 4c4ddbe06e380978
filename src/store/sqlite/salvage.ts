/**
 * What can still be read of a damaged database. The log is walked in ever smaller steps around what cannot be read,
 * and everything up to the first event that is missing or fails its checksum is kept: a log with a hole in it would
 * fold into something that never was. The tables are not looked at; they are made again from the log.
 */
import { Database } from "bun:sqlite";
import type { EventOf } from "#domain/model/event.ts";
import { eventOfRow } from "#store/events.ts";
import type { Row } from "#store/query.ts";
import { checksum, identityIn } from "./log-rows.ts";

export interface Salvage {
  /** Which store it is; undefined where that cannot be read, and in one from before stores had an identity. */
  readonly identity?: string;
  readonly events: readonly EventOf[];
  /** The running checksum after the last of them. */
  readonly sum: number;
  /** The highest number an attempt had in it, or that it knew of. */
  readonly attempts: number;
  /** The highest place in the log that shows anywhere in the file; what lies between is lost. */
  readonly lastSeen: number;
  /** True when every event up to the end is there and right. */
  readonly whole: boolean;
}

const NOTHING: Salvage = { events: [], sum: 0, attempts: 0, lastSeen: 0, whole: false };

/**
 * Reads what it can. Never throws for damage; an unreadable file gives an empty salvage. With a `base` it continues after
 * what that holds: what the file has beyond it is taken when its checksums prove that it follows on.
 */
export function salvage(path: string, base: Salvage = NOTHING): Salvage {
  let db: Database;
  try {
    db = new Database(path, { readonly: true });
  } catch {
    return base; // not even a header: there is nothing to read, and the caller says so
  }
  try {
    return readLog(db, base);
  } finally {
    db.close();
  }
}

function readLog(db: Database, base: Salvage): Salvage {
  const events: EventOf[] = [...base.events];
  let { sum, attempts } = base;
  let damaged = false;
  for (let step = 512; ; ) {
    const page = readable(() => rows(db, events.length, step));
    if (page === undefined) {
      if (step === 1) {
        damaged = true;
        break;
      }
      step = Math.max(1, Math.floor(step / 8));
      continue;
    }
    for (const row of page) {
      const own = checksum(row, sum);
      const event = row.seq === events.length + 1 && own === row.sum ? readable(() => eventOfRow(row)) : undefined;
      if (!event) {
        damaged = true;
        break;
      }
      events.push(event);
      attempts = Math.max(attempts, event.attempt ?? 0);
      sum = own;
    }
    if (damaged || page.length === 0) break;
  }
  const counted = readable(() =>
    db.query<{ value: number }, []>("select value from counters where name = 'seq'").get(),
  );
  const highest = readable(() => db.query<{ last: number }, []>("select max(seq) as last from events").get());
  const lastSeen = Math.max(events.length, counted?.value ?? 0, highest?.last ?? 0);
  const identity = readable(() => identityIn(db)) || base.identity;
  const known = readable(() =>
    db.query<{ value: number }, []>("select value from counters where name = 'attempt'").get(),
  );
  attempts = Math.max(attempts, known?.value ?? 0);
  return {
    identity,
    events,
    sum,
    attempts,
    lastSeen,
    whole: !damaged && lastSeen === events.length && counted !== undefined,
  };
}

function rows(db: Database, after: number, limit: number): Row[] {
  return db.query<Row, [number, number]>("select * from events where seq > ?1 order by seq limit ?2").all(after, limit);
}

/** The value, or undefined where the file is damaged. Damage is what this file is about; anything else is thrown on. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && error.name === "SQLiteError")) return undefined;
    throw error;
  }
}

/** What a backup says of itself, without reading its log; undefined where it cannot be asked. */
export function peekBackup(path: string): { readonly identity: string | undefined; readonly seq: number } | undefined {
  let db: Database | undefined;
  try {
    db = new Database(path, { readonly: true });
    const open = db;
    const seq = readable(() =>
      open.query<{ value: number }, []>("select value from counters where name = 'seq'").get(),
    );
    if (seq === undefined) return undefined;
    return { identity: readable(() => identityIn(open)) || undefined, seq: seq?.value ?? 0 };
  } catch (error) {
    if (error instanceof Error && error.name === "SQLiteError") return undefined;
    throw error;
  } finally {
    db?.close();
  }
}

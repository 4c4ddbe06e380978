/** The rows of a log as they lie in a database, in the store's own or in a copy, and the checksum that runs through them. */
import type { Database } from "bun:sqlite";
import { LOG_COLUMNS } from "#store/events.ts";
import type { Row } from "#store/query.ts";

/** Written by the migration that brought it (0007); a store without one was never migrated, and is not opened. */
export function identityIn(db: Database): string {
  return db.query<{ value: string }, []>("select value from meta where key = 'identity'").get()?.value ?? "";
}

/**
 * The running checksum: this event's columns, one after the other, each hashed on top of everything before it. A
 * rebuild asks this of every event, and gluing the columns into one text would cost ten times the hashing.
 */
export function checksum(row: Row, before: number): number {
  let sum = before;
  for (const column of LOG_COLUMNS) {
    const value = row[column];
    if (typeof value === "string") sum = Bun.hash.xxHash32(value, sum);
    else if (typeof value === "number") sum = mix(mix(sum, value / 2 ** 32), value);
    else sum = mix(mix(sum, 1), 0);
  }
  return sum;
}

/** One step of a 32-bit hash for numbers, which is all that a seed can take in. */
function mix(sum: number, value: number): number {
  const turned = (sum << 13) | (sum >>> 19);
  return (Math.imul(turned ^ value, 0x9e3779b1) + 0x85ebca6b) >>> 0;
}

const SELECT_LOG = `select ${LOG_COLUMNS.join(", ")}, sum from events where seq > ?1 order by seq limit ?2`;

export function rowsAfter(db: Database, after: number, limit: number): Row[] {
  return db.query<Row, [number, number]>(SELECT_LOG).all(after, limit);
}

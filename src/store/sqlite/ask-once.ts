/** One question, asked by a process that lives for it alone, with as little as possible around it. */
import { Database } from "bun:sqlite";
import type { Query, Row } from "#store/query.ts";
import type { SqlValue } from "#store/tables.ts";

/** Throws as SQLite does: busy for longer than `busyMs`, missing, damaged. */
export function askSqliteOnce<T>(path: string, query: Query<T>, busyMs: number): T {
  // Not read-only: that could not take part in a write-ahead log that nobody else has open.
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run(`pragma busy_timeout = ${busyMs}`);
    return query.read(db.query<Row, SqlValue[]>(query.sql).all(...query.args));
  } finally {
    // Left open, Bun would write the whole log back into the file at exit, whoever else still uses it.
    db.close();
  }
}

/** One question, with as little as possible around it: by a process that lives for it alone, or by one that stays. */
import { Database } from "bun:sqlite";
import type { Asker } from "#store/kind.ts";
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

/** Throws as SQLite does when there is no such file. */
export function openSqliteAsker(path: string): Asker {
  const db = new Database(path, { readwrite: true, create: false });
  let patienceMs = -1;
  return {
    ask(query, busyMs) {
      if (busyMs !== patienceMs) db.run(`pragma busy_timeout = ${busyMs}`);
      patienceMs = busyMs;
      return query.read(db.query<Row, SqlValue[]>(query.sql).all(...query.args));
    },
    close: () => db.close(),
  };
}

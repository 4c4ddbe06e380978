/** Is an attempt still the one that counts? Asked of the database with as little as possible around it. */
import { Database } from "bun:sqlite";
import type { AttemptLife } from "#domain/permit/permit.ts";

/** `unknown` when the database cannot be read within `busyMs`, or knows no such attempt. */
export function lifeOf(path: string, attempt: number, busyMs: number): AttemptLife {
  let db: Database | undefined;
  try {
    // Not read-only: that could not take part in a write-ahead log that nobody else has open.
    db = new Database(path, { readwrite: true, create: false });
    db.run(`pragma busy_timeout = ${busyMs}`);
    const row = db.query<{ status: string }, [number]>("select status from attempts where attempt = ?1").get(attempt);
    if (row === null) return "unknown";
    return row.status === "ended" ? "over" : "living";
  } catch {
    return "unknown"; // the caller decides what not knowing means
  } finally {
    // Left open, Bun would write the whole log back into the file at exit, whoever else still uses it.
    db?.close();
  }
}

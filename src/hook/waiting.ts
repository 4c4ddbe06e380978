/** Does anything wait for an attempt? Asked at every boundary, so with as little as possible around it. */
import { Database } from "bun:sqlite";

/** How long a boundary waits for the answer; a reader seldom waits at all. */
const BUSY_MS = 100;

/** False also when it cannot be known: what waits is handed over at the next boundary, and nothing is lost by waiting. */
export function somethingWaits(path: string, attempt: number): boolean {
  let db: Database | undefined;
  try {
    db = new Database(path, { readwrite: true, create: false });
    db.run(`pragma busy_timeout = ${BUSY_MS}`);
    return db.query("select 1 from messages where attempt = ?1 and status = 'queued' limit 1").get(attempt) !== null;
  } catch {
    return false;
  } finally {
    db?.close();
  }
}

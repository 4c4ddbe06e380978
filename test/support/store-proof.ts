/** Proves a database sound from outside: SQLite's own check, the whole log, and the tables as its fold. */
import { expect } from "bun:test";
import type { EventOf } from "#domain/model/event.ts";
import { connect } from "#store/sqlite/file.ts";
import { logWalker, tablesAgainstLog } from "#store/sqlite/store.ts";

/** The log of a database that has been proven sound. */
export function provenLog(path: string): EventOf[] {
  const db = connect(path, true);
  try {
    expect(db.query("pragma integrity_check").values()).toEqual([["ok"]]);
    expect(tablesAgainstLog(db, path).differing).toEqual([]);
    const log: EventOf[] = [];
    const walk = logWalker(db, path);
    while (walk.page((event) => void log.push(event)) > 0);
    return log;
  } finally {
    db.close();
  }
}

/** The health log on SQLite. The fence is in the statement itself, so nothing is kept of an attempt that has ended. */
import { Database } from "bun:sqlite";
import type { HealthLog } from "#store/health-log.ts";
import { CHANGES_KEPT } from "#store/health-log.ts";
import { storeError } from "./errors.ts";

const LIVES = "exists (select 1 from attempts where attempt = ?1 and status <> 'ended')";
const SAVE = `insert into health (attempt, agent, status, recommendation, since, doc)
  select ?1, ?2, ?3, ?4, ?5, ?6 where ${LIVES}
  on conflict (attempt) do update set status = excluded.status, recommendation = excluded.recommendation,
    since = excluded.since, doc = excluded.doc`;
const ADD = `insert into diagnoses (attempt, agent, at, doc) select ?1, ?2, ?3, ?4 where ${LIVES}`;
const BOUND = `delete from diagnoses where id <= (select max(id) from diagnoses) - ${CHANGES_KEPT}`;

/** Throws as SQLite does when there is no such file. */
export function openSqliteHealthLog(path: string, { busyMs = 15_000 } = {}): HealthLog {
  const db = new Database(path, { readwrite: true, create: false });
  db.run(`pragma busy_timeout = ${busyMs}; pragma synchronous = normal`);
  return {
    async note(now, changes) {
      if (now.length === 0 && changes.length === 0) return;
      try {
        db.run("begin immediate");
        const save = db.query(SAVE);
        for (const one of now) {
          const { attempt, agent, status, recommendation, since } = one;
          save.run(attempt, agent, status, recommendation, since, JSON.stringify(one));
        }
        const add = db.query(ADD);
        for (const one of changes) add.run(one.attempt, one.agent, one.at, JSON.stringify(one));
        if (changes.length > 0) db.run(BOUND);
        db.run("commit");
      } catch (error) {
        if (db.inTransaction) db.run("rollback");
        throw storeError(error, path);
      }
    },
    close: () => db.close(),
  };
}

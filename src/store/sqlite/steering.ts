/**
 * Judges an agent by its pulse and remembers in it what was said, in one short transaction: of hooks that run side by
 * side only one speaks. Asked from hooks, so it opens as little as it can and waits for nobody long.
 */
import { Database } from "bun:sqlite";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import { afterSteering } from "#domain/signals/reflex.ts";
import { SCHEMA_VERSION } from "./migrations.ts";

/** Undefined when there is nothing to say, the attempt has ended, or the database is of a later version. Throws when it is busy. */
export function steerByPulse(
  path: string,
  attempt: number,
  moment: { readonly at: number; readonly busyMs: number },
  judge: (pulse: Pulse) => Steering | undefined,
): Steering | undefined {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run(`pragma busy_timeout = ${moment.busyMs}; pragma synchronous = normal`);
    const schema = db.query<{ user_version: number }, []>("pragma user_version").get()?.user_version ?? 0;
    if (schema > SCHEMA_VERSION) return undefined;
    const read = db.query<{ doc: string }, [number]>(
      `select p.doc from pulses p join attempts a on a.attempt = p.attempt
       where p.attempt = ?1 and a.status <> 'ended'`,
    );
    // Looked at without a lock first: mostly there is nothing to say.
    const seen = read.get(attempt);
    if (!seen || !judge(JSON.parse(seen.doc) as Pulse)) return undefined;
    db.run("begin immediate");
    const row = read.get(attempt);
    const pulse = row && (JSON.parse(row.doc) as Pulse);
    const steering = pulse ? judge(pulse) : undefined;
    if (pulse && steering) {
      const doc = JSON.stringify(afterSteering(pulse, steering, moment.at));
      db.run("update pulses set doc = ?2 where attempt = ?1", [attempt, doc]);
    }
    db.run("commit");
    return steering;
  } finally {
    if (db.inTransaction) db.run("rollback");
    db.close();
  }
}

/** A database as an earlier version had it, made out of a present one. */
import type { Database } from "bun:sqlite";

/** Takes back the step 0008. */
export function undoColumns(db: Database): void {
  for (const column of ["parent", "announced", "ended_at"]) db.run(`alter table attempts drop column ${column}`);
  for (const column of ["in_turn", "turns"]) db.run(`alter table pulses drop column ${column}`);
}

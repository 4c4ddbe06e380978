/** A database as an earlier version had it, made out of a present one. */
import type { Database } from "bun:sqlite";

const METER = ["cost", "context_tokens", "context_window", "turn_since", "metered"];

/** Takes back the steps after the seventh. */
export function undoColumns(db: Database): void {
  db.run("delete from meta where key = 'schema_done'");
  for (const table of ["attempts", "pulses"]) {
    for (const when of ["added", "changed"]) db.run(`drop trigger ${table}_${when}`);
  }
  for (const when of ["added", "changed"]) {
    db.run(`drop trigger attempts_cost_${when}`);
    db.run(`drop trigger pulses_meter_${when}`);
  }
  db.run("drop index attempts_by_cost");
  for (const table of ["learnings", "learnings_text"]) db.run(`drop table ${table}`);
  db.run("drop index messages_of_syncs");
  for (const column of METER) db.run(`alter table pulses drop column ${column}`);
  for (const column of ["parent", "announced", "ended_at", "cost"])
    db.run(`alter table attempts drop column ${column}`);
  for (const table of ["diagnoses", "health"]) db.run(`drop table ${table}`);
  for (const column of ["in_turn", "turns"]) db.run(`alter table pulses drop column ${column}`);
}

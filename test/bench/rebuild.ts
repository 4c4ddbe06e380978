/**
 * Folding a long log anew, against reading its rows: every column of every row, in order, through bun:sqlite, with
 * nothing done to them. Two cases, since they differ in what is written: sound tables (nothing) and lost ones (all).
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { LOG_COLUMNS } from "#store/events.ts";
import { connect, openForWriting } from "#store/sqlite-file.ts";
import { ENTITY_KINDS, TABLES } from "#store/tables.ts";
import { longLog } from "./long-log.ts";
import { cpuOfThis, type Row, turnAbout } from "./row.ts";

export const rebuilds: readonly Row[] = [100_000, 1_000_000].flatMap((events) => [
  rebuildRow(events, "sound"),
  rebuildRow(events, "lost"),
]);

function rebuildRow(events: number, tables: "sound" | "lost"): Row {
  const size = events >= 1_000_000 ? `${events / 1_000_000}M` : `${events / 1000}k`;
  return {
    name: `rebuild-${size}-${tables}`,
    work: `rebuild of ${size} events, tables ${tables}`,
    floor: "reading the rows",
    aim: 4,
    async measure({ quick, scratch }) {
      const path = await longLog(join(scratch, `${events}.db`), events);
      const store = await openForWriting({ path });
      try {
        const turns = events > 100_000 || quick ? 3 : 9;
        const measured = await turnAbout(
          turns,
          () => {
            if (tables === "lost") empty(path);
            return cpuOfThis(() => store.rebuild());
          },
          () => cpuOfThis(() => readRows(path)),
        );
        return { ...measured, note: `${((measured.workMs / events) * 1000).toFixed(2)} µs an event` };
      } finally {
        await store.close();
      }
    },
  };
}

function empty(path: string): void {
  const db = connect(path, false);
  for (const kind of ENTITY_KINDS) db.run(`delete from ${TABLES[kind].table}`);
  db.close();
}

const COLUMNS = [...LOG_COLUMNS, "sum"] as const;

function readRows(path: string): number {
  const db = new Database(path, { readonly: true });
  const rows = db.query(`select ${COLUMNS.join(", ")} from events order by seq`).iterate();
  let cells = 0;
  for (const row of rows as Iterable<Record<string, unknown>>) {
    for (const column of COLUMNS) if (row[column] !== undefined) cells += 1;
  }
  db.close();
  return cells;
}

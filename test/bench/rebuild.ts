/**
 * Folding a long log again, against reading its rows: every column of every row, in order, through bun:sqlite, with
 * nothing done to them. Two cases, since they differ in what is written: sound tables (nothing) and lost ones (all).
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { LOG_COLUMNS } from "#store/events.ts";
import { openForWriting } from "#store/open.ts";
import { connect } from "#store/sqlite/file.ts";
import { ENTITY_KINDS, TABLES } from "#store/tables.ts";
import { longLog } from "./long-log.ts";
import { cpuOfThis, type Measure, remarked, turnAbout } from "./row.ts";

export function rebuild(events: number, tables: "sound" | "lost"): Measure {
  return async ({ quick, scratch, until, atEnd }) => {
    const path = await longLog(join(scratch, `${events}.db`), events);
    const store = await openForWriting({ address: path });
    atEnd(() => store.close());
    const measured = await turnAbout(
      { turns: events > 100_000 || quick ? 3 : 9, until },
      () => {
        if (tables === "lost") empty(path);
        return cpuOfThis(() => store.rebuild());
      },
      () => cpuOfThis(() => readRows(path)),
    );
    return remarked(measured, `${((measured.workMs / events) * 1000).toFixed(2)} µs an event`);
  };
}

/** Ten times as many events, against ten times the price of a tenth of them. */
export const linear: Measure = async ({ quick, scratch, until, atEnd }) => {
  const [many, few] = [quick ? 100_000 : 1_000_000, quick ? 10_000 : 100_000];
  const open = async (events: number) => {
    const store = await openForWriting({ address: await longLog(join(scratch, `${events}.db`), events) });
    atEnd(() => store.close());
    return store;
  };
  const [long, short] = [await open(many), await open(few)];
  return turnAbout(
    { turns: 3, until },
    () => cpuOfThis(() => long.rebuild()),
    async () => 10 * (await cpuOfThis(() => short.rebuild())),
  );
};

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

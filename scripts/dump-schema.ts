/**
 * Prints the schema that the migrations make, for src/store/sqlite/schema.sql: what a reader looks at instead of adding the
 * steps up. Run it after a new migration: `bun scripts/dump-schema.ts > src/store/sqlite/schema.sql`.
 */
import { Database } from "bun:sqlite";
import { MIGRATIONS } from "../src/store/sqlite/migrations.ts";

export function presentSchema(): string {
  const db = new Database(":memory:");
  for (const step of MIGRATIONS) db.run(step);
  const rows = db
    .query<{ sql: string }, []>(
      "select sql from sqlite_schema where sql is not null and name not glob 'learnings_text_*' or type = 'trigger' order by tbl_name, type = 'index', name",
    )
    .all();
  db.close();
  return `-- The present schema, after migration ${MIGRATIONS.length}. Made by scripts/dump-schema.ts; edit a migration instead.\n\n${rows.map(({ sql }) => `${sql};\n`).join("\n")}`;
}

if (import.meta.main) process.stdout.write(presentSchema());

/**
 * A database of its own with a few attempts at work in it, and nothing else: for trying out, far from everybody's work,
 * whether what an agent's hooks tell arrives. It is made by the same migrations as the real one.
 */
import { Database } from "bun:sqlite";
import { prepareStore } from "#store/open.ts";

/** With the attempts 1 to `count`. */
export async function scratchDatabase(path: string, count: number, now: number): Promise<void> {
  await prepareStore({ address: path, backupDir: `${path}.backups`, now });
  const db = new Database(path, { readwrite: true, create: false });
  try {
    const insert = db.query(
      `insert into attempts (id, attempt, agent, goal_id, node_id, status, created_at, version, doc)
       values (?1, ?2, 'scratch-' || ?1, 'goal_0', 'T' || ?1, 'running', ?3, 1, '{}')`,
    );
    for (let attempt = 1; attempt <= count; attempt += 1) insert.run(String(attempt), attempt, now);
  } finally {
    db.close();
  }
}

/** The kinds of signals that have arrived there. */
export function signalsArrived(path: string, attempt: number): string[] {
  const db = new Database(path, { readwrite: true, create: false });
  try {
    db.run("pragma busy_timeout = 5000");
    const rows = db.query<{ kind: string }, [number]>("select kind from signals where attempt = ?1 order by id");
    return rows.all(attempt).map(({ kind }) => kind);
  } finally {
    db.close();
  }
}

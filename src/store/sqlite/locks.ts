/**
 * A lock is an exclusive transaction on a small database of its own, held for as long as the holder lives. The kernel
 * frees it when the process dies, also by kill -9, and children do not inherit it.
 */
import { Database } from "bun:sqlite";
import type { Lock, Locks } from "#sys/locks.ts";
import { isBusy, storeError } from "./errors.ts";

/**
 * Asking waits a moment for the holder; of our own we know better. They are kept here also because a connection that
 * nobody refers to is closed by the garbage collector, and the lock with it.
 */
const heldHere = new Map<string, Database>();

export const sqliteLocks: Locks = {
  take(path) {
    if (heldHere.has(path)) return undefined;
    const db = lockFile(path);
    if (db === undefined) return undefined;
    heldHere.set(path, db);
    const release: Lock["release"] = () => {
      if (heldHere.get(path) === db) heldHere.delete(path);
      db.close();
    };
    return { release };
  },
};

function lockFile(path: string): Database | undefined {
  let db: Database | undefined;
  try {
    db = new Database(path, { create: true, readwrite: true });
    db.run("pragma busy_timeout = 200");
    // Nothing is ever written into it; without this every taking would make a journal file, and every release remove it.
    db.run("pragma journal_mode = memory");
    db.run("begin exclusive");
    return db;
  } catch (error) {
    db?.close();
    if (isBusy(error)) return undefined;
    throw storeError(error, path);
  }
}

/**
 * The one hand on a repository: an exclusive transaction on a small database of its own, held for as long as the
 * holder lives. The kernel frees it when the process dies, also by kill -9, and children do not inherit it.
 */
import { Database } from "bun:sqlite";
import { isBusy } from "./errors.ts";

export interface Lock {
  release(): void;
}

const heldHere = new Set<string>();

/** The same for somebody who may hold it already: asking waits a moment for its holder, and of our own we know better. */
export function takeLockOnce(path: string): Lock | undefined {
  if (heldHere.has(path)) return undefined;
  const lock = takeLock(path);
  if (lock === undefined) return undefined;
  heldHere.add(path);
  const release = () => {
    heldHere.delete(path);
    lock.release();
  };
  return { release };
}

/** Takes the lock, or returns undefined when another process has it. */
export function takeLock(path: string): Lock | undefined {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    db.run("pragma busy_timeout = 200");
    // Nothing is ever written into it; without this every taking would make a journal file, and every release remove it.
    db.run("pragma journal_mode = memory");
    db.run("begin exclusive");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

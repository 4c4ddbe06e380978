/**
 * The one hand on a repository: an exclusive transaction on a small database of its own, held for as long as the
 * holder lives. The kernel frees it when the process dies, also by kill -9, and children do not inherit it.
 */
import { Database } from "bun:sqlite";
import { isBusy } from "./sqlite-errors.ts";

export interface Lock {
  release(): void;
}

/** Takes the lock, or returns undefined when another process has it. */
export function takeLock(path: string): Lock | undefined {
  const db = new Database(path, { create: true, readwrite: true });
  try {
    db.run("pragma busy_timeout = 200");
    db.run("begin exclusive");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

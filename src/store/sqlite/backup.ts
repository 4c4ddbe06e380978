/**
 * Copies of the database, made online and kept in the git directory, where `git clean -fdx` does not reach. A copy is
 * complete or not there: it is written beside and renamed.
 */
import type { Database } from "bun:sqlite";
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

const NAME = /^overseer-(\d{8}T\d{6}Z)(-[\w-]+)?\.db$/;

export interface BackupFile {
  readonly path: string;
  readonly bytes: number;
  readonly madeAt: number;
}

/** Writes a copy into `directory`; the newest `keep` are kept, all of them without it. May be called while others write. */
export async function backUp(
  db: Database,
  options: { readonly directory: string; readonly now: number; readonly label?: string; readonly keep?: number },
): Promise<BackupFile> {
  const { directory, now, label, keep } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stamp = new Date(now).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "");
  const path = join(directory, `overseer-${stamp}${label ? `-${label}` : ""}.db`);
  removeLeftovers(directory, now);
  copyTo(db, path);
  const { size: bytes } = statSync(path);
  // By a clock that was set back it is the oldest of all, and still the one that was just made.
  const others = keep === undefined ? [] : listBackups(directory).filter((other) => other.path !== path);
  for (const old of others.slice(Math.max(0, (keep ?? 0) - 1))) rmSync(old.path, { force: true });
  return { path, bytes, madeAt: now };
}

/** Writes a copy to exactly that path, replacing what is there. */
export function copyTo(db: Database, path: string): void {
  const unfinished = `${path}.${process.pid}${UNFINISHED}`;
  rmSync(unfinished, { force: true });
  try {
    db.query("vacuum into ?1").run(unfinished);
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

const UNFINISHED = ".unfinished";
const LEFTOVER_AFTER_MS = 3_600_000;

/** What a backup that was killed has left; a young one may still be in the making by somebody else. */
function removeLeftovers(directory: string, now: number): void {
  for (const name of readdirSync(directory).filter((one) => one.includes(UNFINISHED))) {
    const facts = statSync(join(directory, name), { throwIfNoEntry: false });
    if (facts && now - facts.mtimeMs > LEFTOVER_AFTER_MS) rmSync(join(directory, name), { force: true });
  }
}

/** Newest first. */
export function listBackups(directory: string): BackupFile[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return names
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
    .map((name) => {
      const path = join(directory, name);
      const facts = statSync(path);
      return { path, bytes: facts.size, madeAt: Math.trunc(facts.mtimeMs) };
    });
}

/**
 * The database as the daemon finds it. Holding the lock, the daemon may do what `doctor --fix` does: migrate an older
 * one, bring a lost one back from its backup, move a damaged one aside and read out what can be read. After damage or
 * loss it runs on in safe mode: everything can be read, nothing is dispatched until a person says go (STORE-5, SAFE-1).
 */
import { statSync } from "node:fs";
import { doubtStore, enterSafeMode } from "#act/safe-mode.ts";
import type { Repair } from "#control/upkeep/store-rescue.ts";
import {
  backupDir,
  databasePath,
  finishRecovery,
  isUnfinished,
  recover,
  restoreStore,
} from "#control/upkeep/store-rescue.ts";
import type { World } from "#control/world.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { inspectStore, openForReading, prepareStore } from "#store/open.ts";
import { listBackups } from "#store/sqlite/backup.ts";
import { highWater } from "#store/sqlite/log-copy.ts";

/** Errors of the store that only the holder of the lock may do something about. */
const DAMAGE: ReadonlySet<string> = new Set(["STORE_CORRUPT", "LOG_BROKEN", "STORE_FOREIGN"]);
const LOSS: ReadonlySet<string> = new Set(["STORE_MISSING", "STORE_REPLACED"]);

export function isDamage(error: unknown): error is OverseerError {
  return error instanceof OverseerError && (DAMAGE.has(error.code) || LOSS.has(error.code));
}

/** Its newest part was removed and has been brought home: everything is there, and has to be opened again. */
export function isWalGone(error: unknown): error is OverseerError {
  return error instanceof OverseerError && error.code === "STORE_WAL_GONE";
}

/** Makes the database usable, or throws why it cannot be. Nobody of this process may have it open. */
export async function makeStoreReady(world: World): Promise<Repair> {
  if (await isUnfinished(world)) return finishRecovery(world);
  const path = databasePath(world);
  const { state, problem } = await inspectStore(path);
  switch (state) {
    case "ready":
      await doubtAt(world, path);
      return { done: [] };
    case "old":
      await prepareStore({ address: path, backupDir: backupDir(world), now: world.clock.now() });
      return { done: [`migrated ${path}; a backup was made first`] };
    case "corrupt":
    case "foreign":
      return recover(world, problem?.message ?? state);
    case "missing":
      if (!hasBackup(world)) throw problem ?? new Error("The database is missing.");
      return restoreStore(world);
    default:
      throw problem ?? new Error(state);
  }
}

/** After an error on the way: damage is taken care of, a file that was replaced means safe mode. */
export async function careFor(world: World, error: OverseerError): Promise<Repair> {
  if (DAMAGE.has(error.code)) return recover(world, messageOf(error));
  const fixed = await makeStoreReady(world);
  await enterSafeMode(world, error.message);
  return fixed;
}

/** Which file lies under the database's name now. */
export function databaseInode(world: World): number | undefined {
  return statSync(databasePath(world), { throwIfNoEntry: false })?.ino;
}

/** Throws when the database is no longer that file: reading on in the old one would show what nobody writes any more. */
export function assertDatabase(world: World, opened: number | undefined): void {
  const now = databaseInode(world);
  if (now === opened) return;
  throw new OverseerError(
    "environment",
    now === undefined ? "STORE_MISSING" : "STORE_REPLACED",
    `The database was ${now === undefined ? "removed" : "replaced"} while the daemon ran.`,
    "Look at 'overseer status'; 'overseer thaw' ends it.",
  );
}

/** Throws when the log ends before what was read of it: an older file was written over this one, under the same name. */
export function assertForward(last: number, seen: number): void {
  if (last >= seen) return;
  throw new OverseerError(
    "environment",
    "STORE_REPLACED",
    `An older database was written over the one in use: its log ends ${seen - last} events before what was read of it.`,
    "Run 'overseer down' and 'overseer doctor --fix': it brings back what was seen.",
  );
}

/** A sound database that does not continue from where it was seen is looked at by a person before anything else. */
async function doubtAt(world: World, path: string): Promise<void> {
  const store = await openForReading({ address: path, backupDir: backupDir(world) });
  try {
    await doubtStore(world, store);
  } finally {
    await store.close();
  }
}

function hasBackup(world: World): boolean {
  return listBackups(backupDir(world)).length > 0 || (highWater(backupDir(world))?.seq ?? 0) > 1;
}

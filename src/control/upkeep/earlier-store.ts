/**
 * Stores from before they lay below the git directory (docs/decisions/0011): the database, the logs and the run files of
 * such a repository are in `.overseer/`. Moving them is a person's word, `doctor --fix`; the database goes last, so a
 * move that is interrupted is simply done again. Whoever calls has refused what git tracks (act/settings/tracked-state.ts).
 */

import type { World } from "#control/world.ts";
import { OverseerError } from "#errors.ts";
import { earlierPlaceOf } from "#store/sqlite/file.ts";
import { databasePath, holdersOf, type Repair } from "./store-rescue.ts";

/** In this order; what names the database goes last, because it is what tells that there is something to move. */
const MOVED = [
  /^specs$/,
  /^logs$/,
  /^run$/,
  /^overseer\.db\.[\w-]+$/,
  /^overseer\.db-shm$/,
  /^overseer\.db-wal$/,
  /^overseer\.db$/,
];

export async function moveEarlierStore(world: World): Promise<Repair> {
  const { userDir, state } = world.root;
  const database = earlierPlaceOf(databasePath(world)) ?? "";
  const holders = holdersOf(database);
  if (holders.length > 0) throw stillUsed(database, holders);
  const names = (await world.files.list(userDir)) ?? [];
  for (const pattern of MOVED) {
    for (const name of names.filter((one) => pattern.test(one)))
      await move(world, `${userDir}/${name}`, `${state}/${name}`);
  }
  return { done: [`moved the database, the logs and the run files from ${userDir} to ${state}`] };
}

/** Into a directory that is there already, entry by entry: some of its files may have been made again meanwhile. */
async function move(world: World, from: string, to: string): Promise<void> {
  const target = await world.files.facts(to);
  if (target === undefined) return world.files.rename(from, to);
  if (target.kind !== "directory") {
    await world.files.remove(to);
    return world.files.rename(from, to);
  }
  for (const name of (await world.files.list(from)) ?? []) await move(world, `${from}/${name}`, `${to}/${name}`);
  await world.files.remove(from);
}

/** They were started by the version before, which looks for its files at the old place only. */
function stillUsed(path: string, pids: readonly number[]): OverseerError {
  return new OverseerError(
    "conflict",
    "STORE_IN_USE",
    `The daemon and agents that the version before started still use ${path} (pids ${pids.join(", ")}).`,
    `End them, then run 'overseer doctor --fix' again: kill ${pids.join(" ")}. Uncommitted work is kept, and 'overseer up' starts the agents again.`,
  );
}

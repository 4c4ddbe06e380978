/**
 * Bringing a lost or damaged database back. The damaged one is moved aside with its -wal and -shm, never repaired in
 * place; what can be read is folded into a new one that is built beside and renamed into place at the very end. So a
 * recovery that is killed at any moment leaves either no database or a whole one, and safe-mode.json, written before
 * the first move, says where the next `doctor --fix` has to go on.
 */
import { readdirSync, statSync } from "node:fs";
import type { EventOf } from "#domain/event.ts";
import { OverseerError, systemCode } from "#errors.ts";
import { listBackups } from "#store/backup.ts";
import type { Salvage } from "#store/salvage.ts";
import { salvage } from "#store/salvage.ts";
import { openForWriting, prepareDatabase } from "#store/sqlite-file.ts";
import { readSafeMode, safeModePath } from "./status.ts";
import type { World } from "./world.ts";

export interface Mended {
  readonly done: readonly string[];
}

export function databasePath(world: World): string {
  return `${world.root.state}/overseer.db`;
}

export function backupDir(world: World): string {
  return `${world.root.gitCommonDir}/overseer/backups`;
}

/** A recovery began and did not come to its end. */
export async function isUnfinished(world: World): Promise<boolean> {
  return (await readSafeMode(world))?.recovering !== undefined;
}

/** Moves the damaged database aside, reads out what can be read, and leaves the repository in safe mode. */
export async function recover(world: World, problem: string): Promise<Mended> {
  const path = databasePath(world);
  refuseWhileOpen(path);
  const since = new Date(world.clock.now()).toISOString();
  const aside = `${path}.corrupt-${since.replace(/[-:.]/g, "")}`;
  const movedTo: string[] = [];
  for (const suffix of PARTS) {
    if ((await world.files.facts(`${path}${suffix}`)) !== undefined) movedTo.push(`${aside}${suffix}`);
  }
  await sayUnsafe(world, { since, problem, movedTo, recovering: aside });
  return finishRecovery(world);
}

/** Goes on with a recovery from wherever it stopped; every step may be repeated. */
export async function finishRecovery(world: World): Promise<Mended> {
  const safeMode = await readSafeMode(world);
  if (safeMode?.recovering === undefined) return { done: [] };
  const { since, problem, movedTo, recovering: aside } = safeMode;
  const path = databasePath(world);
  const said = await moveAndRefill(world, { problem, movedTo, aside });
  await sayUnsafe(world, { since, problem, movedTo });
  return {
    done: [
      `moved the damaged database aside: ${movedTo.join(", ")}`,
      said ?? `recovered what could be read into ${path}`,
      "safe mode is on: everything can be read, nothing is given out until 'overseer doctor --leave-safe-mode'",
    ],
  };
}

interface Damage {
  readonly problem: string;
  readonly movedTo: readonly string[];
  readonly aside: string;
}

async function moveAndRefill(world: World, { problem, movedTo, aside }: Damage): Promise<string | undefined> {
  const path = databasePath(world);
  // The damaged file has left its place and something stands there again: the rename at the end was done.
  const finished = (await isThere(world, aside)) && (await isThere(world, path));
  if (finished) return undefined;
  refuseWhileOpen(path);
  await moveAside(world, aside);
  const fromFile = salvage(aside);
  const backup = bestBackup(world);
  const best =
    backup && backup.salvage.events.length > fromFile.events.length ? backup : { path: aside, salvage: fromFile };
  const { events } = best.salvage;
  const lost = Math.max(0, Math.max(fromFile.lastSeen, best.salvage.lastSeen) - events.length);
  await putInPlace(world, { events, identity: fromFile.identity ?? backup?.salvage.identity }, [
    {
      type: "overseer.store.corrupt",
      actor: "overseer",
      because: "database-damaged",
      data: { movedTo: [...movedTo], problem },
    },
    recoveredEvent(events.length, lost, best.path, problem),
  ]);
  return `recovered ${events.length} events from ${best.path}${lost > 0 ? `; ${lost} could not be read` : ""}`;
}

/** The file is gone (`git clean -fdx`): the newest sound backup comes back; without one an empty database is made. */
export async function restore(world: World): Promise<Mended> {
  const path = databasePath(world);
  // A -wal that outlived its database would be played into the next one that takes the name.
  await moveAside(world, `${path}.orphan-${new Date(world.clock.now()).toISOString().replace(/[-:.]/g, "")}`);
  const best = bestBackup(world);
  if (!best) {
    await prepareDatabase({ path, backupDir: backupDir(world), now: world.clock.now() });
    return { done: [`made a new, empty database at ${path}; there was no backup`] };
  }
  const { events } = best.salvage;
  await putInPlace(world, best.salvage, [recoveredEvent(events.length, 0, best.path, "the database was missing")]);
  return { done: [`restored ${events.length} events from ${best.path}`] };
}

/** What a database is made of on disk. */
const PARTS = ["", "-wal", "-shm"] as const;

async function moveAside(world: World, aside: string): Promise<void> {
  const path = databasePath(world);
  for (const suffix of PARTS) {
    if (await isThere(world, `${path}${suffix}`)) await world.files.rename(`${path}${suffix}`, `${aside}${suffix}`);
  }
}

async function isThere(world: World, path: string): Promise<boolean> {
  return (await world.files.facts(path)) !== undefined;
}

async function sayUnsafe(world: World, safeMode: object): Promise<void> {
  await world.files.write(safeModePath(world), `${JSON.stringify(safeMode)}\n`, { mode: 0o600 });
}

type Note = Pick<EventOf, "type" | "actor" | "because" | "data">;

function recoveredEvent(events: number, lost: number, from: string, because: string): Note {
  return {
    type: "overseer.store.recovered",
    actor: "overseer",
    because: because.slice(0, 200),
    data: { events, lost, from },
  };
}

/** They passed the door once, under the caps of their day; a smaller default must not clip them now. */
const AS_THEY_WERE = {
  fieldBytes: Number.MAX_SAFE_INTEGER,
  reportFieldBytes: Number.MAX_SAFE_INTEGER,
  instructionBytes: Number.MAX_SAFE_INTEGER,
  summaryBytes: Number.MAX_SAFE_INTEGER,
  rawPlanBytes: Number.MAX_SAFE_INTEGER,
  listItems: Number.MAX_SAFE_INTEGER,
};

/** Builds a database of these events beside, and gives it the name in one step. */
async function putInPlace(
  world: World,
  { events, identity }: Pick<Salvage, "events" | "identity">,
  notes: readonly Note[],
): Promise<void> {
  const path = databasePath(world);
  const fresh = `${path}.recovered`;
  for (const suffix of PARTS) await world.files.remove(`${fresh}${suffix}`);
  const at = world.clock.now();
  await prepareDatabase({ path: fresh, backupDir: backupDir(world), now: at, identity });
  const store = await openForWriting({ path: fresh, caps: AS_THEY_WERE });
  try {
    const placed = notes.map((note, index) => ({ ...note, seq: events.length + 1 + index, at, v: 1 }) as EventOf);
    await store.append([...events, ...placed]);
  } finally {
    await store.close();
  }
  await world.files.rename(fresh, path);
}

function bestBackup(world: World): { readonly path: string; readonly salvage: Salvage } | undefined {
  for (const { path } of listBackups(backupDir(world))) {
    const content = salvage(path);
    if (content.whole) return { path, salvage: content };
  }
  return undefined;
}

/** Renaming a file under a writer lets it write where nobody reads. */
export function refuseWhileOpen(path: string): void {
  const holders = holdersOf(path);
  if (holders.length === 0) return;
  throw new OverseerError(
    "conflict",
    "STORE_IN_USE",
    `Process ${holders.join(", ")} has the damaged database open; moving it now could lose what that process writes.`,
    "Stop that process (for the daemon: 'overseer down'), then run 'overseer doctor --fix' again.",
  );
}

/** Pids that have the file open, read from /proc; empty where there is no /proc to ask. */
function holdersOf(path: string): number[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file) return [];
  let pids: string[];
  try {
    pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
  return pids.map(Number).filter((pid) => pid !== process.pid && hasOpen(pid, file));
}

function hasOpen(pid: number, file: { readonly ino: number; readonly dev: number }): boolean {
  // What is gone meanwhile holds nothing; what belongs to somebody else cannot have our 0600 file open.
  return (unlessGone(() => readdirSync(`/proc/${pid}/fd`)) ?? []).some((fd) => {
    const open = unlessGone(() => statSync(`/proc/${pid}/fd/${fd}`));
    return open !== undefined && open.ino === file.ino && open.dev === file.dev;
  });
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (["ENOENT", "EACCES", "ESRCH", "EPERM"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  }
}

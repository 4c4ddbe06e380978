/**
 * Bringing a lost or damaged database back. The damaged one is moved aside with its -wal and -shm, never repaired in
 * place; what can be read is folded into a new one that is built beside and renamed into place at the very end. So a
 * recovery that is killed at any moment leaves either no database or a whole one, and safe-mode.json, written before
 * the first move, says where the next `doctor --fix` has to continue.
 */
import type { Database } from "bun:sqlite";
import { readdirSync, statSync } from "node:fs";
import { enterSafeMode, safeModeFile } from "#act/safe-mode.ts";
import { readSafeMode } from "#control/status.ts";
import type { World } from "#control/world.ts";
import { describeSaid, findSaidOnlyIn, freezeIn } from "#domain/health/said-in-doubt.ts";
import type { EventOf } from "#domain/model/event.ts";
import { diskError, OverseerError, systemCode } from "#errors.ts";
import { addressIn, openForWriting, prepareStore } from "#store/open.ts";
import { listBackups } from "#store/sqlite/backup.ts";
import { storeError } from "#store/sqlite/errors.ts";
import { connect } from "#store/sqlite/file.ts";
import { acceptAsItIs, copyPath, highWater } from "#store/sqlite/log-copy.ts";
import type { Salvage } from "#store/sqlite/salvage.ts";
import { peekBackup, salvage } from "#store/sqlite/salvage.ts";
import { attemptOfProcess, attemptsSeen } from "./attempts-seen.ts";

export interface Repair {
  readonly done: readonly string[];
}

export function databasePath(world: World): string {
  return addressIn(world.root.state);
}

export function backupDir(world: World): string {
  return `${world.root.gitCommonDir}/overseer/backups`;
}

/** A recovery began and did not come to its end. */
export async function isUnfinished(world: World): Promise<boolean> {
  return (await readSafeMode(world))?.recovering !== undefined;
}

/** Moves the damaged database aside, reads out what can be read, and leaves the repository in safe mode. */
export async function recover(world: World, problem: string): Promise<Repair> {
  return begin(world, problem, "corrupt");
}

/**
 * The database went back in time, or is another one's: it is moved aside like a damaged one, and what was seen before
 * comes back from the copy of its log.
 */
export async function bringBack(world: World, problem: string): Promise<Repair> {
  return begin(world, problem, "doubted");
}

async function begin(world: World, problem: string, why: Why): Promise<Repair> {
  const path = databasePath(world);
  await refuseWhileOpen(world, path);
  const since = new Date(world.clock.now()).toISOString();
  const aside = `${path}.${why}-${since.replace(/[-:.]/g, "")}`;
  const movedTo: string[] = [];
  for (const suffix of PARTS) {
    if ((await world.files.facts(`${path}${suffix}`)) !== undefined) movedTo.push(`${aside}${suffix}`);
  }
  await sayUnsafe(world, { since, problem, movedTo, recovering: aside });
  return finishRecovery(world);
}

/** Why the database goes aside; it stands in the name it gets, so that a recovery that was killed knows. */
type Why = "corrupt" | "doubted";

function whyOf(aside: string): Why {
  return /\.doubted-\w+$/.test(aside) ? "doubted" : "corrupt";
}

/** Goes on with a recovery from wherever it stopped; every step may be repeated. */
export async function finishRecovery(world: World): Promise<Repair> {
  const safeMode = await readSafeMode(world);
  if (safeMode?.recovering === undefined) return { done: [] };
  const { since, problem, movedTo, recovering: aside } = safeMode;
  const path = databasePath(world);
  const said = await moveAndRefill(world, { problem, movedTo, aside });
  const recovered = said ?? `recovered what could be read into ${path}`;
  const went = whyOf(aside) === "doubted";
  // What is true from here on: of a database that went back, not how far, but that it is back again.
  const before = went ? "The database had gone back." : `${problem.replace(/\.$/, "")}.`;
  const now = `${before} Overseer ${recovered}; what was there is kept at ${aside}.`;
  await sayUnsafe(world, { since, problem: now, movedTo });
  const what = went ? "database that went back" : "damaged database";
  const more = went ? unsaid(aside, path) : [];
  return { done: [`moved the ${what} aside: ${movedTo.join(", ")}`, recovered, ...more, SAFE_MODE_ON] };
}

/** What people said to the database that went aside is not in the one that took its place; they are told. */
function unsaid(aside: string, path: string): string[] {
  const [before, now] = [salvage(aside), salvage(path)];
  const lines = describeSaid(findSaidOnlyIn(before, now), aside);
  return [
    ...(lines.length > 0 ? [lines.join("\n")] : []),
    ...(freezeIn(before) ? ["the fleet stays frozen, as it was in the database that went aside"] : []),
  ];
}

/** A freeze holds until a person thaws the fleet, also when the database in which it was said goes aside. */
function keepFreeze(aside: string, events: readonly EventOf[]): Note[] {
  const freeze = freezeIn({ events }) ? undefined : freezeIn(salvage(aside));
  if (freeze === undefined) return [];
  const { type, actor, data } = freeze;
  return [{ type, actor, because: "said-in-doubt", data }];
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
  await refuseWhileOpen(world, path);
  await moveAside(world, aside);
  const best = whyOf(aside) === "doubted" ? whatWasSeen(world) : bestOf(world, aside);
  const { events } = best.salvage;
  const lost = Math.max(0, best.lastSeen - events.length);
  const damaged: Note = {
    type: "overseer.store.corrupt",
    actor: "overseer",
    because: "database-damaged",
    data: { movedTo: [...movedTo], problem },
  };
  const notes = [
    ...(whyOf(aside) === "corrupt" ? [damaged] : []),
    toRecoveredEvent(events.length, lost, best.path, problem),
    ...(whyOf(aside) === "doubted" ? keepFreeze(aside, events) : []),
  ];
  await putInPlace(world, best.salvage, notes);
  return `recovered ${events.length} events from ${best.path}${lost > 0 ? `; ${lost} could not be read` : ""}`;
}

interface Source {
  readonly path: string;
  readonly salvage: Salvage;
  /** The highest place in the log that anything told of. */
  readonly lastSeen: number;
}

/** The longest log that can be proven: the file's own, or a backup's with what the file has beyond it. */
function bestOf(world: World, aside: string): Source {
  return withWritersOut(aside, () => {
    const own = salvage(aside);
    const identity = own.identity ?? highWater(backupDir(world))?.identity;
    const backup = bestBackup(world, identity);
    if (!backup || backup.salvage.events.length <= own.events.length) {
      return { path: aside, salvage: { ...own, identity }, lastSeen: own.lastSeen };
    }
    const longest = salvage(aside, backup.salvage);
    const lastSeen = Math.max(own.lastSeen, longest.lastSeen);
    return { path: backup.path, salvage: { ...longest, identity: backup.salvage.identity ?? identity }, lastSeen };
  });
}

/** The store whose mark is known, from the copy of its log or a backup; the file that lies in its place is not asked. */
function whatWasSeen(world: World): Source {
  const best = bestBackup(world, highWater(backupDir(world))?.identity);
  if (best) return { ...best, lastSeen: best.salvage.lastSeen };
  throw new OverseerError(
    "environment",
    "NO_BACKUP",
    "Neither the copy of the log nor a backup can be read, so what was seen before cannot be brought back.",
    "Move the database back from where it was moved to, then 'overseer thaw' continues with it.",
  );
}

/**
 * A writer that looked before the file was moved may still be writing into it; what it commits is waited for, and seen.
 * Where the file is too damaged to be locked, nobody can write into it either.
 */
function withWritersOut<T>(path: string, work: () => T): T {
  if (holdersOf(path).length === 0) return work(); // the last one to close it would tidy up what is to stay as it is
  let db: Database | undefined;
  try {
    db = connect(path, false);
    db.run("begin immediate");
  } catch (error) {
    db?.close();
    db = undefined;
    if (!(error instanceof Error) || error.name !== "SQLiteError") throw error;
  }
  try {
    return work();
  } finally {
    db?.close();
  }
}

/**
 * The file is gone (`git clean -fdx`): what was seen of it comes back; without any backup an empty database is made.
 * What nobody copied of the last minute is lost, so a person looks first.
 */
export async function restoreStore(world: World): Promise<Repair> {
  const path = databasePath(world);
  // A -wal that outlived its database would be played into the next one that takes the name.
  await moveAside(world, `${path}.orphan-${new Date(world.clock.now()).toISOString().replace(/[-:.]/g, "")}`);
  const best = bestBackup(world, highWater(backupDir(world))?.identity);
  if (!best) {
    const attempts = await attemptsSeen(world, [], backupDir(world));
    await prepareStore({ address: path, backupDir: backupDir(world), now: world.clock.now(), attempts });
    return { done: [`made a new, empty database at ${path}; there was no backup`] };
  }
  const { events } = best.salvage;
  await enterSafeMode(world, `The database was gone; ${events.length} events came back from ${best.path}.`);
  await putInPlace(world, best.salvage, [toRecoveredEvent(events.length, 0, best.path, "the database was missing")]);
  return { done: [`restored ${events.length} events from ${best.path}`, SAFE_MODE_ON] };
}

const SAFE_MODE_ON = "safe mode is on: everything can be read, nothing is dispatched until 'overseer thaw'";

/** A person continues with the database as it is, whatever was seen of it before. */
export async function acceptStore(world: World): Promise<void> {
  const directory = backupDir(world);
  const attempts = await attemptsSeen(world, [], directory);
  const db = connect(databasePath(world), false);
  try {
    acceptAsItIs(db, directory, { now: world.clock.now(), attempts });
  } catch (error) {
    throw diskError(error) ?? storeError(error, databasePath(world));
  } finally {
    db.close();
  }
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
  await world.files.write(safeModeFile(world.root.state), `${JSON.stringify(safeMode)}\n`, { mode: 0o600 });
}

type Note = Pick<EventOf, "type" | "actor" | "because" | "data">;

function toRecoveredEvent(events: number, lost: number, from: string, because: string): Note {
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
async function putInPlace(world: World, found: Salvage, notes: readonly Note[]): Promise<void> {
  const { events, identity } = found;
  const path = databasePath(world);
  const fresh = `${path}.recovered`;
  for (const suffix of PARTS) await world.files.remove(`${fresh}${suffix}`);
  const at = world.clock.now();
  const attempts = await attemptsSeen(world, [found.attempts], backupDir(world));
  await prepareStore({ address: fresh, backupDir: backupDir(world), now: at, identity, attempts });
  const store = await openForWriting({ address: fresh, caps: AS_THEY_WERE });
  try {
    const placed = notes.map((note, index) => ({ ...note, seq: events.length + 1 + index, at, v: 1 }) as EventOf);
    await store.append([...events, ...placed]);
  } finally {
    await store.close();
  }
  await world.files.rename(fresh, path);
}

/** How far any log reached of which there is a copy here. */
export function furthestSeen(world: World): number {
  const directory = backupDir(world);
  const paths = [copyPath(directory), ...listBackups(directory).map(({ path }) => path)];
  return Math.max(0, ...paths.map((path) => peekBackup(path)?.seq ?? 0));
}

/** The longest sound copy of that store; of any store where none is named. Those from before stores had an identity count. */
function bestBackup(
  world: World,
  identity: string | undefined,
): { readonly path: string; readonly salvage: Salvage } | undefined {
  const directory = backupDir(world);
  const candidates = [copyPath(directory), ...listBackups(directory).map(({ path }) => path)].flatMap((path) => {
    const said = peekBackup(path);
    // The first event only tells that Overseer was set up: a log without another has nothing to lose.
    const same = identity === undefined || said?.identity === undefined || said.identity === identity;
    return said && said.seq > 1 && same ? [{ path, seq: said.seq }] : [];
  });
  for (const { path } of candidates.sort((a, b) => b.seq - a.seq)) {
    const content = salvage(path);
    if (content.whole) return { path, salvage: content };
  }
  return undefined;
}

/** Somebody of ours who looks something up has the file open for milliseconds. */
const HOLDERS_PATIENCE_MS = 300;
const HOLDERS_LOOK_MS = 50;

/**
 * Renaming a file under a writer lets it write where nobody reads. Our runners and agents look under which name the
 * file lies before they write, wait while it is away, and open the new one; anybody else is named.
 */
async function refuseWhileOpen(world: World, path: string): Promise<void> {
  const ours = (pid: number) => attemptOfProcess(world.processes, world.root.state, pid) !== undefined;
  const strangers = () => holdersOf(path).filter((pid) => !ours(pid));
  const patience = world.clock.monotonic() + HOLDERS_PATIENCE_MS;
  let holders = strangers();
  while (holders.length > 0 && world.clock.monotonic() < patience) {
    await world.clock.sleep(HOLDERS_LOOK_MS);
    holders = strangers();
  }
  if (holders.length === 0) return;
  throw new OverseerError(
    "conflict",
    "STORE_IN_USE",
    `Process ${holders.join(", ")} has the damaged database open; moving it now could lose what that process writes.`,
    "Stop that process (for the daemon: 'overseer down'), then run 'overseer doctor --fix' again. Agents may continue.",
  );
}

/** Pids that have the file open, read from /proc; empty where there is no /proc to ask. */
export function holdersOf(path: string): number[] {
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

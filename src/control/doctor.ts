/**
 * Looks at the ground the product stands on and says what is wrong and what to do; with `fix` it mends what can be
 * mended without losing anything. A damaged database is moved aside, never repaired in place, and only while nobody
 * else has it open: renaming a file under a writer lets it write where nobody reads.
 */
import { Database } from "bun:sqlite";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import type { EventOf } from "#domain/event.ts";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import type { BackupFile } from "#store/backup.ts";
import { listBackups } from "#store/backup.ts";
import { takeLock } from "#store/lock.ts";
import { MIGRATIONS } from "#store/migrations.ts";
import type { Salvage } from "#store/salvage.ts";
import { salvage } from "#store/salvage.ts";
import { logWalker } from "#store/sqlite.ts";
import type { DatabaseState } from "#store/sqlite-file.ts";
import { connect, inspectDatabase, openForWriting, prepareDatabase } from "#store/sqlite-file.ts";
import type { DumpRow } from "#store/store.ts";
import { safeModePath } from "./status.ts";
import type { World } from "./world.ts";

export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The next step; absent when all is well. */
  readonly next?: string;
}

export function databasePath(world: World): string {
  return `${world.root.state}/overseer.db`;
}

export function backupDir(world: World): string {
  return `${world.root.gitCommonDir}/overseer/backups`;
}

/** Looks only. */
export async function examine(world: World): Promise<Finding[]> {
  return [
    await program(world, "git", ["git", "--version"], "Install git 2.38 or newer."),
    await program(world, "tmux", ["tmux", "-V"], "Install tmux, or set 'terminal: detached' in .overseer/config.yaml."),
    await configuration(world),
    ...(await database(world)),
    await disk(world),
  ];
}

async function program(world: World, name: string, argv: string[], next: string): Promise<Finding> {
  try {
    const { stdout, code } = await world.exec.run(argv, { timeoutMs: 10_000 });
    return code === 0
      ? { check: name, ok: true, detail: stdout.trim() }
      : { check: name, ok: false, detail: `${argv.join(" ")} failed with ${code}`, next };
  } catch (error) {
    if (error instanceof OverseerError) return { check: name, ok: false, detail: error.message, next };
    throw error;
  }
}

async function configuration(world: World): Promise<Finding> {
  try {
    await world.config();
    return { check: "config", ok: true, detail: "valid" };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { check: "config", ok: false, detail: error.message, next: error.hint };
  }
}

async function disk(world: World): Promise<Finding> {
  const free = await world.files.freeBytes(world.root.project);
  const megabytes = Math.floor(free / 1024 / 1024);
  const ok = megabytes >= 500;
  return {
    check: "disk",
    ok,
    detail: `${megabytes.toLocaleString("en")} MB free`,
    ...(ok ? {} : { next: "Free some space: no new work starts on a full disk." }),
  };
}

async function database(world: World): Promise<Finding[]> {
  const path = databasePath(world);
  const { state, problem } = await inspectDatabase(path);
  const backups = listBackups(backupDir(world));
  const findings: Finding[] = [];
  if (state === "ready") findings.push(await integrity(path));
  else
    findings.push({ check: "database", ok: false, detail: problem?.message ?? state, next: nextFor(state, backups) });
  const safe = Bun.file(safeModePath(world));
  if (await safe.exists()) {
    findings.push({
      check: "safe mode",
      ok: false,
      detail: "on: everything can be read, nothing is given out",
      next: "Look at 'overseer events' and what was recovered; then 'overseer doctor --leave-safe-mode'.",
    });
  }
  const newest = backups[0];
  findings.push({
    check: "backups",
    ok: true,
    detail: newest ? `${backups.length}, newest ${newest.path}` : "none yet ('overseer store backup' makes one)",
  });
  return findings;
}

function nextFor(state: DatabaseState, backups: readonly BackupFile[]): string {
  switch (state) {
    case "missing":
      return backups[0]
        ? `Run 'overseer doctor --fix' to bring back ${backups[0].path}, or 'overseer init' to start anew.`
        : "Run 'overseer init'.";
    case "newer":
      return "Update Overseer; this version does not touch a newer database.";
    case "old":
      return "Run 'overseer doctor --fix' (or 'overseer init') to migrate it; a backup is made first.";
    default:
      return "Run 'overseer doctor --fix': it is moved aside and everything readable is recovered.";
  }
}

/** The file is sound, the log is whole, and the tables say what the log says. */
async function integrity(path: string): Promise<Finding> {
  const db = connect(path, true);
  try {
    const rows = db.query<{ integrity_check: string }, []>("pragma integrity_check(1)").all();
    const said = rows[0]?.integrity_check ?? "no answer";
    if (said !== "ok") return damaged(said);
    const walk = logWalker(db, path);
    while (walk.page(() => {}) > 0);
    return { check: "database", ok: true, detail: `sound, ${walk.seq().toLocaleString("en")} events` };
  } catch (error) {
    return damaged(messageOf(error));
  } finally {
    db.close();
  }
}

function damaged(detail: string): Finding {
  return { check: "database", ok: false, detail, next: nextFor("corrupt", []) };
}

export interface Mended {
  readonly done: readonly string[];
}

/** Mends the database: makes, migrates, or moves aside and recovers. Does nothing when it is sound. */
export async function fix(world: World): Promise<Mended> {
  const path = databasePath(world);
  await world.files.makeDir(`${world.root.state}/run`, { mode: 0o700 });
  const lock = takeLock(`${world.root.state}/run/lock.db`);
  if (!lock) {
    throw new OverseerError(
      "conflict",
      "DAEMON_RUNNING",
      "The daemon of this repository holds the lock.",
      "Stop it with 'overseer down', then run 'overseer doctor --fix' again.",
    );
  }
  try {
    const { state, problem } = await inspectDatabase(path);
    if (state === "newer") throw problem ?? new Error("newer");
    if (state === "ready") {
      const finding = await integrity(path);
      return finding.ok ? { done: [] } : await recover(world, finding.detail);
    }
    if (state === "missing") return await restore(world);
    if (state === "old") {
      await prepareDatabase({ path, backupDir: backupDir(world), now: world.clock.now() });
      return { done: [`migrated ${path} to schema ${MIGRATIONS.length}; a backup is in ${backupDir(world)}`] };
    }
    if (state === "unreadable") throw problem ?? new Error("unreadable");
    return await recover(world, problem?.message ?? state);
  } finally {
    lock.release();
  }
}

/** The file is gone (`git clean -fdx`): the newest sound backup comes back; without one an empty database is made. */
async function restore(world: World): Promise<Mended> {
  const path = databasePath(world);
  const best = bestBackup(world);
  await prepareDatabase({ path, backupDir: backupDir(world), now: world.clock.now() });
  if (!best) return { done: [`made a new, empty database at ${path}; there was no backup`] };
  await refill(world, best.salvage.events, [
    recoveredEvent(best.salvage.events.length, 0, best.path, "the database was missing"),
  ]);
  return { done: [`restored ${best.salvage.events.length} events from ${best.path}`] };
}

/** Moves db, -wal and -shm aside together, reads out what can be read, and starts safe mode. */
async function recover(world: World, problem: string): Promise<Mended> {
  const path = databasePath(world);
  const holders = holdersOf(path);
  if (holders.length > 0) {
    throw new OverseerError(
      "conflict",
      "STORE_IN_USE",
      `Process ${holders.join(", ")} has the damaged database open; moving it now could lose what that process writes.`,
      "Stop that process (for the daemon: 'overseer down'), then run 'overseer doctor --fix' again.",
    );
  }
  const now = world.clock.now();
  const stamp = new Date(now).toISOString().replace(/[-:.]/g, "");
  const movedTo: string[] = [];
  for (const suffix of ["", "-wal", "-shm"]) {
    if ((await world.files.facts(`${path}${suffix}`)) === undefined) continue;
    const aside = `${path}.corrupt-${stamp}${suffix}`;
    await world.files.rename(`${path}${suffix}`, aside);
    movedTo.push(aside);
  }
  await world.files.write(
    safeModePath(world),
    `${JSON.stringify({ since: new Date(now).toISOString(), problem, movedTo })}\n`,
    { mode: 0o600 },
  );
  const fromFile = movedTo[0] ? salvage(movedTo[0]) : { events: [], lastSeen: 0, whole: false };
  const backup = bestBackup(world);
  const best =
    backup && backup.salvage.events.length > fromFile.events.length
      ? backup
      : { path: movedTo[0] ?? path, salvage: fromFile };
  await prepareDatabase({ path, backupDir: backupDir(world), now });
  const lost = Math.max(0, Math.max(fromFile.lastSeen, best.salvage.lastSeen) - best.salvage.events.length);
  await refill(world, best.salvage.events, [
    { type: "overseer.store.corrupt", actor: "overseer", because: "database-damaged", data: { movedTo, problem } },
    recoveredEvent(best.salvage.events.length, lost, best.path, problem),
  ]);
  return {
    done: [
      `moved the damaged database aside: ${movedTo.join(", ")}`,
      `recovered ${best.salvage.events.length} events from ${best.path}${lost > 0 ? `; ${lost} could not be read` : ""}`,
      "safe mode is on: everything can be read, nothing is given out until 'overseer doctor --leave-safe-mode'",
    ],
  };
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

async function refill(world: World, events: readonly EventOf[], notes: readonly Note[]): Promise<void> {
  const store = await openForWriting({ path: databasePath(world) });
  try {
    const at = world.clock.now();
    const placed = notes.map((note, index) => ({ ...note, seq: events.length + 1 + index, at, v: 1 }) as EventOf);
    await store.append([...events, ...placed]);
  } finally {
    await store.close();
  }
}

function bestBackup(world: World): { readonly path: string; readonly salvage: Salvage } | undefined {
  for (const { path } of listBackups(backupDir(world))) {
    const content = salvage(path);
    if (content.whole) return { path, salvage: content };
  }
  return undefined;
}

/** Folds the log anew and says whether the tables were what they should have been. */
export async function rebuild(
  world: World,
): Promise<{ readonly events: number; readonly entities: number; readonly changed: readonly string[] }> {
  const store = await world.writer();
  const before = await store.dump();
  const { events, entities } = await store.rebuild();
  return { events, entities, changed: differences(before, await store.dump()) };
}

function differences(before: readonly DumpRow[], after: readonly DumpRow[]): string[] {
  const key = (row: DumpRow) => `${row.kind} ${row.id}`;
  const text = (row: DumpRow) => `${row.version} ${JSON.stringify(row.doc)}`;
  const old = new Map(before.map((row) => [key(row), text(row)]));
  const fresh = new Map(after.map((row) => [key(row), text(row)]));
  return [...new Set([...old.keys(), ...fresh.keys()])].filter((name) => old.get(name) !== fresh.get(name));
}

/** Ends safe mode; a person has looked. False when it was not on. */
export async function leaveSafeMode(world: World): Promise<boolean> {
  const there = (await world.files.facts(safeModePath(world))) !== undefined;
  await world.files.remove(safeModePath(world));
  return there;
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
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        readlinkSync(`/proc/${pid}/fd/${fd}`);
        const open = statSync(`/proc/${pid}/fd/${fd}`);
        return open.ino === file.ino && open.dev === file.dev;
      } catch (error) {
        if (isGone(error)) return false;
        throw error;
      }
    });
  } catch (error) {
    // The process ended, or belongs to somebody else who cannot have our 0600 file open.
    if (isGone(error)) return false;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return ["ENOENT", "EACCES", "ESRCH", "EPERM"].includes(systemCode(error) ?? "");
}

/** A copy of the database, into the git directory or to a named path. */
export async function backup(world: World, to?: string): Promise<BackupFile> {
  const { backUp, copyTo } = await import("#store/backup.ts");
  const path = databasePath(world);
  const { problem } = await inspectDatabase(path);
  if (problem) throw problem;
  const db = new Database(path, { readonly: true });
  try {
    if (to === undefined) return await backUp(db, { directory: backupDir(world), now: world.clock.now() });
    copyTo(db, to);
    return { path: to, bytes: statSync(to).size, madeAt: world.clock.now() };
  } finally {
    db.close();
  }
}

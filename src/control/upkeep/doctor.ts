/**
 * Looks at the ground the product stands on and says what is wrong and what to do; with `fix` it repairs what can be
 * fixed without losing anything. What is judged are outcomes: things are tried out (doctor-machine.ts, doctor-hooks.ts). A damaged database is moved aside, never repaired in place, and only while nobody
 * else has it open: renaming a file under a writer lets it write where nobody reads.
 */

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { judgeStanding, separateCopy } from "#act/place.ts";
import { safeModeFile } from "#act/safe-mode.ts";
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { listTrackedState, refuseTracked, toTrackedError } from "#act/settings/tracked-state.ts";
import { noticesOf } from "#config/load.ts";
import { daemonStatus } from "#control/daemon-status.ts";
import { mulchFindings } from "#control/expertise.ts";
import { awayFromHome, readSafeMode } from "#control/status.ts";
import { readCheckFacts } from "#control/unchecked.ts";
import type { World } from "#control/world.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { tellWithoutConfig } from "#domain/explain/explain-fleet.ts";
import type { Finding } from "#domain/health/checkup.ts";
import { type Doubt, sentenceOf } from "#domain/health/high-water.ts";
import { sayAway } from "#domain/health/place.ts";
import { judgeChecks } from "#domain/health/unchecked.ts";
import { diskError, OverseerError } from "#errors.ts";
import type { StoreState } from "#store/kind.ts";
import { inspectStore, openForReading, openForWriting, prepareStore } from "#store/open.ts";
import type { BackupFile } from "#store/sqlite/backup.ts";
import { listBackups } from "#store/sqlite/backup.ts";
import { storeError } from "#store/sqlite/errors.ts";
import { openAsItIs } from "#store/sqlite/file.ts";
import { highWater, isCopyDue, type Kept, keepUp } from "#store/sqlite/log-copy.ts";
import { MIGRATIONS } from "#store/sqlite/migrations.ts";
import { peekBackup } from "#store/sqlite/salvage.ts";
import { tablesAgainstLog } from "#store/sqlite/store.ts";
import { runFiles } from "#sys/run-files.ts";
import { hookFinding } from "./doctor-hooks.ts";
import { clearLeftovers, leftoverFindings, serenaFindings } from "./doctor-leftovers.ts";
import {
  clockFinding,
  clocksOf,
  diskFinding,
  environmentFinding,
  gitFinding,
  settingsOf,
  tmuxFinding,
} from "./doctor-machine.ts";
import { cliFindings, projectFindings } from "./doctor-project.ts";
import { beginPulsesAgain, pulseFindings } from "./doctor-pulses.ts";
import { exportFinding, runnerFinding } from "./doctor-runners.ts";
import { moveEarlierStore } from "./earlier-store.ts";
import { roleFindings } from "./role-findings.ts";
import type { Repair } from "./store-rescue.ts";
import {
  acceptStore,
  backupDir,
  bringBack,
  databasePath,
  finishRecovery,
  isUnfinished,
  recover,
  restoreStore,
} from "./store-rescue.ts";

export type { Finding } from "#domain/health/checkup.ts";

/** Told the names of what is still being looked at, when that takes long. */
export type ReportWaiting = (checks: readonly string[]) => void;

/** Looks only. Every check is tried at the same time as the others, each with an end of its own. */
export async function examine(world: World, waiting: ReportWaiting = () => undefined): Promise<Finding[]> {
  const scratch = await scratchPlace(world);
  const before = clocksOf(world);
  try {
    const findings = await allOf(world, waiting, [
      ["git", () => gitFinding(world, scratch)],
      ["tmux", () => tmuxFinding(world, scratch)],
      ["config", () => configuration(world)],
      ["trust", () => trustFindings(world)],
      ["checks", () => checksFindings(world)],
      ["place", () => placeFinding(world)],
      ["runtimes", () => cliFindings(world, scratch)],
      ["environment", () => environmentFinding(world)],
      ["project settings", () => projectFindings(world)],
      ["roles", () => roleFindings(world)],
      ["hooks", () => hookFinding(world, scratch)],
      ["runners", () => runnerFinding(world)],
      ["pulses", () => pulseFindings(world)],
      ["telemetry", () => exportFinding(world)],
      ["serena", () => serenaFindings(world)],
      ["mulch", () => expertiseFindings(world)],
      ["database", () => database(world)],
      ["leftovers", () => leftoverFindings(world)],
      ["disk", () => diskFinding(world)],
    ]);
    return [...findings, await clockFinding(world, before)];
  } finally {
    await world.files.remove(scratch);
  }
}

/** A directory of this process alone, in the short place for sockets. Those of doctors that were killed go. */
async function scratchPlace({ files, processes, socketDir }: World): Promise<string> {
  const place = await socketDir();
  for (const name of (await files.list(place)) ?? []) {
    const [, pid] = /^doctor-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && processes.identify(Number(pid)) === undefined) await files.remove(`${place}/${name}`);
  }
  const path = `${place}/doctor-${processes.self().pid}`;
  await files.makeDir(path, { mode: 0o700 });
  return path;
}

/** Without a store or settings that can be read, nothing is said of it. */
async function expertiseFindings(world: World): Promise<readonly Finding[]> {
  const settings = await settingsOf(world);
  const ready = (await inspectStore(databasePath(world))).state === "ready";
  return settings?.config.mulch.enabled && settings.hold === null && ready ? mulchFindings(world) : [];
}

type Check = readonly [name: string, look: () => Promise<Finding | readonly Finding[]>];

/** What none of the limits inside a check has caught, such as a file system that hangs. */
const LONGEST_MS = 60_000;
const SAID_AFTER_MS = 2_000;

async function allOf(world: World, waiting: ReportWaiting, checks: readonly Check[]): Promise<Finding[]> {
  const open = new Set(checks.map(([name]) => name));
  const done = new AbortController();
  const telling = (async () => {
    for (;;) {
      await world.clock.sleep(SAID_AFTER_MS, done.signal);
      if (done.signal.aborted) return;
      waiting([...open]);
    }
  })();
  try {
    const found = await Promise.all(
      checks.map(async ([name, look]) => {
        const late = world.clock
          .sleep(LONGEST_MS, done.signal)
          .then(() => (done.signal.aborted ? [] : [tooLate(name)]));
        const findings = await Promise.race([lookAtOne(name, look), late]);
        open.delete(name);
        return findings;
      }),
    );
    return found.flat();
  } finally {
    done.abort();
    await telling;
  }
}

/** What fails in a way that is understood is a finding: it must not take what the others found with it. */
async function lookAtOne(check: string, look: Check[1]): Promise<Finding | readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { check, ok: false, detail: error.message, next: error.hint };
  }
}

function tooLate(check: string): Finding {
  const next = "Check whether the disk or a network file system hangs, then run 'overseer doctor' again.";
  return { check, ok: false, detail: `it did not finish within ${LONGEST_MS / 1000} s`, next };
}

async function configuration(world: World): Promise<Finding> {
  try {
    await world.config();
    await world.settings(); // every file of them, not only the one
    const path = `${world.root.userDir}/config.yaml`;
    const text = await makeSettingsReader(world.files, world.root).read(path);
    const notices = await noticesOf({ path, ...(text === undefined ? {} : { text }) });
    return { check: "config", ok: true, detail: ["valid", ...notices].join("; ") };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    const isRunning = (await daemonStatus(world, undefined)).state === "running";
    const next = `${error.hint} ${tellWithoutConfig(isRunning)}.`;
    return { check: "config", ok: false, detail: error.message, next };
  }
}

/** Whether anything proves what agents report; a configuration that cannot be read is told by its own check. */
async function checksFindings(world: World): Promise<Finding[]> {
  return (await settingsOf(world)) === undefined ? [] : [judgeChecks(await readCheckFacts(world))];
}

/** Whether anything may be tried out at all. */
async function trustFindings(world: World): Promise<Finding[]> {
  const [tracked, ...more] = await listTrackedState(world);
  const findings: Finding[] = [];
  if (tracked !== undefined) {
    const { message, hint } = toTrackedError(tracked, more.length);
    findings.push({ check: "tracked", ok: false, detail: message, next: hint });
  }
  const { hold } = (await settingsOf(world)) ?? {};
  if (hold === undefined) return findings; // a configuration that cannot be read is told by its own check
  const fine: Finding = { check: "trust", ok: true, detail: "the settings are confirmed on this machine" };
  return [...findings, hold ? { check: "trust", ok: false, detail: hold.message, next: hold.hint } : fine];
}

/** A copy is somebody's to decide about; what was moved is followed by itself. */
async function placeFinding(world: World): Promise<Finding> {
  const away = await awayFromHome(world);
  if (!away) return { check: "place", ok: true, detail: "the repository is where it was" };
  const { message, hint } = sayAway(away, world.root.project);
  if (away.standing === "copied") return { check: "place", ok: false, detail: message, next: hint };
  return { check: "place", ok: true, detail: `${message} ${hint}` };
}

async function database(world: World): Promise<Finding[]> {
  const path = databasePath(world);
  const { state, problem } = await inspectStore(path);
  const backups = listBackups(backupDir(world));
  const findings: Finding[] = [];
  if (state === "ready") findings.push(integrity(path), ...(await continuity(world)));
  else
    findings.push({
      check: "database",
      ok: false,
      detail: problem?.message ?? state,
      next: state === "unreadable" && problem ? problem.hint : nextFor(state, backups),
    });
  const safeMode = await readSafeMode(world);
  if (safeMode) {
    const { since, problem } = safeMode;
    const next = "Look at 'overseer status' and what was recovered; then 'overseer thaw' ends it.";
    const detail = `on since ${since}: everything can be read, nothing is dispatched. ${problem}`.trimEnd();
    findings.push({ check: "safe mode", ok: false, detail, next });
  }
  return [...findings, backupFinding(world, backups)];
}

/** How many there are, and whether the copy of the log is kept up: what it could not be told of shows here. */
function backupFinding(world: World, [newest, ...older]: readonly BackupFile[]): Finding {
  const directory = backupDir(world);
  const made = newest ? `${older.length + 1}, newest ${newest.path}` : "none yet ('overseer store backup' makes one)";
  const mark = highWater(directory);
  if (!mark) return { check: "backups", ok: true, detail: `${made}; no copy of the log yet` };
  const behind = Math.max(0, (peekBackup(databasePath(world))?.seq ?? 0) - mark.seq);
  const detail = `${made}; the copy of the log reaches event ${mark.seq.toLocaleString("en")}`;
  if (behind === 0 || !isCopyDue(directory, world.clock.now())) return { check: "backups", ok: true, detail };
  return {
    check: "backups",
    ok: false,
    detail: `${detail} and lacks the last ${behind}`,
    next: `Make sure ${directory} is writable and has space; the next command, or 'overseer down', catches up.`,
  };
}

/** Does it continue from where it was last seen? */
async function continuity(world: World): Promise<Finding[]> {
  const doubt = await doubtOf(world);
  if (!doubt) return [];
  const next =
    "Run 'overseer down' and 'overseer doctor --fix' to bring back what was seen, or 'overseer thaw' to continue with what is here.";
  return [{ check: "history", ok: false, detail: sentenceOf(doubt), next }];
}

function nextFor(state: StoreState, backups: readonly BackupFile[]): string {
  switch (state) {
    case "missing":
      return backups[0]
        ? `Run 'overseer doctor --fix' to bring back ${backups[0].path}, or 'overseer init' to start over.`
        : "Run 'overseer init'.";
    case "misplaced":
      return "Run 'overseer doctor --fix': it moves the database, the logs and the run files below the git directory.";
    case "newer":
      return "Update Overseer; this version does not touch a newer database.";
    case "old":
      return "Run 'overseer doctor --fix' (or 'overseer init') to migrate it; a backup is made first.";
    default:
      return "Run 'overseer doctor --fix': it is moved aside and everything readable is recovered.";
  }
}

type Soundness =
  | { readonly state: "sound"; readonly events: number }
  | { readonly state: "damaged" | "tables"; readonly detail: string };

/** Is the file sound, the log whole, and do the tables say what the log says? One state is looked at, also while others write. */
function soundness(path: string): Soundness {
  let db: Database | undefined;
  try {
    db = openAsItIs(path);
    db.run("begin");
    const rows = db.query<{ integrity_check: string }, []>("pragma integrity_check(1)").all();
    const said = rows[0]?.integrity_check ?? "no answer";
    if (said !== "ok") return { state: "damaged", detail: `SQLite finds it damaged: ${oneLine(said)}` };
    const { events, differing } = tablesAgainstLog(db, path);
    if (differing.length === 0) return { state: "sound", events };
    const names = differing.slice(0, 3).join(", ");
    return {
      state: "tables",
      detail: `the log is whole, but ${differing.length} rows of the tables do not follow from it: ${names}`,
    };
  } catch (error) {
    const said = storeError(error, path);
    // A full disk or a missing permission is no damage: nothing may be moved aside for that.
    if (said instanceof OverseerError && DAMAGE.has(said.code)) {
      return { state: "damaged", detail: oneLine(said.message) };
    }
    throw said;
  } finally {
    db?.close();
  }
}

const DAMAGE: ReadonlySet<string> = new Set(["STORE_CORRUPT", "LOG_BROKEN"]);

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ");
}

function integrity(path: string): Finding {
  let found: Soundness;
  try {
    found = soundness(path);
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { check: "database", ok: false, detail: error.message, next: error.hint };
  }
  switch (found.state) {
    case "sound":
      return { check: "database", ok: true, detail: `sound, ${found.events.toLocaleString("en")} events` };
    case "damaged":
      return { check: "database", ok: false, detail: found.detail, next: nextFor("corrupt", []) };
    case "tables":
      return {
        check: "database",
        ok: false,
        detail: found.detail,
        next: "Run 'overseer doctor --fix' (or --rebuild): the tables are rebuilt from the log.",
      };
  }
}

/** Repairs the database: makes, migrates, or moves aside and recovers. Does nothing when it is sound. */
export async function fix(world: World): Promise<Repair> {
  await refuseTracked(world);
  const path = databasePath(world);
  await world.files.makeDir(`${world.root.state}/run`, { mode: 0o700 });
  const lock = world.takeLock(runFiles(world.root.state).lock);
  if (!lock) {
    throw new OverseerError(
      "conflict",
      "DAEMON_RUNNING",
      "The daemon runs and holds this repository's lock; nothing can be fixed meanwhile.",
      "Stop it with 'overseer down' (agents keep running), run 'overseer doctor --fix' again, then 'overseer up'.",
    );
  }
  try {
    const { done } = await repair(world, path);
    const separated = await separate(world, path);
    const begun = await beginPulsesAgain(world);
    return { done: [...done, ...separated, ...begun, ...(await clearLeftovers(world))] };
  } finally {
    lock.release();
  }
}

/** Before anybody opens the store to write: of a copy, that is refused. */
async function separate(world: World, path: string): Promise<string[]> {
  if ((await judgeStanding(world.files, world.root)).standing !== "copied") return [];
  const store = await openForWriting({ address: path });
  try {
    return await separateCopy(world, store);
  } finally {
    await store.close();
  }
}

async function repair(world: World, path: string): Promise<Repair> {
  if (await isUnfinished(world)) return finishRecovery(world);
  const { state, problem } = await inspectStore(path);
  if (state === "newer") throw problem ?? new Error("newer");
  if (state === "misplaced") {
    const moved = await moveEarlierStore(world);
    const { done } = await repair(world, path);
    return { done: [...moved.done, ...done] };
  }
  if (state === "missing") return restoreStore(world);
  if (state === "ready") return repairReady(world, path);
  if (state === "old") {
    await prepareStore({ address: path, backupDir: backupDir(world), now: world.clock.now() });
    return { done: [`migrated ${path} to schema ${MIGRATIONS.length}; a backup is in ${backupDir(world)}`] };
  }
  const isFile = (await world.files.facts(path))?.kind === "file";
  if (state === "unreadable" && isFile) throw problem ?? new Error("unreadable");
  return recover(world, problem?.message ?? state);
}

async function repairReady(world: World, path: string): Promise<Repair> {
  const found = soundness(path);
  const doubt = found.state === "damaged" ? undefined : await doubtOf(world);
  if (doubt) return bringBack(world, sentenceOf(doubt));
  if (found.state === "sound") return { done: [] };
  if (found.state === "damaged") return recover(world, found.detail);
  const { changed } = await rebuild(world);
  return { done: [`rebuilt the tables from the log; ${changed.length} rows had differed`] };
}

/** Why the database is not used although it is sound; undefined when nothing speaks against it. */
async function doubtOf(world: World): Promise<Doubt | undefined> {
  const store = await openForReading({ address: databasePath(world), backupDir: backupDir(world) });
  try {
    const standing = await store.standing();
    return standing.kind === "follows" ? undefined : standing;
  } finally {
    await store.close();
  }
}

/** Folds the log again and says which rows had not been what they should have been. */
export async function rebuild(
  world: World,
): Promise<{ readonly events: number; readonly entities: number; readonly changed: readonly string[] }> {
  const path = databasePath(world);
  const store = await world.writer();
  const db = openAsItIs(path);
  try {
    // Asked of the rows, not of what they hold: a document that cannot be parsed any more is one that differs.
    const { differing } = tablesAgainstLog(db, path);
    return { ...(await store.rebuild()), changed: differing };
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.close();
  }
}

/** Ends safe mode; a person has looked. False when it was not on. */
export async function leaveSafeMode(world: World): Promise<boolean> {
  const there = (await world.files.facts(safeModeFile(world.root.state))) !== undefined;
  const { state } = await inspectStore(databasePath(world));
  const doubted = state === "ready" && (await doubtOf(world)) !== undefined;
  if (doubted) await acceptStore(world);
  await world.files.remove(safeModeFile(world.root.state));
  return there || doubted;
}

/** Brings the copy of the log up to date; what stands in its way is told by `doctor`. */
export async function copyLog(world: World): Promise<Kept> {
  const path = databasePath(world);
  const db = openAsItIs(path);
  try {
    return keepUp(db, backupDir(world));
  } catch (error) {
    throw diskError(error) ?? storeError(error, path);
  } finally {
    db.close();
  }
}

/** A backup when the newest is as old as the configuration allows; undefined when it is not. */
export async function backUpInTime(world: World): Promise<BackupFile | undefined> {
  const { backupEvery } = (await world.config()).store;
  const newest = listBackups(backupDir(world))[0];
  return newest && !hasPassed(newest.madeAt, backupEvery, world.clock.now()) ? undefined : backup(world);
}

/** A copy of the database, into the git directory or to a named path. */
export async function backup(world: World, to?: string): Promise<BackupFile> {
  const { backUp, copyTo } = await import("#store/sqlite/backup.ts");
  const path = databasePath(world);
  const { problem } = await inspectStore(path);
  if (problem) throw problem;
  const keep = to === undefined ? (await world.config()).store.backupsKept : undefined;
  const db = openAsItIs(path);
  try {
    if (to === undefined) return await backUp(db, { directory: backupDir(world), now: world.clock.now(), keep });
    copyTo(db, to);
    return { path: to, bytes: statSync(to).size, madeAt: world.clock.now() };
  } catch (error) {
    throw diskError(error) ?? storeError(error, path);
  } finally {
    db.close();
  }
}

/**
 * Real processes killed with SIGKILL wherever they happen to be: while they commit, make or migrate the database, back
 * it up, or recover it. Each time the database opens, is sound, and holds what was promised before the kill.
 */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fix } from "#control/upkeep/doctor.ts";
import { openForWriting, prepareStore } from "#store/open.ts";
import { backUp, listBackups } from "#store/sqlite/backup.ts";
import { connect } from "#store/sqlite/file.ts";
import { salvage } from "#store/sqlite/salvage.ts";
import type { Files } from "#sys/files.ts";
import { realWorld } from "#wiring.ts";
import { bundled, overseer, overseerOk, startOverseer } from "../support/cli.ts";
import { addGoal, addPlan, T0 } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { provenLog } from "../support/store-proof.ts";
import { type TempRepo, tempDir, tempRepo } from "../support/temp.ts";

/** Bundled, because most of the time of such a short life is its start. */
const scripts = tempDir("kill-scripts-");
beforeAll(async () => {
  const entrypoints = ["writer.ts", "preparer.ts"].map((name) => join(import.meta.dir, "../support", name));
  const built = await Bun.build({ entrypoints, target: "bun", outdir: scripts });
  expect(built.success).toBe(true);
  bundled();
});

function start(script: "writer.js" | "preparer.js", ...args: string[]) {
  return Bun.spawn([process.execPath, join(scripts, script), ...args], { stdout: "pipe", stderr: "pipe" });
}

/** Kills a process some random part of `withinMs` after its first word; its whole output. */
async function killSoon(child: ReturnType<typeof start>, withinMs: number): Promise<string> {
  let said = "";
  let killing: Promise<void> | undefined;
  for await (const bytes of child.stdout) {
    said += new TextDecoder().decode(bytes);
    killing ??= Bun.sleep(Math.random() * withinMs).then(() => child.kill("SIGKILL"));
  }
  await killing;
  await child.exited;
  expect(await child.stderr.text()).toBe("");
  return said;
}

async function database(prefix: string, withPlan = true): Promise<{ path: string; backups: string }> {
  const directory = tempDir(prefix);
  const path = `${directory}/overseer.db`;
  const backups = `${directory}/backups`;
  await prepareStore({ address: path, backupDir: backups, now: 0 });
  const store = await openForWriting({ address: path });
  await addGoal(store, "goal_SHARED");
  if (withPlan) await addPlan(store, "goal_SHARED");
  await store.close();
  return { path, backups };
}

describe("killed at any moment", () => {
  test("STORE-5: writers killed again and again leave a sound database with every commit they were promised", async () => {
    const kills = scaled(60);
    const writers = 4;
    for (let killed = 0; killed < kills; ) {
      // A young database now and then, so that the check after every round stays cheap.
      const { path } = await database("kill-");
      let promised = 0;
      for (let round = 0; round < 10 && killed < kills; round += 1) {
        const running = Array.from({ length: writers }, (_, index) =>
          killSoon(start("writer.js", path, "goal_SHARED", "0", `writer-${index}`), 30),
        );
        const lines = (await Promise.all(running)).flatMap((said) => said.split("\n").slice(0, -1).map(Number));
        killed += writers;
        promised = Math.max(promised, ...lines);
        const log = provenLog(path);
        expect(log.length).toBeGreaterThanOrEqual(promised);
        const updates = log.filter((event) => event.type === "goal.updated");
        expect(updates.map((event) => event.data)).toEqual(
          updates.map((_, index) => ({ changes: { owner: String(index + 1) } })),
        );
      }
    }
  }, 120_000);

  test("STORE-3: a killed making of the database is finished by the next", async () => {
    for (let round = 0; round < scaled(4); round += 1) {
      const directory = tempDir("kill-make-");
      const path = `${directory}/overseer.db`;
      await killSoon(start("preparer.js", "prepare", path, `${directory}/backups`), 12);
      await prepareStore({ address: path, backupDir: `${directory}/backups`, now: 0 });
      expect(provenLog(path)).toEqual([]);
    }
  }, 60_000);

  test("STORE-3: a killed migration is finished by the next, and its backup is whole", async () => {
    for (let round = 0; round < scaled(4); round += 1) {
      const { path, backups } = await database("kill-migrate-");
      const before = provenLog(path);
      const db = new Database(path);
      db.run("update meta set value = '0' where key = 'fold'");
      db.run("delete from nodes");
      db.close();
      await killSoon(start("preparer.js", "prepare", path, backups), 15);
      await prepareStore({ address: path, backupDir: backups, now: 1000 });
      expect(provenLog(path)).toEqual(before);
      for (const backup of listBackups(backups))
        expect(salvage(backup.path)).toMatchObject({ events: before, whole: true });
    }
  }, 60_000);

  test("a killed backup leaves no half file under a backup's name, and its leftovers go after an hour", async () => {
    const { path, backups } = await database("kill-backup-");
    const events = provenLog(path);
    for (let round = 0; round < scaled(4); round += 1) {
      await killSoon(start("preparer.js", "backup", path, backups), 25);
      for (const backup of listBackups(backups)) expect(salvage(backup.path)).toMatchObject({ events, whole: true });
    }
    const leftover = join(backups, "overseer-20260101T000000Z.db.1.unfinished");
    writeFileSync(leftover, "half");
    utimesSync(leftover, new Date(T0), new Date(T0));
    const db = connect(path, true);
    await backUp(db, { directory: backups, now: T0 + 3_600_001, keep: 2 });
    db.close();
    expect(existsSync(leftover)).toBe(false);
    expect(listBackups(backups).length).toBeLessThanOrEqual(2);
  }, 60_000);
});

test("EDGE-10: a backup that is the oldest by a clock that was set back is made, kept and told", async () => {
  const { path, backups } = await database("back-in-time-");
  const db = connect(path, true);
  for (const now of [T0, T0 + 1_000, T0 + 2_000]) await backUp(db, { directory: backups, now, keep: 2 });
  const made = await backUp(db, { directory: backups, now: 0, keep: 2 });
  db.close();
  expect(existsSync(made.path)).toBe(true);
  expect(listBackups(backups)).toHaveLength(2);
});

describe("a recovery that is cut short", () => {
  /** A repository whose database has a rotten byte in the middle of the log; how many events lie before it. */
  async function damagedRepo(): Promise<{ repo: TempRepo; path: string; sound: number }> {
    const repo = tempRepo();
    await overseerOk(repo.path, "init");
    const path = `${repo.path}/.git/overseer/overseer.db`;
    const store = await openForWriting({ address: path });
    for (let index = 0; index < 10; index += 1) await addGoal(store, `goal_${index}`);
    await store.close();
    const db = connect(path, false);
    db.run("update events set data = replace(data, 'Parse', 'Purse') where seq = 9");
    db.close();
    return { repo, path, sound: 8 };
  }

  /** Everything that could be recovered is there, once, and the damaged file lies beside. */
  function expectRecovered(path: string, sound: number): void {
    const log = provenLog(path);
    expect(log.map((event) => event.type)).toEqual([
      "overseer.initialised",
      ...Array.from({ length: sound - 1 }, () => "goal.created" as const),
      "overseer.store.corrupt",
      "overseer.store.recovered",
    ]);
    const state = path.replace(/\/[^/]*$/, "");
    expect(readdirSync(state).filter((name) => /\.corrupt-\w+$/.test(name))).toHaveLength(1);
    const safeMode = JSON.parse(readFileSync(`${state}/run/safe-mode.json`, "utf8"));
    expect(Object.keys(safeMode)).toEqual(["since", "problem", "movedTo"]);
  }

  test("STORE-5: by a disk that fails at any of its steps, is finished by the next doctor --fix", async () => {
    for (let failing = 1; ; failing += 1) {
      const { repo, path, sound } = await damagedRepo();
      const root = {
        project: repo.path,
        userDir: `${repo.path}/.overseer`,
        state: `${repo.path}/.git/overseer`,
        gitCommonDir: `${repo.path}/.git`,
      };
      const world = realWorld(root, process.env);
      const files = filesFailingAt(failing, world.files);
      const cut = await fix({ ...world, files }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (cut === undefined) {
        expect(failing).toBeGreaterThan(6);
        expectRecovered(path, sound);
        break;
      }
      expect(cut).toMatchObject({ code: "EIO" });
      const { stderr, code } = await overseer(repo.path, "init");
      if (code !== 0) expect(stderr).toContain("overseer doctor --fix");
      await fix(world);
      expectRecovered(path, sound);
    }
  }, 60_000);

  test("STORE-5: by SIGKILL at a random moment, is finished by the next doctor --fix", async () => {
    for (let round = 0; round < scaled(5); round += 1) {
      const { repo, path, sound } = await damagedRepo();
      const child = startOverseer(repo.path, ["doctor", "--fix"]);
      await Bun.sleep(40 + Math.random() * 80);
      child.kill("SIGKILL");
      await child.exited;
      await overseer(repo.path, "doctor", "--fix");
      expectRecovered(path, sound);
    }
  }, 120_000);
});

/** The real disk until its nth change, which fails and changes nothing. */
function filesFailingAt(nth: number, real: Files): Files {
  let changes = 0;
  const counted = <A extends unknown[]>(change: (...args: A) => Promise<void>) => {
    return async (...args: A): Promise<void> => {
      changes += 1;
      if (changes === nth) throw Object.assign(new Error("EIO: the disk failed"), { code: "EIO" });
      return change(...args);
    };
  };
  return { ...real, write: counted(real.write), rename: counted(real.rename), remove: counted(real.remove) };
}

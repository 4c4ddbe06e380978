/**
 * A store that goes back in time, met through the program: an older copy put in its place, another repository's, an
 * older export over a newer history. Nothing continues by itself with it; what was seen comes back from the copy of the
 * log, which is there although nobody ever asked for a backup.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listHalts } from "#control/halted.ts";
import type { EventOf } from "#domain/model/event.ts";
import { identityAt, openForWriting, prepareStore } from "#store/open.ts";
import { connect } from "#store/sqlite/file.ts";
import { copyPath, highWater, keepUp } from "#store/sqlite/log-copy.ts";
import { salvage } from "#store/sqlite/salvage.ts";
import { findRoot } from "#sys/root.ts";
import { realWorld } from "#wiring.ts";
import { bundled, overseer, overseerOk } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import { addGoal } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { provenLog } from "../support/store-proof.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

/** A repository, the database as it was early, and as it is; tests work on copies. */
const pristine = tempRepo();
const early = `${tempDir("early-")}/overseer.db`;
let original: EventOf[] = [];

beforeAll(async () => {
  bundled();
  await overseerOk(pristine.path, "init");
  pristine.write({ ".overseer/config.yaml": "runtime: scripted\nterminal: detached\n" });
  const db = await databaseOf(pristine.path);
  await overseerOk(pristine.path, "goal", "create", "The first");
  settle(db);
  cpSync(db, early);
  for (const title of ["The second", "The third", "The fourth"])
    await overseerOk(pristine.path, "goal", "create", title);
  settle(db);
  original = provenLog(db);
}, 60_000);

async function databaseOf(path: string): Promise<string> {
  return `${(await findRoot({ cwd: path, env: {} })).state}/overseer.db`;
}

/** Puts everything into the main file, so that it can be copied. */
function settle(path: string): void {
  const db = connect(path, false);
  db.run("pragma wal_checkpoint(truncate)");
  db.close();
}

async function copy() {
  const path = join(tempDir("back-"), "repo");
  cpSync(pristine.path, path, { recursive: true });
  await confirmIn(path);
  const root = await findRoot({ cwd: path, env: {} });
  const db = `${root.state}/overseer.db`;
  return {
    path,
    db,
    state: root.state,
    backups: `${root.gitCommonDir}/overseer/backups`,
    world: realWorld(root, process.env),
  };
}

function put(from: string, db: string): void {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${db}${suffix}`, { force: true });
  cpSync(from, db);
}

describe("STORE-5: a store that went back in time", () => {
  test("is not used: it says how far back and since when, and doctor --fix brings everything back", async () => {
    const repo = await copy();
    put(early, repo.db);
    const back = original.length - provenLog(early).length;
    const said = new RegExp(
      `went back by ${back} events: it holds ${original.length - back}, ${original.length} were seen`,
    );
    expect(await overseerOk(repo.path, "status")).toMatch(said);
    expect((await overseer(repo.path, "doctor")).stdout).toMatch(said);
    const refused = await overseer(repo.path, "sling", "--prompt", "Anything");
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("Safe mode is on")]);
    expect(await overseerOk(repo.path, "tick", "--now", "--json")).toContain("safe mode");
    const land = await overseer(repo.path, "merge", "--branch", "main");
    expect([land.code, land.stderr]).toEqual([4, expect.stringContaining("nothing lands")]);

    const fixed = await overseer(repo.path, "doctor", "--fix");
    expect(fixed.stdout).toContain(`recovered ${original.length} events`);
    expect(provenLog(repo.db).slice(0, original.length)).toEqual(original);
    expect(identityAt(repo.db)).toBe(identityAt(early));
    expect(readdirSync(repo.state).some((name) => name.includes(".doubted-"))).toBe(true);
    const after = await overseerOk(repo.path, "status");
    expect(after).toMatch(/SAFE MODE .*had gone back\. Overseer recovered \d+ events .* is kept at .*\.doubted-/);
    expect(after).not.toMatch(/went back by|doctor --fix/);
    expect(after).toContain("(overseer thaw)");
    expect(fixed.stdout).toMatch(/PROBLEM {2}safe mode: .*\n.*then 'overseer thaw' ends it/);
    expect(await overseerOk(repo.path, "thaw")).toBe("Safe mode is off; work may be dispatched again.\n");
    expect(await overseerOk(repo.path, "status")).not.toContain("SAFE MODE");
  }, 60_000);

  test("is noticed as well when it was written to since and is longer than before; a person may continue with it", async () => {
    const repo = await copy();
    put(early, repo.db);
    for (let number = 0; number < original.length; number += 1) {
      const store = await openForWriting({ address: repo.db });
      await addGoal(store, `goal_${number}`);
      await store.close();
    }
    expect(await listHalts(repo.world)).toEqual(["safe mode"]);
    expect(await overseerOk(repo.path, "status")).toContain("went back and was written to since");
    await overseerOk(repo.path, "thaw");
    expect((await overseer(repo.path, "doctor")).stdout).not.toMatch(/PROBLEM {2}(history|safe mode|database|backups)/);
    expect(highWater(repo.backups)?.seq).toBe(provenLog(repo.db).length);
    const kept = readdirSync(repo.backups).filter((name) => name.endsWith("-set-aside.db"));
    expect(kept).toHaveLength(1);
    expect(salvage(join(repo.backups, kept[0] ?? "")).events).toEqual(original);
  }, 60_000);

  test("another repository's store under its name is moved aside, and its own comes back", async () => {
    const repo = await copy();
    const other = tempRepo();
    await overseerOk(other.path, "init");
    const foreign = await databaseOf(other.path);
    settle(foreign);
    put(foreign, repo.db);
    expect(await overseerOk(repo.path, "status")).toContain("is another store");
    await overseer(repo.path, "doctor", "--fix");
    expect(provenLog(repo.db).slice(0, original.length)).toEqual(original);
    expect(identityAt(repo.db)).not.toBe(identityAt(foreign));
  }, 60_000);

  test("an older export over a newer history is a step back too; a person looks before it continues", async () => {
    const repo = await copy();
    put(early, repo.db);
    await overseerOk(repo.path, "store", "export", "--to", "older.json");
    rmSync(repo.db);
    await overseerOk(repo.path, "init");
    expect(await overseerOk(repo.path, "status")).not.toContain("SAFE MODE");
    await overseerOk(repo.path, "store", "import", "older.json");
    expect(await overseerOk(repo.path, "status")).toMatch(/SAFE MODE since .*imported where \d+ had been seen/);
    await overseerOk(repo.path, "thaw");
    await confirmIn(repo.path); // what was confirmed went with the state directory
    expect((await overseer(repo.path, "doctor")).stdout).not.toMatch(/PROBLEM {2}(history|safe mode|database|backups)/);
  }, 60_000);

  test("nothing a person says is taken and then dropped: words are refused, a freeze holds over doctor --fix", async () => {
    const repo = await copy();
    put(early, repo.db);
    const length = provenLog(repo.db).length;
    for (const words of [
      ["goal", "create", "my words"],
      ["goal", "pause", original.find(({ type }) => type === "goal.created")?.goalId ?? ""],
    ]) {
      const refused = await overseer(repo.path, ...words);
      expect([words[0], refused.code, refused.stderr]).toEqual([words[0], 4, expect.stringContaining("in doubt")]);
      expect(refused.stderr).toContain("overseer doctor --fix");
    }
    expect(provenLog(repo.db)).toHaveLength(length);
    expect(await overseerOk(repo.path, "goal", "list")).toContain("The first");

    expect(await overseerOk(repo.path, "freeze", "--reason", "look first")).toContain("The fleet is frozen");
    const { stdout } = await overseer(repo.path, "doctor", "--fix");
    expect(stdout).toMatch(/said while the database was in doubt.*\.doubted-/);
    expect(stdout).toMatch(/fleet\.frozen by human:\S+ at \S+: look first/);
    expect(stdout).toContain("the fleet stays frozen");
    expect(await overseerOk(repo.path, "status")).toContain("look first");
    expect(await listHalts(repo.world)).toEqual(["frozen", "safe mode"]);
    expect(await overseerOk(repo.path, "thaw")).toBe(
      "The fleet runs again.\nSafe mode is off; work may be dispatched again.\n",
    );
    await overseerOk(repo.path, "goal", "create", "my words");
  }, 60_000);

  test("what was said in it before it was known to be in doubt is named, twenty lines of it", async () => {
    const repo = await copy();
    put(early, repo.db);
    const store = await openForWriting({ address: repo.db }); // as somebody without the copy of the log would have
    for (let number = 10; number < 32; number += 1) await addGoal(store, `goal_${number}`);
    await store.close();
    const { stdout } = await overseer(repo.path, "doctor", "--fix", "--json");
    const lines = (JSON.parse(stdout) as { fixed: string[] }).fixed.flatMap((line) => line.split("\n"));
    expect(lines.filter((line) => line.includes("goal.created"))).toHaveLength(20);
    expect(lines.join("\n")).toMatch(/22 things were said.*\.doubted-/);
    expect(lines.join("\n")).toContain("and 2 more");
  }, 60_000);

  test("how far it is behind is told once, as it is now, also when it is written to in safe mode", async () => {
    const repo = await copy();
    put(early, repo.db);
    await listHalts(repo.world);
    const store = await openForWriting({ address: repo.db }); // what runners and the daemon write meanwhile
    await addGoal(store, "goal_MEANWHILE");
    await store.close();
    await listHalts(repo.world);
    const held = provenLog(repo.db).length;
    const [title, line = ""] = (await overseerOk(repo.path, "status")).split("\n");
    expect(title).toBe("Waits for you: 3");
    expect(line.match(/The database went back/g)).toHaveLength(1);
    expect(line).toContain(`it holds ${held}, ${original.length} were seen`);
    put(`${pristine.path}/.git/overseer/overseer.db`, repo.db);
    expect(await overseerOk(repo.path, "status")).toMatch(
      /SAFE MODE .*had gone back; it continues from where it was seen/,
    );
    await overseerOk(repo.path, "thaw");
    expect(await overseerOk(repo.path, "status")).not.toContain("SAFE MODE");
  }, 60_000);

  test("safe mode that is entered for a second reason tells both", async () => {
    const repo = await copy();
    writeFileSync(
      join(repo.state, "run/safe-mode.json"),
      JSON.stringify({ since: "then", problem: "First.", movedTo: [] }),
    );
    put(early, repo.db);
    await listHalts(repo.world);
    await listHalts(repo.world);
    const status = await overseerOk(repo.path, "status");
    expect(status).toMatch(/SAFE MODE since then: First\. The database went back by/);
    expect(status.match(/went back by/g)).toHaveLength(1);
  }, 60_000);
});

describe("STORE-5: the copy of the log", () => {
  test("holds everything a person said, without a daemon and without a backup", async () => {
    const repo = await copy();
    expect(salvage(copyPath(repo.backups))).toMatchObject({ events: original, whole: true });
    await overseerOk(repo.path, "goal", "create", "One more");
    expect(highWater(repo.backups)?.seq).toBe(original.length + 1);
  }, 60_000);

  test("is caught up with by `down` where runners have written and no daemon runs", async () => {
    const repo = await copy();
    const store = await openForWriting({ address: repo.db });
    await addGoal(store, "goal_QUIET");
    await store.close();
    expect(highWater(repo.backups)?.seq).toBe(original.length);
    const before = new Date(Date.now() - 3_600_000);
    utimesSync(copyPath(repo.backups), before, before);
    expect((await overseer(repo.path, "doctor")).stdout).toContain("lacks the last 1");
    await overseerOk(repo.path, "down");
    expect(highWater(repo.backups)?.seq).toBe(original.length + 1);
  }, 60_000);

  test("one that is damaged is kept aside and made again; where none can be written, nothing else fails", async () => {
    const repo = await copy();
    writeFileSync(copyPath(repo.backups), "not a database at all, but long enough to be taken for one".repeat(99));
    await overseerOk(repo.path, "goal", "create", "After the damage");
    expect(salvage(copyPath(repo.backups))).toMatchObject({ whole: true });
    expect(readdirSync(repo.backups).some((name) => name.includes(".damaged-"))).toBe(true);
    rmSync(repo.backups, { recursive: true });
    writeFileSync(repo.backups, "a file where the directory should be");
    await overseerOk(repo.path, "goal", "create", "Without a copy");
    expect(await overseerOk(repo.path, "status")).not.toContain("SAFE MODE");
  }, 60_000);

  test("takes nothing of a log that is damaged", async () => {
    const directory = tempDir("broken-");
    const path = `${directory}/overseer.db`;
    await prepareStore({ address: path, backupDir: directory, now: 0 });
    const store = await openForWriting({ address: path });
    for (const id of ["goal_A", "goal_B", "goal_C"]) await addGoal(store, id);
    await store.close();
    const db = connect(path, false);
    db.run("update events set because = 'tampered' where seq = 2");
    expect(() => keepUp(db, directory)).toThrow("damaged after event 1");
    expect(highWater(directory)?.seq ?? 0).toBe(0);
    db.close();
  });

  test("whoever appends to it is killed at any moment: it is whole, and the next one continues with it", async () => {
    const directory = tempDir("appending-");
    const path = `${directory}/overseer.db`;
    await prepareStore({ address: path, backupDir: directory, now: 0 });
    const script = join(directory, "append.ts");
    mkdirSync(directory, { recursive: true });
    const from = (name: string) => JSON.stringify(join(import.meta.dir, "../../src", name));
    writeFileSync(
      script,
      `import { keepUp } from ${from("store/sqlite/log-copy.ts")};
       import { connect } from ${from("store/sqlite/file.ts")};
       import { openForWriting } from ${from("store/open.ts")};
       import { addGoal } from ${JSON.stringify(join(import.meta.dir, "../support/samples.ts"))};
       const store = await openForWriting({ address: ${JSON.stringify(path)} });
       const db = connect(${JSON.stringify(path)}, true);
       for (let number = 0; ; number += 1) {
         await addGoal(store, "goal_" + process.pid + "_" + number);
         keepUp(db, ${JSON.stringify(directory)});
         if (number === 0) console.log("at it");
       }`,
    );
    let reached = 0;
    for (let round = 0; round < scaled(6); round += 1) {
      const child = Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "inherit" });
      await child.stdout.getReader().read();
      await Bun.sleep(Math.random() * 20);
      child.kill("SIGKILL");
      await child.exited;
      const { events, whole } = salvage(copyPath(directory));
      expect(whole).toBe(true);
      expect(events.length).toBeGreaterThan(reached);
      expect(provenLog(path).slice(0, events.length)).toEqual([...events]);
      reached = events.length;
    }
    expect(existsSync(copyPath(directory))).toBe(true);
  }, 60_000);
});

test("STORE-5: an older database that is written over the one in use is not used by a running daemon", async () => {
  const repo = await copy();
  await overseerOk(repo.path, "up");
  try {
    settle(repo.db);
    writeFileSync(repo.db, readFileSync(early)); // the same file, as `cp` leaves it
    const deadline = performance.now() + 30_000;
    while (!existsSync(`${repo.state}/run/safe-mode.json`)) {
      if (performance.now() > deadline) throw new Error("It was not noticed.");
      await overseer(repo.path, "goal", "create", "Said meanwhile");
    }
    expect(await overseerOk(repo.path, "status")).toContain("SAFE MODE");
  } finally {
    await overseer(repo.path, "down");
  }
  await overseer(repo.path, "doctor", "--fix");
  expect(await overseerOk(repo.path, "goal", "list")).toContain("The fourth");
}, 60_000);

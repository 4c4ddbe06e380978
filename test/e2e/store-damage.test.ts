/**
 * Databases in every bad state, met through the program as people start it: what it says, how it exits, that looking
 * changes nothing, and that `doctor --fix` brings back everything that can be brought back.
 */
import { Database } from "bun:sqlite";
import { beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { examine, fix } from "#control/upkeep/doctor.ts";
import { accept } from "#domain/model/decision.ts";
import type { EventOf } from "#domain/model/event.ts";
import { OverseerError } from "#errors.ts";
import { openForWriting } from "#store/open.ts";
import { connect } from "#store/sqlite/file.ts";
import { SCHEMA_VERSION } from "#store/sqlite/migrations.ts";
import { salvage } from "#store/sqlite/salvage.ts";
import { sqliteStore } from "#store/sqlite/store.ts";
import { realWorld } from "#wiring.ts";
import { bundled, OVERSEER, overseer, overseerOk } from "../support/cli.ts";
import { confirmIn } from "../support/confirm.ts";
import { canMount, inNamespace } from "../support/namespace.ts";
import { addGoal, T0 } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { provenLog } from "../support/store-proof.ts";
import { tempDir, tempRepo } from "../support/temp.ts";

/** Five phases of five tasks, named by running numbers. */
const PLAN = JSON.stringify({
  planVersion: 1,
  phases: [0, 1, 2, 3, 4].map((phase) => ({
    id: `P${phase}`,
    name: `Phase ${phase}`,
    objective: "Dates parse",
    acceptance: ["all samples parse"],
    tasks: [0, 1, 2, 3, 4].map((task) => ({
      id: `T${phase}.${task}`,
      name: `Task ${phase * 5 + task}`,
      objective: "A part of it",
      acceptance: ["it is seen to work"],
    })),
  })),
});

/** A repository with one planned goal; tests work on copies of it. */
const pristine = tempRepo();
let original: EventOf[] = [];
/** The copy of its log, as the commands above have left it. */
const copies = tempDir("copies-");

beforeAll(async () => {
  bundled();
  await overseerOk(pristine.path, "init");
  const { goalId } = JSON.parse(await overseerOk(pristine.path, "goal", "create", "Parse dates", "--json"));
  pristine.write({ "plan.json": PLAN, ".overseer/config.yaml": "runtime: scripted\nterminal: detached\n" });
  await overseerOk(pristine.path, "goal", "plan", goalId, "--file", "plan.json");
  original = provenLog(`${pristine.path}/.git/overseer/overseer.db`);
  settle(`${pristine.path}/.git/overseer/overseer.db`);
  // What is asked here is what comes back from the file itself; with the copy of its log, everything does.
  cpSync(`${pristine.path}/.git/overseer/backups`, copies, { recursive: true });
  rmSync(`${pristine.path}/.git/overseer/backups`, { recursive: true });
}, 60_000);

/** Puts everything into the main file, so that damage to it is damage to what it holds. */
function settle(path: string): void {
  const db = connect(path, false);
  db.run("pragma wal_checkpoint(truncate)");
  db.close();
}

interface Copy {
  readonly path: string;
  readonly state: string;
  readonly db: string;
}

async function copy(): Promise<Copy> {
  const path = join(tempDir("damage-"), "repo");
  cpSync(pristine.path, path, { recursive: true });
  await confirmIn(path);
  return { path, state: `${path}/.git/overseer`, db: `${path}/.git/overseer/overseer.db` };
}

function worldOf({ path, state }: Copy) {
  return realWorld({ project: path, userDir: `${path}/.overseer`, state, gitCommonDir: `${path}/.git` }, process.env);
}

/** Every file of the state but SQLite's scratch ones, which a reader may make (READ-1). */
function snapshot({ state }: Copy): Record<string, string> {
  const names = readdirSync(state, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((one) => one.isFile() && !/-(wal|shm)$/.test(one.name) && one.name !== "lock.db")
      .map((one) => join(one.parentPath, one.name))
      .map((name) => [name, Bun.hash(readFileSync(name)).toString(36)]),
  );
}

function rot(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 0x20;
  writeFileSync(path, bytes);
}

/** Rots a byte of the event whose data holds `text`. The same text lies elsewhere too, in tables and in pages let go. */
function rotEvent(path: string, text: string): void {
  const bytes = readFileSync(path);
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    rot(path, at + text.length - 2);
    if (!salvage(path).whole) return;
    rot(path, at + text.length - 2);
  }
  throw new Error(`${text} lies in no event`);
}

/** A process that has the database open and a read going, until it is ended. */
async function holder(path: string) {
  const script = `
    const db = new (require("bun:sqlite").Database)(${JSON.stringify(path)});
    db.run("begin"); db.query("select count(*) from events").get();
    console.log("open"); process.stdin.on("data", () => process.exit(0));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  await child.stdout.getReader().read();
  return {
    pid: child.pid,
    async end() {
      child.stdin.write("go\n");
      child.stdin.end();
      await child.exited;
    },
  };
}

interface Damage {
  readonly what: string;
  spoil(db: string): void;
  /** What reading commands say; undefined where they cannot see it. */
  readonly said: RegExp | undefined;
  readonly doctor: RegExp;
  /** How many events come back from the file itself. */
  recovered(): number;
  /** A process that opened the file before keeps it open only if it stays the same file. */
  readonly replaced?: boolean;
}

const seqOf = (text: string) => (original.find((event) => JSON.stringify(event.data).includes(text))?.seq ?? 0) - 1;

const DAMAGES: readonly Damage[] = [
  {
    what: "garbage bytes",
    spoil: (db) => writeFileSync(db, crypto.getRandomValues(new Uint8Array(40_000))),
    said: /is damaged \(file is not a database\)/,
    doctor: /is damaged/,
    recovered: () => 0,
  },
  {
    what: "a file cut off in its first page",
    spoil: (db) => truncateSync(db, 100),
    said: /is damaged \(database disk image is malformed\)/,
    doctor: /is damaged/,
    recovered: () => 0,
  },
  {
    what: "a file of zero bytes",
    spoil: (db) => truncateSync(db, 0),
    said: /is empty/,
    doctor: /is empty/,
    recovered: () => 0,
  },
  {
    what: "a directory in its place",
    spoil: (db) => {
      rmSync(db);
      mkdirSync(db);
    },
    said: /There is a directory where the database/,
    doctor: /There is a directory/,
    recovered: () => 0,
    replaced: true,
  },
  {
    what: "a byte inside an event, where SQLite itself sees nothing",
    spoil: (db) => rotEvent(db, '"name":"Task 17"'),
    said: undefined,
    doctor: /The log in .* is damaged after event \d+/,
    recovered: () => seqOf('"name":"Task 17"'),
  },
];

const holding = [false, true] as const;
const cases = DAMAGES.flatMap((damage) => holding.map((held) => ({ ...damage, held })));

describe("STORE-5: a database that is damaged", () => {
  test.each(cases.map((one) => [`${one.what}${one.held ? ", while another process has it open" : ""}`, one] as const))(
    "%s",
    async (_name, { spoil, said, doctor, recovered, held, replaced }) => {
      const repo = await copy();
      const other = held ? await holder(repo.db) : undefined;
      try {
        spoil(repo.db);
        const before = snapshot(repo);
        for (const words of [["status"], ["goal", "list"], ["goal", "create", "Another"]]) {
          if (said === undefined) break;
          const answer = await overseer(repo.path, ...words);
          expect(answer.stderr.replaceAll("\n", " ")).toMatch(said);
          expect(answer.stderr).toContain("overseer doctor");
          expect(answer.code).toBe(5);
        }
        const looked = await overseer(repo.path, "doctor");
        expect(looked.code).toBe(5);
        expect(looked.stdout).toMatch(doctor);
        expect(looked.stdout).toContain("doctor --fix");
        expect(snapshot(repo)).toEqual(before);

        if (other && !replaced) {
          const refused = await overseer(repo.path, "doctor", "--fix");
          expect(refused.code).toBe(4);
          expect(refused.stderr).toContain(`Process ${other.pid} has the damaged database open`);
          expect(snapshot(repo)).toEqual(before);
        }
      } finally {
        await other?.end();
      }
      const fixed = await overseer(repo.path, "doctor", "--fix");
      expect(fixed.stdout).toContain(`recovered ${recovered()} events`);
      expectSafeMode(await overseerOk(repo.path, "status"));
      const log = provenLog(repo.db);
      expect(log.slice(0, recovered())).toEqual(original.slice(0, recovered()));
      expect(log.slice(recovered()).map((event) => event.type)).toEqual([
        "overseer.store.corrupt",
        "overseer.store.recovered",
      ]);
      expect(readdirSync(repo.state).some((name) => name.includes(".corrupt-"))).toBe(true);

      expect(await overseerOk(repo.path, "thaw")).toContain("Safe mode is off");
      expect((await overseer(repo.path, "doctor")).code).toBe(0);
      expect(await overseerOk(repo.path, "status")).not.toContain("SAFE MODE");
    },
    60_000,
  );

  test("db, -wal and -shm go aside together, and what only the -wal holds is recovered", async () => {
    const repo = await copy();
    const store = await openForWriting({ address: repo.db });
    await addGoal(store, "goal_WAL");
    // Copied while it is open, so that nobody folds the -wal back into the file.
    const aside = tempDir("wal-");
    cpSync(repo.state, aside, { recursive: true });
    await store.close();
    rmSync(repo.state, { recursive: true });
    cpSync(aside, repo.state, { recursive: true });
    expect(statSync(`${repo.db}-wal`).size).toBeGreaterThan(0);
    // A table's page, so that SQLite calls the file damaged while the log is whole.
    const db = new Database(repo.db, { readonly: true });
    const { rootpage } = db.query("select rootpage from sqlite_schema where name = 'questions'").get() as {
      rootpage: number;
    };
    db.close();
    const bytes = readFileSync(repo.db);
    bytes.fill(0xff, (rootpage - 1) * 4096, rootpage * 4096);
    writeFileSync(repo.db, bytes);
    await overseer(repo.path, "doctor", "--fix");
    const moved = readdirSync(repo.state).filter((name) => name.includes(".corrupt-"));
    expect(moved.map((name) => name.replace(/^.*Z/, "")).sort()).toEqual(["", "-shm", "-wal"]);
    const log = provenLog(repo.db);
    expect(log.slice(0, original.length)).toEqual(original);
    expect(log.slice(original.length).map((event) => event.type)).toEqual([
      "goal.created",
      "overseer.store.corrupt",
      "overseer.store.recovered",
    ]);
  }, 60_000);

  test("rows of the tables that do not follow from the log are found, and made again without safe mode", async () => {
    const repo = await copy();
    const db = connect(repo.db, false);
    db.run("update nodes set status = 'done' where node_id = 'T1.3'");
    db.close();
    const looked = await overseer(repo.path, "doctor");
    expect([looked.code, looked.stdout]).toEqual([5, expect.stringContaining("1 rows of the tables do not follow")]);
    expect((await overseer(repo.path, "doctor", "--fix")).code).toBe(0);
    expect(provenLog(repo.db)).toEqual(original);
  }, 60_000);

  test("with the copy of its log nothing is lost, although nobody ever made a backup", async () => {
    const repo = await copy();
    cpSync(copies, `${repo.path}/.git/overseer/backups`, { recursive: true });
    truncateSync(repo.db, 0);
    const { stdout } = await overseer(repo.path, "doctor", "--fix");
    expect(stdout).toMatch(new RegExp(`recovered ${original.length} events from .*/backups/log\\.db`));
    expect(provenLog(repo.db).slice(0, original.length)).toEqual(original);
  }, 60_000);

  test("a newer backup than what the file still holds is what comes back", async () => {
    const repo = await copy();
    await overseerOk(repo.path, "store", "backup");
    rotEvent(repo.db, '"name":"Task 2"');
    const { stdout } = await overseer(repo.path, "doctor", "--fix");
    expect(stdout).toMatch(new RegExp(`recovered ${original.length} events from .*/\\.git/overseer/backups/overseer-`));
    expect(provenLog(repo.db).slice(0, original.length)).toEqual(original);
  }, 60_000);

  test("whichever byte rots, nothing false is ever kept: all events before the damage, and none after", async () => {
    const { size } = statSync(`${pristine.path}/.git/overseer/overseer.db`);
    const found = { sound: 0, tables: 0, log: 0, refused: 0 };
    const repo = await copy();
    const fresh = readFileSync(repo.db);
    for (let round = 0; round < scaled(30); round += 1) {
      for (const name of readdirSync(repo.state)) {
        if (/\.db|safe-mode/.test(name)) rmSync(join(repo.state, name), { recursive: true });
      }
      rmSync(`${repo.state}/run/safe-mode.json`, { force: true });
      writeFileSync(repo.db, fresh);
      // Every page in turn, and anywhere in it; now and then for certain in an event.
      const anywhere = (round % Math.ceil(size / 4096)) * 4096 + Math.floor(Math.random() * 4096);
      if (round % 5 === 0) rotEvent(repo.db, `"name":"Task ${2 + (round % 7)}"`);
      else rot(repo.db, Math.min(size - 1, anywhere));
      const readable = salvage(repo.db).events.length;
      const world = worldOf(repo);
      const says = (await examine(world)).find((finding) => finding.check === "database");
      try {
        await fix(world);
      } catch (error) {
        // The version number itself: indistinguishable from a newer product's, so it is left alone.
        if (!(error instanceof OverseerError) || error.code !== "STORE_NEWER") throw error;
        found.refused += 1;
        continue;
      }
      const log = provenLog(repo.db);
      if (existsSync(`${repo.state}/run/safe-mode.json`)) {
        found.log += 1;
        expect(says?.ok).toBe(false);
        expect(log.length).toBe(readable + 2);
        expect(log.slice(0, -2)).toEqual(original.slice(0, readable));
      } else {
        if (says?.ok) found.sound += 1;
        else found.tables += 1;
        expect(log).toEqual(original);
      }
    }
    expect(found.log).toBeGreaterThan(0);
  }, 120_000);
});

function expectSafeMode(status: string): void {
  expect(status).toContain("SAFE MODE since ");
  expect(status).toContain("nothing is dispatched until a person says go");
}

describe("STORE-3: a database of another version", () => {
  test.each(holding)(
    "a newer one is refused and left as it is (held open: %p)",
    async (held) => {
      const repo = await copy();
      const db = new Database(repo.db);
      db.run(`pragma user_version = ${SCHEMA_VERSION + 1}`);
      db.close();
      const other = held ? await holder(repo.db) : undefined;
      const before = snapshot(repo);
      for (const words of [
        ["status"],
        ["goal", "create", "x"],
        ["init"],
        ["doctor"],
        ["doctor", "--fix"],
        ["store", "backup"],
      ]) {
        const { stdout, stderr, code } = await overseer(repo.path, ...words);
        expect([words, code]).toEqual([words, 5]);
        expect(stdout + stderr).toContain("newer Overseer");
        expect(stdout + stderr).toContain("Update Overseer");
      }
      await other?.end();
      expect(snapshot(repo)).toEqual(before);
    },
    60_000,
  );

  test.each(holding)(
    "an old one is named by readers and migrated by init, after a backup (held open: %p)",
    async (held) => {
      const repo = await copy();
      const db = new Database(repo.db);
      db.run("update meta set value = '0' where key = 'fold'");
      db.run("delete from nodes");
      db.close();
      const other = held ? await holder(repo.db) : undefined;
      for (const words of [["status"], ["goal", "create", "x"], ["doctor"]]) {
        const { stdout, stderr, code } = await overseer(repo.path, ...words);
        expect([words, code]).toEqual([words, 5]);
        expect(stdout + stderr).toMatch(
          /older Overseer[\s\S]*overseer init[\s\S]*doctor --fix|doctor --fix[\s\S]*overseer init/,
        );
      }
      expect(await overseerOk(repo.path, "init")).toMatch(/the database in .* was migrated/);
      await other?.end();
      const made = readdirSync(`${repo.path}/.git/overseer/backups`).filter((name) => name.startsWith("overseer-"));
      expect(made).toHaveLength(1);
      expect(provenLog(repo.db)).toEqual(original);
    },
    60_000,
  );

  test("a schema number from before ours sends to init and doctor too", async () => {
    const repo = await copy();
    const db = new Database(repo.db);
    db.run("pragma user_version = 0");
    db.close();
    const { stderr, code } = await overseer(repo.path, "status");
    expect(code).toBe(5);
    expect(stderr).toMatch(/older Overseer[\s\S]*'overseer init'[\s\S]*'overseer doctor --fix'/);
  }, 60_000);
});

test("STORE-5: when the database is gone, doctor offers the backup, and --fix brings it back", async () => {
  const repo = await copy();
  await overseerOk(repo.path, "store", "backup");
  for (const part of ["", "-wal", "-shm"]) rmSync(`${repo.db}${part}`, { force: true });
  const status = await overseer(repo.path, "status");
  expect([status.code, status.stderr]).toEqual([5, expect.stringContaining("'overseer doctor' offers a backup")]);
  const looked = await overseer(repo.path, "doctor");
  expect(looked.code).toBe(5);
  expect(looked.stdout).toMatch(/doctor --fix' to bring back .*\.git\/overseer\/backups\/overseer-/);
  const { stdout } = await overseer(repo.path, "doctor", "--fix");
  expect(stdout).toContain(`restored ${original.length} events from`);
  expect(provenLog(repo.db).slice(0, -1)).toEqual(original);
  expect(provenLog(repo.db).at(-1)?.type).toBe("overseer.store.recovered");
}, 60_000);

describe.skipIf(!canMount)("a disk that takes nothing more (needs the right to mount)", () => {
  test("FAIL-16: full: one sentence and exit 5, nothing half-written, everything readable, and it continues when there is room", async () => {
    const repo = await copy();
    const mount = tempDir("small-");
    const { stdout, stderr, code } = inNamespace(
      `mount -t tmpfs -o size=700k none "$1" && cp -a "$2"/.git "$2"/.overseer "$1" && cd "$1" || exit 99
       dd if=/dev/zero of=filler bs=1k 2>/dev/null
       for words in "goal create x" "store backup" "store export --to out.json" "doctor --fix"; do
         "$3" $words > /dev/null; echo "$words: $?"
       done
       "$3" goal list > /dev/null; echo "goal list: $?"
       ls .git/overseer/backups out.json .git/overseer/run 2>/dev/null | grep -e unfinished -e tmp -e out.json
       rm filler; "$3" goal create y > /dev/null; echo "with room: $?"; "$3" doctor --json 2>/dev/null`,
      mount,
      repo.path,
      OVERSEER,
    );
    expect(code).toBe(5); // doctor still finds the disk too small
    const lines = stdout.split("\n");
    expect(lines.slice(0, 6)).toEqual([
      "goal create x: 5",
      "store backup: 5",
      "store export --to out.json: 5",
      "doctor --fix: 5",
      "goal list: 0",
      "with room: 0",
    ]);
    const findings: { check: string; detail: string }[] = JSON.parse(lines[6] ?? "").findings;
    const database = findings.find(({ check }) => check === "database");
    expect(database?.detail).toBe(`sound, ${original.length + 1} events`);
    expect(stderr).not.toContain("internal error");
    expect(stderr.match(/The disk is full; nothing was written\./g)?.length).toBeGreaterThanOrEqual(3);
  }, 60_000);

  test("read-only: readers read, writers get one sentence and exit 5", async () => {
    const repo = await copy();
    const { stdout, stderr } = inNamespace(
      `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" || exit 99
       for words in "goal list" status doctor "goal create x" init "doctor --fix" "store backup"; do
         "$2" $words > /dev/null; echo "$words: $?"
       done`,
      repo.path,
      OVERSEER,
    );
    expect(stdout.trim().split("\n")).toEqual([
      "goal list: 0",
      "status: 0",
      "doctor: 0",
      "goal create x: 5",
      "init: 5",
      "doctor --fix: 5",
      "store backup: 5",
    ]);
    expect(stderr).not.toContain("internal error");
    expect(stderr).toContain("mounted read-only");
  }, 60_000);
});

test("FAIL-16: full: a commit that SQLite cannot store leaves the store as it was", async () => {
  const repo = await copy();
  const db = connect(repo.db, false);
  const { page_count: pages } = db.query("pragma page_count").get() as { page_count: number };
  db.run(`pragma max_page_count = ${pages}`);
  const store = sqliteStore(db, { path: repo.db });
  const updates = Array.from({ length: 50 }, (_, n) => ({
    type: "goal.updated" as const,
    actor: "human:ada" as const,
    goalId: original[1]?.goalId,
    because: "asked-for",
    data: { changes: { problemStatement: `${n} ${"word ".repeat(2000)}` } },
  }));
  const writing = store.commit({ at: T0, reads: {}, decide: () => accept(updates, null) });
  expect(await writing.catch((error: unknown) => error)).toMatchObject({ code: "DISK_FULL", kind: "environment" });
  await store.close();
  expect(provenLog(repo.db)).toEqual(original);
});

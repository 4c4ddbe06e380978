/**
 * Auto mode when the ground it stands on gives way, with real processes: the command after a landing fails or is cut off,
 * workers vanish from the database, the database is damaged. Each ends as its row says, and nobody's work is lost.
 */
import { Database } from "bun:sqlite";
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  adding,
  afterSomeTurns,
  autoKeys,
  Foreground,
  landedTitles,
  outcomes,
  readLog,
  readView,
  TestPool,
  tell,
  until,
  untilWhy,
} from "../support/auto-pool.ts";
import { bundled } from "../support/cli.ts";
import type { Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { isLongLane } from "../support/scale.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux" });

/** What is run after each landing: notes that it ran, and for which commit; fails while `bad` is there. */
function afterCommand(pool: TestPool, more = ""): string {
  const path = join(pool.dir, "after");
  const script = `#!/bin/sh\ngit rev-parse HEAD >> "${pool.dir}/ran"\n${more}\n[ ! -e "${pool.dir}/bad" ] || { echo it broke; exit 7; }\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

const ran = (pool: TestPool) =>
  existsSync(join(pool.dir, "ran")) ? readFileSync(join(pool.dir, "ran"), "utf8").trim().split("\n") : [];
const HELD = "the command after a landing failed";
const commits = (fleet: Fleet) => fleet.repo.git("log", "--reverse", "--format=%H", "main").split("\n").slice(1);
const openQuestions = (fleet: Fleet) => fleet.rows<{ id: string }>("select id from questions where status = 'open'");

test("AUTO-11 FAIL-12 LOG-3: a command after landing that fails holds the target and the pool, with one question, until it is answered", async () => {
  const pool = new TestPool();
  const fleet = await fleetOf({ more: autoKeys("", 1) });
  writeFileSync(join(pool.dir, "bad"), "");
  pool.put("1", adding("one"));
  const after = afterCommand(pool);
  await fleet.ok("up", "--auto", "--task-pool-command", pool.command, "--post-accept-command", after);
  await until(fleet, () => openQuestions(fleet).length === 1, "the question about the broken target");
  await untilWhy(fleet, HELD);
  pool.put("2", adding("two"));
  // Some turns of the pool later, too.
  await untilWhy(fleet, HELD, afterSomeTurns(fleet));
  expect(pool.has("todo/2")).toBe(true);
  expect(commits(fleet).length).toBe(1);
  expect(readLog(fleet, "post_accept")).toMatchObject([
    { event: "post_accept", worker: "auto-1", verdict: "fail", exit: 7, output: expect.stringContaining("it broke") },
  ]);
  rmSync(join(pool.dir, "bad"));
  await fleet.ok("answer", openQuestions(fleet)[0]?.id ?? "", "go on landing");
  await until(fleet, () => outcomes(fleet)["Add two"] === "landed", "the next task to land");
  await until(fleet, () => ran(pool).length === 2, "its command");
  expect(ran(pool)).toEqual(commits(fleet));
  expect(fleet.all("question.asked").length).toBe(1);
});

if (isLongLane()) {
  test("AUTO-8 FAIL-29: workers that are gone from the state without a word end the daemon, and nobody's work", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    pool.put("1", tell("Wait for ever", [{ kind: "hang", in: "tool" }]));
    const life = await Foreground.start(fleet, "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("agent.started").length === 1, "somebody to be at work");
    const runner = fleet.runner(1);
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 5000");
    db.run("delete from conditions where id = 'workers'");
    db.close();
    const { code, stderr } = await life.end();
    expect({ code, failed: fleet.all("auto.failed").map(({ data }) => data.code), stderr }).toMatchObject({
      ...{ code: 5, failed: ["WORKERS_VANISHED"] },
      stderr: expect.stringContaining("auto-1, auto-2"),
    });
    expect(readFileSync(`${fleet.state}/logs/report.md`, "utf8")).toContain("WORKERS_VANISHED");
    expect(fleet.processes.alive(runner)).toBe(true);
    // What its hint says helps.
    await fleet.ok("doctor", "--rebuild");
    pool.put("2", adding("two"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => outcomes(fleet)["Add two"] === "landed", "the next task to land");
    expect((await readView(fleet)).failure).toBeNull();
  });

  test("AUTO-11: killed before, while and after the command runs, every landing has had it once", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("", 1) });
    for (const name of ["1", "2", "3"]) pool.put(name, adding(`n${name}`));
    const after = afterCommand(pool, "sleep 0.7");
    const words = ["up", "--auto", "--task-pool-command", pool.command, "--post-accept-command", after];
    await fleet.ok(...words);
    await until(fleet, () => fleet.all("landing.landed").length === 1, "the first to land");
    await fleet.kill(fleet.theDaemon());
    await fleet.ok(...words);
    await until(fleet, () => ran(pool).length === 2, "the second command to be at work");
    await fleet.kill(fleet.theDaemon());
    await fleet.ok(...words);
    // Nobody knows how far it got: a person is asked, and it is not run twice.
    await until(fleet, () => openQuestions(fleet).length === 1, "the question about the one that was cut off");
    const isLogged = () => readLog(fleet, "post_accept").some(({ event }) => event === "post_accept.cut_off");
    await until(fleet, isLogged, "the line about it");
    await fleet.ok("answer", openQuestions(fleet)[0]?.id ?? "", "go on landing");
    await until(fleet, () => outcomes(fleet)["Add n3"] === "landed", "all to land");
    await until(
      fleet,
      () => fleet.rows("select 1 from actions where status not in ('done', 'dropped')").length === 0,
      "every action to end",
    );
    expect(landedTitles(fleet)).toEqual(["Add n1", "Add n2", "Add n3"]);
    expect(ran(pool)).toEqual(commits(fleet));
  });

  test("AUTO-8: one worker of several that is gone is a warning, and is made again", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("worker.added").length === 2, "both workers");
    await until(fleet, () => fleet.all("pool.empty").length === 1, "a look at the pool");
    const db = new Database(`${fleet.state}/overseer.db`, { readwrite: true });
    db.run("pragma busy_timeout = 5000");
    const [{ doc } = { doc: "{}" }] = fleet.rows<{ doc: string }>("select doc from conditions where id = 'workers'");
    const known = JSON.parse(doc) as { workers: { name: string }[] };
    const less = { ...known, workers: known.workers.slice(0, 1) };
    db.run("update conditions set doc = ?1 where id = 'workers'", [JSON.stringify(less)]);
    db.close();
    await until(
      fleet,
      () => readLog(fleet, "auto").some(({ event }) => event === "workers.missing"),
      "the missing worker to be said",
    );
    await until(fleet, () => fleet.all("worker.added").length === 3, "it to be made again");
    expect(fleet.all("auto.failed")).toEqual([]);
  });

  test("AUTO-7: a damaged database ends auto mode in safe mode, with its agents stopped and their work kept", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    const steps = [
      { kind: "edit", file: "half.txt", content: "half\n" },
      { kind: "hang", in: "tool" },
    ] as const;
    pool.put("1", tell("Wait for ever", steps));
    const life = await Foreground.start(fleet, "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("agent.started").length === 1, "somebody to be at work");
    const { runner, worktree } = fleet.attempt(1);
    await until(fleet, () => existsSync(join(worktree, "half.txt")), "half of the work");
    truncateSync(`${fleet.state}/overseer.db`, 0);
    const { code, stderr } = await life.end();
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("cannot be trusted") });
    expect(readFileSync(`${fleet.state}/logs/report.md`, "utf8")).toContain("STATE_CORRUPT");
    expect(existsSync(`${fleet.state}/run/safe-mode.json`)).toBe(true);
    expect(runner !== null && fleet.processes.alive(runner)).toBe(false);
    expect(fleet.marked(1)).toEqual([]);
    expect(existsSync(join(worktree, "half.txt"))).toBe(true);
    await fleet.ok("thaw");
    pool.put("2", adding("two"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => outcomes(fleet)["Add two"] === "landed", "the next task to land");
  });
}

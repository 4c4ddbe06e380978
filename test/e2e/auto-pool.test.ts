/**
 * Auto mode with real processes: a pool command that is really asked, a real daemon, real git, scripted agents. The story
 * and one hard failure in every run; each further way in which a pool can misbehave, and every place at which the daemon
 * can be killed around it, in the long lane.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "#domain/model/auto.ts";
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
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux" });

const report = (fleet: Fleet) => readFileSync(`${fleet.state}/logs/report.md`, "utf8");
const living = (fleet: Fleet) =>
  fleet.rows<{ doc: string }>("select doc from attempts where status <> 'ended'").map(({ doc }) => JSON.parse(doc));
const goalOf = (fleet: Fleet, title: string) => {
  const goal = fleet.all("goal.created").find(({ data }) => data.title === title);
  return goal?.goalId ?? "";
};
const waits = (name: string) =>
  tell(name, [
    { kind: "say", text: "At it." },
    { kind: "hang", in: "tool" },
  ]);

test("AUTO-1: without a pool and without an open goal auto mode is a usage error that says what to name", async () => {
  const fleet = await fleetOf({ more: autoKeys() });
  const { code, stderr } = await fleet.run("up", "--auto");
  expect(code).toBe(2);
  expect(stderr).toContain("no pool is set, and no goal is open");
  expect(stderr).toContain("--task-pool-command");
  expect(fleet.daemon()).toBeUndefined();
});

/** Everything a shell could trip over, also where the words of a task become the title of a commit. */
const EVIL = `Add "it's" $(touch pwned) \`touch pwned\`; touch pwned & | > pwned\n\nsecond 'line' \\ %s $HOME $'x' !! * ~\n`;

test("AUTO-1 AUTO-2 AUTO-3 AUTO-5 AUTO-10 AUTO-12 LOG-3 FAIL-3 FAIL-4: workers of auto mode do what the pool gives, word by word, once", async () => {
  const pool = new TestPool();
  // What is configured would end it at once; what is typed is above that.
  const more = `${autoKeys("taskPoolCommand: exit 1", 1)}defaults: {permissionMode: plan, model: small}\n`;
  const fleet = await fleetOf({ more });
  pool.put("0.sh", "exit 0");
  await fleet.ok("up", "--auto", "--task-pool-command", pool.command, "--concurrency", "2");
  await until(fleet, () => fleet.all("pool.empty").length === 1, "an empty pool to be noticed");

  const evil = `${EVIL}\n${adding("evil")}`;
  pool.put("1-evil", evil);
  pool.put("2-ask", tell("Ask somebody", [{ kind: "ask", question: "Which?", options: ["this", "that"] }]));
  await until(fleet, () => fleet.all("work.blocked").length === 1, "a question to block its task");
  pool.put("3-nothing", tell("Change nothing", [{ kind: "report", status: "done", summary: "It is so already" }]));
  pool.put("4-last", adding("last"));
  pool.put("5-ask", tell("Ask somebody", [{ kind: "ask", question: "Which?", options: ["this", "that"] }]));
  await until(fleet, () => fleet.all("pool.ended").length === 3, "three tasks to be over");
  await until(fleet, () => fleet.all("pool.repeated").length === 1, "a repeated task to be noticed");
  const goal = goalOf(fleet, "Ask somebody");
  await until(fleet, () => living(fleet).length === 0, "whoever waits for a person to free its worker");

  expect(Object.values(outcomes(fleet)).toSorted()).toEqual(["landed", "landed", "unchanged"]);
  expect(outcomes(fleet)).toMatchObject({ "Change nothing": "unchanged", "Add last": "landed" });
  expect(fleet.all("pool.taken").length).toBe(4);
  expect(fleet.all("pool.repeated").map(({ goalId }) => goalId)).toEqual([goal]);
  expect(await fleet.ok("auto")).toContain(`The pool gave ${goal} again while it is open; it is not done twice.`);
  const workers = fleet.all("agent.slung").map(({ agent }) => agent ?? "");
  expect(workers.length).toBe(4);
  expect(workers.filter((name) => !/^auto-[12]$/.test(name))).toEqual([]);
  // Word by word where the agent reads it, and executed nowhere.
  const evilAttempt = fleet.all("agent.slung").find(({ goalId }) => goalId === fleet.all("pool.taken")[0]?.goalId);
  expect(fleet.rows<{ doc: string }>("select doc from nodes").map(({ doc }) => JSON.parse(doc).objective)).toContain(
    evil.trim(),
  );
  const [told] = fleet.messages(evilAttempt?.attempt ?? 0);
  for (const line of EVIL.trim().split("\n")) expect(told?.body).toContain(line);
  for (const place of [fleet.repo.path, pool.dir, fleet.state]) expect(existsSync(join(place, "pwned"))).toBe(false);
  expect(fleet.repo.git("show", "main:evil.txt")).toBe("evil");
  // Nobody else gets their names, and they take the defaults.
  const slung = await fleet.run("sling", "--name", "auto-1", "--prompt", adding("mine"));
  expect([slung.code, slung.stderr.includes("worker of auto mode")]).toEqual([4, true]);
  const added = await fleet.run("worker", "add", "auto-3", "--model", "large");
  expect([added.code, added.stderr.includes("worker of auto mode")]).toEqual([4, true]);
  expect(fleet.attempt(evilAttempt?.attempt ?? 0)).toMatchObject({ model: "small", permissionMode: "plan" });
  // One line for every asking, with what it printed.
  const asked = readLog(fleet, "task_pool");
  expect(asked.filter(({ stdout }) => stdout === evil).length).toBe(1);
  expect(asked.filter(({ exit }) => exit === 4).length).toBeGreaterThan(0);
  expect(readLog(fleet, "auto").filter(({ event }) => event === "pool.taken").length).toBe(4);
  expect(fleet.all("pool.empty").length).toBeLessThanOrEqual(4);
});

/** Starts auto mode with somebody at work, has the pool do that, and sees the daemon end by itself. */
async function breakPool(script: string, auto: string, code: string): Promise<Fleet> {
  const pool = new TestPool();
  const fleet = await fleetOf({ more: autoKeys(auto) });
  pool.put("1", waits("Wait for ever"));
  const life = await Foreground.start(fleet, "--task-pool-command", pool.command);
  await until(fleet, () => fleet.all("agent.started").length === 1, "somebody to be at work");
  const [before] = living(fleet);
  pool.put("2.sh", script);
  const { code: exit, stderr } = await life.end();
  const failed = fleet.all("auto.failed");
  expect({ exit, code: failed.map(({ data }) => data.code), stderr }).toMatchObject({ exit: 5, code: [code] });
  expect(stderr).toContain(failed[0]?.data.problem ?? "?");
  expect(report(fleet)).toContain(code);
  expect(await fleet.ok("auto")).toContain(`It ended by itself (${code})`);
  expect(fleet.processes.alive(before.runner)).toBe(true);
  // The next life takes over who is at work, and takes tasks again.
  pool.put("3", adding("after"));
  await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
  await until(fleet, () => outcomes(fleet)["Add after"] === "landed", "the next task to land");
  expect(fleet.all("daemon.adopted").flatMap(({ data }) => data.agents)).toMatchObject([
    { attempt: before.attempt, pid: before.runner.pid },
  ]);
  expect((await readView(fleet)).failure).toBeNull();
  return fleet;
}

const FAILURES: [string, { script: string; auto?: string; code: string }][] = [
  ["exit 3", { script: "echo too many >&2; exit 3", code: "POOL_CLAIM_LIMIT" }],
  ["exit 1", { script: "echo broken >&2; exit 1", code: "POOL_FAILED" }],
  ["a hang", { script: "sleep 300", auto: "taskPoolTimeout: 500ms", code: "POOL_HUNG" }],
  ["10 MB", { script: "head -c 10000000 /dev/zero | tr '\\0' x; exit 0", code: "POOL_OUTPUT" }],
  ["binary output", { script: "printf 'a\\377\\376\\000b'", code: "POOL_OUTPUT" }],
  ["a signal", { script: "kill -9 $$", code: "POOL_FAILED" }],
];

test.each(isLongLane() ? FAILURES : FAILURES.slice(0, 1))(
  "AUTO-2 AUTO-7 FAIL-1 FAIL-2: a pool command that ends with %s ends the daemon, openly, and nobody's work",
  async (_, { script, auto = "", code }) => {
    await breakPool(script, auto, code);
  },
);

if (isLongLane()) {
  test("AUTO-1: with an open goal and no pool the workers of auto mode work on that", async () => {
    const fleet = await fleetOf({ more: autoKeys() });
    const node = { acceptance: ["it is there"] };
    const tasks = [{ ...node, id: "T1", name: "Planned", objective: adding("planned") }];
    const phases = [{ ...node, id: "P1", name: "P1", objective: "All of it", tasks }];
    const plan = join(tempDir("plan-"), "plan.json");
    writeFileSync(plan, JSON.stringify({ planVersion: 1, phases }));
    await fleet.ok("goal", "create", "--title", "Planned", "--plan", plan);
    await fleet.ok("up", "--auto");
    await until(fleet, () => fleet.all("landing.landed").length === 1, "the goal's task to land");
    expect(fleet.all("agent.slung").map(({ agent }) => agent)).toEqual(["auto-1"]);
  });

  test("FAIL-4: the same words again are done again once the first are over", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    const same = tell("Append a line", [
      { kind: "edit", file: "lines.txt", append: "line\n" },
      { kind: "commit", message: "Append" },
      { kind: "report", status: "done", summary: "appended" },
    ]);
    pool.put("1", same);
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("pool.ended").length === 1, "the first to land");
    pool.put("2", same);
    await until(fleet, () => fleet.all("pool.ended").length === 2, "the second to land");
    expect(fleet.repo.git("show", "main:lines.txt")).toBe("line\nline");
    expect(fleet.all("pool.repeated")).toEqual([]);
  });

  const asking = (fleet: Fleet, name: string) =>
    [...new Bun.Glob(`run/pool/*/${name}`).scanSync({ cwd: fleet.state })].length > 0;
  const begun = (fleet: Fleet, pool: TestPool) => until(fleet, () => pool.has("begun"), "the command to be at work");

  /** Where a daemon is killed around the second of three tasks, and whether the next one finds the answer on the disk. */
  const KILLS: [string, boolean, (fleet: Fleet, pool: TestPool) => Promise<void>][] = [
    ["while the pool command runs", true, begun],
    [
      "when the pool command has ended and nothing of it is stored",
      true,
      async (fleet, pool) => {
        await begun(fleet, pool);
        await fleet.hang(fleet.theDaemon());
        pool.letGo();
        await until(fleet, () => asking(fleet, "end"), "the command to end");
        expect(fleet.all("pool.taken").length).toBe(1);
      },
    ],
    [
      "between the storing of a task and its agent",
      false,
      (fleet, pool) => {
        pool.letGo();
        return until(fleet, () => fleet.all("pool.taken").length === 2, "the task to be stored");
      },
    ],
  ];

  test.each(KILLS)("AUTO-12: killed %s, no task is lost and none is done twice", async (_, isAdopted, reach) => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    pool.put("1", adding("one"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("pool.taken").length === 1, "the first to be taken");
    pool.put("2.sh", `touch "$here/begun"; ${pool.waiting}; cat <<'EOT'\n${adding("two")}EOT\n`);
    await reach(fleet, pool);
    await fleet.kill(fleet.theDaemon());
    pool.put("3", adding("three"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    pool.letGo();
    await until(fleet, () => fleet.all("pool.ended").length === 3, "all three to end");
    expect(landedTitles(fleet)).toEqual(["Add one", "Add three", "Add two"]);
    expect(fleet.all("pool.taken").length).toBe(3);
    const asked = readLog(fleet, "task_pool").filter(({ stdout }) => stdout?.includes("Add two"));
    if (isAdopted) expect(asked).toMatchObject([{ adopted: true, exit: 0 }]);
    await fleet.ok("down");
    expect([...new Bun.Glob("run/pool/*").scanSync({ cwd: fleet.state, onlyFiles: false })]).toEqual([]);
  });

  test("AUTO-1: started for some tasks it ends too when one of them waits for a person", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    pool.put("1", tell("Ask somebody", [{ kind: "ask", question: "Which?", options: ["this", "that"] }]));
    pool.put("2", tell("Change nothing", [{ kind: "report", status: "done", summary: "It is so already" }]));
    const life = await Foreground.start(fleet, "--task-pool-command", pool.command, "--tasks", "2");
    expect((await life.end()).code).toBe(0);
    expect(outcomes(fleet)).toEqual({ "Change nothing": "unchanged" });
    expect(living(fleet)).toEqual([]);
  });

  test("AUTO-12: what a pool command leaves in the background neither delays its task nor is taken for it", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("taskPoolTimeout: 20s") });
    pool.put("1.sh", `sleep 60 & echo $! > "$here/pid"\ncat <<'EOT'\n${adding("one")}EOT\n`);
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => outcomes(fleet)["Add one"] === "landed", "its task to land");
    expect(readLog(fleet, "task_pool")[0]?.durationMs).toBeLessThan(10_000);
    const left = fleet.processes.identify(Number(readFileSync(join(pool.dir, "pid"), "utf8")));
    if (left) fleet.processes.signal(left, "SIGKILL");
  });

  test("AUTO-12: files of a directory are tasks in the order of their names, each once, and again when changed", async () => {
    const dir = tempDir("tasks-");
    const fleet = await fleetOf({ more: autoKeys("", 1) });
    const gone = join(dir, "not-there");
    const missing = await fleet.run("up", "--auto", "--task-directory", gone);
    expect([missing.code, missing.stderr]).toEqual([5, expect.stringContaining(`There is no directory ${gone}`)]);
    writeFileSync(join(dir, "2-b"), adding("b"));
    writeFileSync(join(dir, "1-a"), adding("a"));
    writeFileSync(join(dir, "3-large"), "x".repeat(2_000_000));
    writeFileSync(join(dir, "4-binary"), Buffer.from([65, 0, 255, 254]));
    writeFileSync(join(dir, ".hidden"), adding("hidden"));
    mkdirSync(join(dir, "sub"));
    await fleet.ok("up", "--auto", "--task-directory", dir);
    await until(fleet, () => fleet.all("pool.ended").length === 2, "both to land");
    await until(fleet, () => fleet.all("pool.refused").length === 2, "two to be refused");
    expect(fleet.repo.git("log", "--reverse", "--format=%s").split("\n").slice(1)).toEqual(["Add a", "Add b"]);
    const said = await fleet.ok("auto");
    expect(said).toContain("Not taken: 3-large (it has 2000000 bytes");
    expect(said).toContain("Not taken: 4-binary (it is no text)");
    writeFileSync(join(dir, "1-a"), adding("c"));
    rmSync(join(dir, "4-binary"));
    await until(fleet, () => outcomes(fleet)["Add c"] === "landed", "the changed file to be taken");
    await until(fleet, () => fleet.all("pool.forgotten").length > 0, "the removed file to be forgotten");
    expect(await fleet.ok("auto")).not.toContain("4-binary");
    // Known across a restart.
    await fleet.ok("down");
    await fleet.ok("up", "--auto", "--task-directory", dir);
    await until(fleet, () => fleet.all("auto.started").length >= 2, "its next life");
    await fleet.ok("tick", "--now");
    expect(fleet.all("pool.taken").length).toBe(3);
    expect(readFileSync(join(dir, "2-b"), "utf8")).toBe(adding("b"));
    // Taken away under it: it ends, and says so.
    rmSync(dir, { recursive: true });
    await until(fleet, () => fleet.all("auto.failed").length === 1, "the missing directory to be said");
    expect(fleet.all("auto.failed")[0]?.data.code).toBe("TASK_DIRECTORY_MISSING");
  });

  test("AUTO-5: paused, no task is taken, also in the next life, until somebody resumes", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys() });
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await fleet.ok("auto", "pause", "--reason", "lunch");
    expect(await fleet.ok("auto")).toContain("Paused (lunch)");
    await until(fleet, () => readLog(fleet, "auto").some(({ event }) => event === "auto.paused"), "the pause");
    await fleet.ok("down");
    pool.put("1", adding("one"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    expect(fleet.all("auto.started").length).toBe(2);
    await untilWhy(fleet, "auto mode is paused", fleet.all("auto.started")[1]?.at);
    expect(pool.given()).toEqual([]);
    await fleet.ok("auto", "resume");
    await until(fleet, () => outcomes(fleet)["Add one"] === "landed", "the task to land");
  });

  test("AUTO-5 AUTO-6: a blocked task is tried again where it was, a cancelled one anew", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("maxWaiting: 1") });
    pool.put("1", tell("Be stuck", [{ kind: "report", status: "blocked", summary: "no key", blockers: ["no key"] }]));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("work.blocked").length === 1 && living(fleet).length === 0, "it to be blocked");
    const goal = goalOf(fleet, "Be stuck");
    // One waits for a person, so no more are taken.
    await untilWhy(fleet, "one task waits for a person");
    pool.put("2", adding("two"));
    await untilWhy(fleet, "one task waits for a person", afterSomeTurns(fleet));
    expect(pool.has("todo/2")).toBe(true);
    await fleet.ok("auto", "retry", goal);
    const tries = () => fleet.all("agent.slung").filter(({ goalId }) => goalId === goal).length;
    await until(fleet, () => tries() === 2, "somebody to try again");
    await fleet.ok("goal", "cancel", goal);
    await until(fleet, () => outcomes(fleet)["Be stuck"] === "cancelled", "its end");
    await until(fleet, () => outcomes(fleet)["Add two"] === "landed", "the next to land");
    const { node, anew } = JSON.parse(await fleet.ok("auto", "retry", goal, "--json"));
    expect(anew).toBe(true);
    expect(node).not.toContain(`${goal}/`);
    await until(fleet, () => fleet.all("work.blocked").length === 2, "it to be done anew");
  });

  test("AUTO-1: started for two tasks it takes two and ends by itself with 0", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("", 1) });
    for (const name of ["1", "2", "3"]) pool.put(name, adding(`n${name}`));
    const life = await Foreground.start(fleet, "--task-pool-command", pool.command, "--tasks", "2");
    expect((await life.end()).code).toBe(0);
    expect(landedTitles(fleet)).toEqual(["Add n1", "Add n2"]);
    expect(pool.given()).toEqual(["1", "2"]);
    expect(living(fleet)).toEqual([]);
    expect(fleet.all("auto.failed")).toEqual([]);
  });

  test("AUTO-1: with money for one task it takes one and ends by itself with 0; its costs are all counted", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("", 1) });
    for (const name of ["1", "2", "3"]) pool.put(name, adding(`n${name}`, [{ kind: "usage", costUsd: 1 }]));
    const life = await Foreground.start(fleet, "--task-pool-command", pool.command, "--budget", "0.50");
    expect((await life.end()).code).toBe(0);
    expect(landedTitles(fleet)).toEqual(["Add n1"]);
    const spent = fleet.all("agent.ended").reduce((sum, { data }) => sum + data.usage.costUsd, 0);
    expect(spent).toBeGreaterThanOrEqual(1);
    expect(fleet.all("pool.ended").map(({ data }) => data.costUsd)).toEqual([spent]);
  });

  test("AUTO-3: standing workers get tasks with their own model and role, excluded ones only by hand", async () => {
    const pool = new TestPool();
    const fleet = await fleetOf({ more: autoKeys("", 1) });
    await fleet.ok("worker", "add", "ben", "--model", "large", "--capability", "builder");
    await fleet.ok("worker", "add", "cleo", "--model", "huge", "--excluded-from-pool");
    pool.put("1", waits("Keep auto-1 busy"));
    pool.put("2", waits("Keep ben busy"));
    pool.put("3", adding("three"));
    await fleet.ok("up", "--auto", "--task-pool-command", pool.command);
    await until(fleet, () => fleet.all("agent.started").length === 2, "both to be at work");
    expect(living(fleet).map(({ agent, model }) => [agent, model])).toEqual([
      ["auto-1", null],
      ["ben", "large"],
    ]);
    await untilWhy(fleet, "every worker has a task");
    expect(pool.has("todo/3")).toBe(true);
    const slung = JSON.parse(await fleet.ok("sling", "--json", "--name", "cleo", "--prompt", adding("by-hand")));
    expect(fleet.attempt(slung.attempt)).toMatchObject({ agent: "cleo", model: "huge" });
    const workers = JSON.parse(await fleet.ok("worker", "list", "--json")) as { workers: Worker[] };
    expect(workers.workers.map(({ name, made, excluded }) => [name, made, excluded])).toEqual([
      ["ben", false, false],
      ["cleo", false, true],
      ["auto-1", true, false],
    ]);
    await fleet.ok("worker", "remove", "ben");
    await fleet.ok("stop", "ben");
    expect((await fleet.run("worker", "remove", "ben")).code).toBe(3);
    expect((await fleet.run("worker", "remove", "auto-1")).code).toBe(4);
  });
}

/**
 * What goes wrong with the machine and its providers, made to happen to a real daemon with agents at work, each to its end:
 * a full disk, an account without quota, a network that is gone, a database that is damaged. One of each kind in an ordinary run,
 * all of them in the long lane.
 */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EventType } from "#domain/model/event.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { ClaudeWorld } from "../support/claude-world.ts";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { type ModelServer, modelPrompt, startModelServer } from "../support/model-server.ts";
import { tail } from "../support/nine-tasks.ts";
import { planGoal, waitFor, writeFiles } from "../support/planned-goal.ts";
import { isLongLane } from "../support/scale.ts";
import { cannotMount, SmallDisk } from "../support/small-disk.ts";
import { say } from "../support/steps.ts";
import { provenLog } from "../support/store-proof.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "tmux" });

const QUICK = `
reconcile: {tickEvery: 500ms}
daemon: {heartbeatEvery: 500ms}
recovery: {silentAfter: 1s, nextStepAfter: 100ms, judgedFromAge: 100ms, backoff: {base: 100ms, max: 200ms}}
`;
const STALLED: readonly EventType[] = [
  ...(["assignment.stalled", "assignment.nudged"] as const),
  ...(["assignment.restarting", "assignment.reassigning"] as const),
];

const until = <T>(fleet: Fleet, look: () => T | undefined | false): Promise<T> => eventually(look, () => tail(fleet));
const of = (fleet: Fleet, type: EventType, node: string) => fleet.all(type).filter(({ nodeId }) => nodeId === node);
const landed = (fleet: Fleet, node: string) => until(fleet, () => of(fleet, "landing.landed", node).length === 1);

const MB = 1024 ** 2;
const whyNoDisk = cannotMount();

test.skipIf(whyNoDisk !== undefined)(
  `FAIL-16: on a disk that fills up nothing is started nor half-written, one person is asked once, and with room all continues${whyNoDisk === undefined ? "" : ` (${whyNoDisk})`}`,
  async () => {
    const disk = SmallDisk.make(64);
    try {
      // Not in auto mode: that ends when the disk stays full, and so would the story of this test.
      const more = `${QUICK.replace("silentAfter: 1s", "silentAfter: 1m")}landing: {mode: auto, strategy: squash}\n`;
      const fleet = await Fleet.make({
        terminal: "tmux",
        at: join(disk.path, "repo"),
        more,
        files: { "stubborn.sh": STUBBORN },
      });
      try {
        await liveThroughFullDisk(fleet, disk);
      } finally {
        disk.free();
        await fleet.end();
      }
    } finally {
      await disk.end();
    }
  },
);

/**
 * What an agent runs that does not give up: it writes until it can. Nothing can be made on a full disk, but taken away: so
 * it shows that it has met the end of it.
 */
const STUBBORN = `touch began
until test -f "$1"; do sleep 0.05; done
until echo 1 > T1.txt && git add T1.txt && git commit --quiet --message T1; do rm -f began; sleep 0.1; done
`;

async function liveThroughFullDisk(fleet: Fleet, disk: SmallDisk): Promise<void> {
  const go = join(tempDir("go-"), "go");
  const path = `${fleet.userDir}/config.yaml`;
  const config = readFileSync(path, "utf8").replace("minDisk: 1B", "minDisk: 10MB");
  writeFileSync(path, config);
  await planGoal(fleet, "One", {
    T1: [
      { kind: "run", command: `sh stubborn.sh ${go}` },
      { kind: "flood", lines: 200, bytes: 2_000, to: "text" },
      { kind: "report", status: "done", summary: "it is there" },
    ],
  });
  await fleet.ok("up");
  const slung = await until(fleet, () => of(fleet, "agent.slung", "T1")[0]);
  const began = join(fleet.attempt(slung.attempt ?? 0).worktree, "began");
  await until(fleet, () => existsSync(began));

  // Less than has to stay free: nothing is started, and a person is asked.
  disk.fill(6 * MB);
  await planGoal(fleet, "Two", { T2: writeFiles({ "T2.txt": "2\n" }) });
  const question = await until(fleet, () => fleet.all("question.asked")[0]);
  expect(question.data.text).toContain("the disk is nearly full");
  await until(fleet, () => fleet.all("dispatch.deferred").some(({ data }) => data.cap === "disk"));
  expect(of(fleet, "agent.slung", "T2")).toEqual([]);

  // Nothing at all: nobody can write, the agent at work included.
  disk.fill(0);
  writeFileSync(go, "");
  await eventually(
    () => !existsSync(began),
    () => `the agent to write in vain; ${disk.freeBytes} bytes are free`,
  );
  const refused = await fleet.run("store", "backup");
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringContaining("The disk is full; nothing was written."),
  ]);
  await fleet.ok("status");
  expect(readFileSync(path, "utf8")).toBe(config);
  expect(fleet.repo.git("rev-parse", "main")).toMatch(/^[0-9a-f]{40}$/);

  disk.free();
  await landed(fleet, "T1");
  await landed(fleet, "T2");
  await until(fleet, () => fleet.all("goal.completed").length === 2);
  expect(fleet.all("question.asked")).toHaveLength(1);
  expect(fleet.all("question.withdrawn").map(({ data }) => data.questionId)).toEqual([question.data.questionId]);
  expect([fleet.all("disk.short"), fleet.all("disk.enough")].map(({ length }) => length)).toEqual([1, 1]);
  expect(of(fleet, "agent.slung", "T1")).toHaveLength(1);
  expect(of(fleet, "agent.slung", "T2")).toHaveLength(1);
  await fleet.ok("down");
  expect(provenLog(`${fleet.state}/overseer.db`).length).toBeGreaterThan(0);
  expect(fleet.repo.git("fsck", "--no-dangling", "--no-progress")).toBe("");
  expect(fleet.repo.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(readFileSync(path, "utf8")).toBe(config);
}

test("FAIL-18, QUOTA-1: out of quota an agent is parked until the reset, nothing of its account starts, nobody counts as stuck, and it continues", async () => {
  const fleet = await fleetOf({ more: QUICK });
  const resetsAt = new Date(Date.now() + 4_000).toISOString();
  await planGoal(fleet, "One", {
    T1: [
      { kind: "quota", attempts: 1, retryAfterMs: 10, givesUp: true, resetsAt, once: true },
      ...writeFiles({ "T1.txt": "1\n" }),
    ],
  });
  await fleet.ok("up", "--auto", "--concurrency", "5");
  const tripped = await until(fleet, () => fleet.all("quota.tripped")[0]);
  expect(tripped.data.until).toBe(Date.parse(resetsAt));
  await planGoal(fleet, "Two", { T2: writeFiles({ "T2.txt": "2\n" }) });
  await until(fleet, () => fleet.all("dispatch.deferred").some(({ data }) => data.cap === "quota"));
  await landed(fleet, "T1");
  await landed(fleet, "T2");
  const [restored] = fleet.all("quota.restored");
  expect(restored?.at).toBeGreaterThanOrEqual(Date.parse(resetsAt));
  expect(of(fleet, "agent.slung", "T2")[0]?.at).toBeGreaterThanOrEqual(Date.parse(resetsAt));
  expect(fleet.happened().filter(({ type }) => STALLED.includes(type))).toEqual([]);
  expect(of(fleet, "agent.slung", "T1")).toHaveLength(1);
  expect(fleet.all("quota.tripped")).toHaveLength(1);
  expect(fleet.all("question.asked")).toEqual([]);
});

let claude: ClaudeWorld | undefined;
let again: ModelServer | undefined;
afterEach(async () => {
  await claude?.run("down");
  await claude?.end();
  await again?.stop();
  claude = again = undefined;
});

if (isLongLane()) {
  test("FAIL-19, PROV-1: without its model server the real Claude Code is parked, that is said once, and with it back it continues", async () => {
    const provider = { patience: "500ms", backoff: { base: "500ms", max: "1s" } };
    const recovery = { silentAfter: "1s", nextStepAfter: "100ms", judgedFromAge: "100ms" };
    const world = await ClaudeWorld.start({ config: { provider, recovery, reconcile: { tickEvery: "500ms" } } });
    claude = world;
    await world.ok("up");
    const agent = await world.sling(modelPrompt("Begin", [say("Ready.")]), "--name", "ada");
    const answered = (count: number) =>
      world.until(
        () => world.signals(agent, "turn.ended").filter(({ data }) => data.ok).length >= count,
        `answer ${count}`,
      );
    await answered(1);
    await world.model.stop();
    await world.send(agent, modelPrompt("Continue", [say("On it.")]));
    const seen = (type: string) =>
      world.rows<{ data: string }>("select data from events where type = ? order by seq", type);
    await world.until(() => seen("provider.failed").length > 0, "a provider that fails");
    expect(JSON.parse(seen("provider.failed")[0]?.data ?? "{}")).toMatchObject({ cause: "network", questionId: null });
    expect(await world.ok("status")).toContain("cannot be reached");
    again = await startModelServer({ port: Number(new URL(world.model.url).port) });
    await answered(2);
    await world.until(() => seen("provider.restored").length > 0, "the end of the condition");
    expect(seen("question.asked")).toEqual([]);
    expect(STALLED.flatMap((type) => seen(type))).toEqual([]);
    expect(world.rows("select attempt from attempts")).toHaveLength(1);
    expect(seen("provider.failed").filter(({ data }) => JSON.parse(data).failures === 1)).toHaveLength(1);
  });

  test("FAIL-20, STORE-5: garbage in the database under a running daemon is safe mode until a person says go; then the work lands", async () => {
    const go = join(tempDir("go-"), "go");
    const fleet = await fleetOf({ more: QUICK.replace("silentAfter: 1s", "silentAfter: 1m") });
    await planGoal(fleet, "One", { T1: [waitFor(`test -f ${go}`), ...writeFiles({ "T1.txt": "1\n" })] });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    await until(fleet, () => of(fleet, "assignment.active", "T1").length > 0);
    const daemon = fleet.theDaemon();
    const before = fleet.happened().length;
    writeFileSync(`${fleet.state}/overseer.db`, crypto.getRandomValues(new Uint8Array(40_000)));
    for (const part of ["-wal", "-shm"]) rmSync(`${fleet.state}/overseer.db${part}`, { force: true });
    const safe = `${fleet.state}/run/safe-mode.json`;
    await eventually(
      () => existsSync(safe) && fleet.daemonLog().some(({ event }) => event === "store.repaired"),
      () => `safe mode; ${JSON.stringify(fleet.daemonLog().slice(-5))}`,
    );
    writeFileSync(go, "");
    await until(fleet, () => of(fleet, "work.claimed", "T1").length > 0);
    await eventually(
      () => String(fleet.daemonLog().findLast(({ event }) => event === "tick.ended")?.data.halted) === "safe mode",
      () => "a tick in safe mode",
    );
    expect(fleet.repo.git("ls-tree", "--name-only", "main")).not.toContain("T1.txt");
    expect(fleet.processes.alive(daemon)).toBe(true);
    expect(await fleet.ok("status")).toContain("SAFE MODE");
    expect(fleet.happened().length).toBeGreaterThan(before / 2);

    await fleet.ok("thaw");
    await landed(fleet, "T1");
    expect(existsSync(safe)).toBe(false);
    expect(of(fleet, "agent.slung", "T1")).toHaveLength(1);
    await fleet.ok("down");
    provenLog(`${fleet.state}/overseer.db`);
  });

  test("FAIL-20, STORE-5: a database whose newest part was removed is whole with what is open, and everything continues by itself", async () => {
    const go = join(tempDir("go-"), "go");
    // Not in auto mode: that ends when the disk stays full, and so would the story of this test.
    const more = `${QUICK.replace("silentAfter: 1s", "silentAfter: 1m")}landing: {mode: auto, strategy: squash}\n`;
    const fleet = await fleetOf({ more, files: { "stubborn.sh": STUBBORN } });
    // In one call, which was let pass before: while the database cannot be read, the permit refuses every other.
    const T1: Step[] = [
      { kind: "run", command: `sh stubborn.sh ${go}` },
      { kind: "report", status: "done", summary: "it is there" },
    ];
    await planGoal(fleet, "One", { T1 });
    await fleet.ok("up", "--auto", "--concurrency", "5");
    const slung = await until(fleet, () => of(fleet, "agent.slung", "T1")[0]);
    await until(fleet, () => existsSync(join(fleet.attempt(slung.attempt ?? 0).worktree, "began")));
    const before = fleet.happened();
    rmSync(`${fleet.state}/overseer.db-wal`);
    writeFileSync(go, "");
    // Whoever opens it now finds less than there is: only those that had it open bring the rest home.
    await eventually(
      () => fleet.repo.git("ls-tree", "--name-only", "main").includes("T1.txt"),
      () =>
        `the landing; ${JSON.stringify(fleet.daemonLog().filter(({ event }) => !event.startsWith("tick.")))}\n${fleet.log(1, "session.log")}${fleet.log(1, "errors.log")}${fleet.log(1, "runner.log")}`,
      15_000,
    );
    await landed(fleet, "T1");
    expect(fleet.happened().slice(0, before.length)).toEqual(before);
    expect(existsSync(`${fleet.state}/run/safe-mode.json`)).toBe(false);
    await fleet.ok("down");
    provenLog(`${fleet.state}/overseer.db`);
  });
}

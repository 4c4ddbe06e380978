/** The daemon as people meet it: real processes, real locks, real sockets, real kills. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { shortTime } from "#cli/short-time.ts";
import { callDaemon, connectDaemon } from "#control/daemon-client.ts";
import type { Status } from "#control/status.ts";
import { parseHeartbeat, parseIntent } from "#domain/health/daemon-life.ts";
import { runFiles } from "#sys/run-files.ts";
import { version } from "../../package.json" with { type: "json" };
import { bundled, startOverseer } from "../support/cli.ts";
import { eventually, Fleet, type FleetOptions } from "../support/fleet.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

/** Beats and ticks fast, so that its silence is soon seen. */
const LIVELY = `
daemon: {heartbeatEvery: 100ms, drainTimeout: 1s}
guard: {heartbeatTimeout: 1s}
reconcile: {tickEvery: 500ms}
`;

let fleet: Fleet;
afterEach(() => fleet.end());

async function fleetWith(more = LIVELY, options: FleetOptions = {}): Promise<Fleet> {
  fleet = await Fleet.make({ terminal: "detached", more, ...options });
  return fleet;
}

const status = async (): Promise<Status> => JSON.parse(await fleet.ok("status", "--json")) as Status;
const call = (method: string, params = {}) => callDaemon(fleet.theDaemon(), version, method, params, 10_000);
const written = (type: string) =>
  fleet
    .rows<{ data: string }>("select data from events where type = ?1 order by seq", type)
    .map((row) => JSON.parse(row.data) as Record<string, unknown>);

test("ONE-1: up says pid and log; a second up is refused and names the holder", async () => {
  await fleetWith();
  const said = await fleet.ok("up");
  const daemon = fleet.theDaemon();
  expect(said).toContain(`pid ${daemon.pid}`);
  expect(said).toContain(daemon.log);
  expect(fleet.processes.alive(daemon)).toBe(true);
  expect(statSync(daemon.socket).mode & 0o777).toBe(0o600);

  const second = await fleet.run("up");
  expect(second.code).toBe(4);
  expect(second.stderr).toContain(`pid ${daemon.pid}`);
  expect(second.stderr).toContain(new Date(daemon.since).toISOString());
  expect(second.stderr).toContain(daemon.version);
  expect((await fleet.run("up", "--foreground")).code).toBe(4);
  const doctor = await fleet.run("doctor", "--fix");
  expect(doctor.code).toBe(4);
  expect(fleet.theDaemon()).toEqual(daemon);
});

test("ONE-1: of many ups at once one wins, and the others name it", async () => {
  await fleetWith();
  const all = await Promise.all(Array.from({ length: 4 }, () => fleet.run("up")));
  expect(all.map(({ code }) => code).toSorted()).toEqual([0, 4, 4, 4]);
  const { pid } = fleet.theDaemon();
  const named = all.filter(({ code }) => code === 4).filter(({ stderr }) => stderr.includes(`pid ${pid}`));
  // One that lost before the winner had registered cannot know its name yet.
  expect(named.length + all.filter(({ stderr }) => stderr.includes("repository's lock")).length).toBe(3);
  expect(written("daemon.started")).toHaveLength(1);
});

test("DEAD-1: a daemon stopped by SIGSTOP is seen as not beating, and as running again after SIGCONT", async () => {
  await fleetWith();
  await fleet.ok("up");
  expect((await status()).daemon).toMatchObject({ state: "running", pid: fleet.theDaemon().pid, version });
  await fleet.hang(fleet.theDaemon());
  const lastBeat = () => parseHeartbeat(readFileSync(runFiles(fleet.state).heartbeat, "utf8"))?.at ?? 0;
  await eventually(
    () => Date.now() - lastBeat() > 1_100,
    () => "the heart to stand still",
  );
  expect((await status()).daemon.state).toBe("not-beating");
  expect(await fleet.ok("status")).toContain(`NOT BEATING since ${shortTime(lastBeat(), Date.now())}`);
  expect((await fleet.run("up")).code).toBe(4);
  fleet.processes.signal(fleet.theDaemon(), "SIGCONT");
  await eventually(
    () => fleet.daemonLog().some(({ event }) => event === "time.skipped"),
    () => "the lost time to be noticed",
  );
  const [skipped] = fleet.daemonLog().filter(({ event }) => event === "time.skipped");
  expect(skipped?.data.ms).toBeGreaterThan(1_000);
  await eventually(
    () => fleet.daemonLog().some(({ event, data }) => event === "tick.started" && Number(data.skippedMs) > 1_000),
    () => "the tick to hear of it",
  );
  expect((await status()).daemon.state).toBe("running");
});

test("ADOPT-1: after kill -9 of the daemon, up adopts every agent with the same pids; down leaves them, too", async () => {
  await fleetWith();
  await fleet.ok("up");
  const slung = [
    await fleet.sling("ada", [{ kind: "say", text: "here" }]),
    await fleet.sling("bob", [{ kind: "say", text: "here" }]),
  ];
  const pids = () => slung.map(({ attempt }) => fleet.attempt(attempt).runner?.pid);
  const before = { pids: pids(), dispatched: written("assignment.dispatched").length };
  const first = fleet.theDaemon();
  await fleet.kill(first);
  expect((await status()).daemon.state).toBe("died");
  expect(await fleet.ok("status")).toContain("DIED");

  await fleet.ok("up");
  const [adopted] = written("daemon.adopted");
  expect(adopted).toMatchObject({
    agents: slung.map(({ agent, attempt }, index) => ({ agent, attempt, pid: before.pids[index] })),
    lost: [],
  });
  expect(written("daemon.started")[1]).toMatchObject({ previous: { instance: first.instance, pid: first.pid } });

  await fleet.ok("down");
  expect(existsSync(runFiles(fleet.state).registration)).toBe(false);
  expect((await status()).daemon.state).toBe("stopped");
  await fleet.ok("up");
  expect({ pids: pids(), dispatched: written("assignment.dispatched").length }).toEqual(before);
  expect(slung.every(({ attempt }) => fleet.processes.alive(fleet.runner(attempt)))).toBe(true);
  expect(written("daemon.stopped")).toHaveLength(1);
});

test("ADOPT-1: a death is news at once, also of a runner that was there before the daemon", async () => {
  await fleetWith("reconcile: {tickEvery: 1h}\n");
  const early = await fleet.sling("ada", [{ kind: "say", text: "here" }]);
  await fleet.ok("up");
  const late = await fleet.sling("bob", [{ kind: "say", text: "here" }]);
  const goneOf = (attempt: number) =>
    fleet.daemonLog().find((one) => one.event === "runner.gone" && one.data.attempt === attempt);
  for (const { attempt } of [early, late]) {
    await fleet.kill(fleet.runner(attempt));
    const gone = await eventually(
      () => goneOf(attempt),
      () => `news of the death of #${attempt}`,
    );
    expect(gone.level).toBe("info");
    await eventually(
      () =>
        fleet
          .daemonLog()
          .some(
            ({ event, data }) => event === "tick.started" && String(data.causes).includes(`runner-gone #${attempt}`),
          ),
      () => "a tick because of it",
    );
  }
});

test("down --agents stops them and keeps what they had not committed", async () => {
  await fleetWith();
  await fleet.ok("up");
  const { attempt, worktree } = await fleet.sling("ada", [{ kind: "say", text: "here" }]);
  await fleet.said(attempt, "here");
  writeFileSync(`${worktree}/draft.txt`, "half done\n");
  const said = await fleet.ok("down", "--agents");
  const ended = fleet.attempt(attempt);
  expect(ended).toMatchObject({ status: "ended", end: { cause: "stopped" } });
  expect(said).toContain(ended.end?.wip ?? "no snapshot");
  expect(fleet.marked(attempt)).toEqual([]);
});

test("down ends a daemon that does not answer, and says so", async () => {
  await fleetWith();
  await fleet.ok("up");
  const daemon = fleet.theDaemon();
  await fleet.hang(daemon);
  expect(await fleet.ok("down")).toContain("did not answer and was ended");
  expect(fleet.processes.alive(daemon)).toBe(false);
  expect(await fleet.ok("down")).toContain("No daemon was running");
  await fleet.ok("up");
});

test("FREEZE-1: a freeze holds over restarts, is seen, refuses new agents, and thaw ends it", async () => {
  await fleetWith();
  await fleet.ok("up");
  await fleet.ok("freeze", "--reason", "lunch");
  const intent = () => parseIntent(readFileSync(runFiles(fleet.state).intent, "utf8"))?.want;
  expect(intent()).toBe("frozen");
  await fleet.kill(fleet.theDaemon());
  await fleet.ok("up");
  expect(await status()).toMatchObject({ frozen: { reason: "lunch" }, daemon: { state: "running" } });
  expect(await fleet.ok("status")).toMatch(/FROZEN since .*lunch/);
  expect(intent()).toBe("frozen");
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ halted: ["frozen"], by: "daemon" });
  const refused = await fleet.run("sling", "--runtime", "scripted", "--prompt", "Work");
  expect({ code: refused.code, says: refused.stderr }).toEqual({ code: 4, says: expect.stringContaining("thaw") });

  await fleet.ok("thaw");
  expect((await status()).frozen).toBeNull();
  expect(intent()).toBe("up");
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ halted: [], ok: true });
  await fleet.ok("down");
  expect(intent()).toBe("down");
});

test("FREEZE-1: what waits for an agent is handed over only after the thaw", async () => {
  await fleetWith();
  await fleet.ok("up");
  const { attempt } = await fleet.sling("ada", [{ kind: "say", text: "here" }]);
  await fleet.turns(attempt, 1);
  await fleet.ok("pause", "ada");
  await fleet.ok("freeze");
  await fleet.ok("resume", "ada");
  await fleet.ok("tick", "--now");
  await fleet.ok("status");
  expect(fleet.messages(attempt).at(-1)?.status).toBe("queued");
  await fleet.ok("thaw");
  await fleet.turns(attempt, 2);
  const order = fleet.rows<{ type: string }>(
    "select type from events where type in ('fleet.thawed', 'message.handed') order by seq",
  );
  expect(order.map(({ type }) => type).slice(-2)).toEqual(["fleet.thawed", "message.handed"]);
});

test("TICK-4: without a daemon a tick runs here, under the lock", async () => {
  await fleetWith();
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ ok: true, by: "this command" });
  expect(existsSync(runFiles(fleet.state).registration)).toBe(false);
});

test("CONF-2: a changed configuration takes effect at the next tick; an invalid one keeps the old and is seen", async () => {
  await fleetWith();
  await fleet.ok("up");
  const path = `${fleet.userDir}/config.yaml`;
  const before = readFileSync(path, "utf8");
  writeFileSync(path, before.replace("maxConcurrent: 20", "maxConcurrent: 7"));
  await fleet.ok("tick", "--now");
  expect(written("config.changed")).toEqual([{ changes: [{ key: "agents.maxConcurrent", from: 20, to: 7 }] }]);
  writeFileSync(path, `${before}\nnonsense: true\n`);
  await fleet.ok("tick", "--now");
  expect(written("config.refused")[0]?.problem).toContain("nonsense");
  const now = await status();
  expect(now.configProblem).toContain("nonsense");
  expect(now.daemon).toMatchObject({ state: "running", configProblem: expect.stringContaining("nonsense") });
  writeFileSync(path, before);
  await fleet.ok("tick", "--now");
  expect((await status()).daemon.configProblem).toBeNull();
  expect(written("config.changed")).toHaveLength(2);
});

test("CONF-3: up --no-supervision serves and gives nothing out; status says what is off", async () => {
  await fleetWith(`${LIVELY}\nsync: {enabled: false}\n`);
  await fleet.ok("up", "--no-supervision", "--auto");
  expect(await status()).toMatchObject({ off: ["supervision", "sync"], daemon: { supervision: false, auto: true } });
  expect(await fleet.ok("status")).toContain("Switched off: supervision, sync");
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ halted: ["no supervision"] });
});

test("FAIL-22: a socket that vanished is made again, and whoever was connected stays so", async () => {
  await fleetWith();
  await fleet.ok("up");
  const { socket } = fleet.theDaemon();
  const client = await connectDaemon(socket, { version, timeoutMs: 10_000 });
  rmSync(socket);
  await eventually(
    () => existsSync(socket),
    () => "the socket to come back",
  );
  expect(await client.call("ping")).toMatchObject({ version });
  client.close();
  expect(await call("ping")).toMatchObject({ version });
});

test("RPC-1: goals and work are made and moved through the daemon", async () => {
  await fleetWith();
  await fleet.ok("up");
  const { goalId } = (await call("goal.create", { title: "Parse dates", priority: "high" })) as { goalId: string };
  expect(await call("goal.update", { goal: goalId, owner: "ada" })).toEqual({ goalId });
  await call("goal.pause", { goal: goalId, reason: "holidays" });
  await call("goal.resume", { goal: goalId });
  writeFileSync(
    `${fleet.repo.path}/plan.json`,
    JSON.stringify({
      planVersion: 1,
      phases: [
        {
          id: "P1",
          name: "One",
          objective: "x",
          acceptance: ["y"],
          tasks: [{ id: "T1", name: "Task", objective: "x", acceptance: ["y"] }],
        },
      ],
    }),
  );
  await fleet.ok("goal", "plan", goalId, "--file", "plan.json");
  expect(await call("work.update", { node: "T1", goal: goalId, to: "blocked", reason: "no key" })).toEqual({
    node: `${goalId}/T1`,
  });
  await call("work.update", { node: "T1", goal: goalId, to: "unblocked" });
  await call("work.update", { node: "T1", goal: goalId, to: "done", summary: "works" });
  const now = (await call("overseer.status")) as Status;
  expect(now.goals).toMatchObject([{ goalId, status: "completed", title: "Parse dates" }]);
  expect(await call("wake", { reason: "test" })).toEqual({ woken: true });
  expect(await call("tick")).toMatchObject({ ok: true, halted: [] });
});

test("RPC-1: what does not fit is refused with the reason, and a door of another version with the next step", async () => {
  await fleetWith();
  await fleet.ok("up");
  const code = (work: Promise<unknown>) => work.then(() => "taken").catch((error: { code: string }) => error.code);
  expect(await code(call("goal.create", {}))).toBe("INVALID_PARAMS");
  expect(await code(call("goal.create", { title: "x", colour: "red" }))).toBe("INVALID_PARAMS");
  expect(await code(call("goal.pause", { goal: "goal_NOPE" }))).toBe("GOAL_UNKNOWN");
  expect(await code(call("goal.destroy", {}))).toBe("NO_SUCH_CALL");
  expect(await code(callDaemon(fleet.theDaemon(), "9.9.9", "ping", {}, 10_000))).toBe("VERSION_MISMATCH");
  const [mismatch] = await Promise.allSettled([callDaemon(fleet.theDaemon(), "9.9.9", "ping", {}, 10_000)]);
  expect(mismatch).toMatchObject({ reason: { hint: expect.stringContaining("overseer down") } });
});

test("RPC-2: events are streamed from the log, from any place in it", async () => {
  await fleetWith();
  await fleet.ok("up");
  await fleet.ok("goal", "create", "Before");
  const heard: { method: string; type: unknown }[] = [];
  const client = await connectDaemon(fleet.theDaemon().socket, {
    version,
    timeoutMs: 10_000,
    onNotification: ({ method, params }) => heard.push({ method, type: params.type ?? params.event }),
  });
  await client.call("subscribe", { after: 0, types: ["goal", "daemon.started"] });
  await fleet.ok("goal", "create", "After");
  await call("tick");
  const types = () => heard.filter(({ method }) => method === "event").map(({ type }) => type);
  await eventually(
    () => types().length >= 3 && heard.some(({ method, type }) => method === "notice" && type === "tick.ended"),
    () => `the events; heard ${JSON.stringify(heard)}`,
  );
  expect(types()).toEqual(["daemon.started", "goal.created", "goal.created"]);
  client.close();
});

test("LOG-2: the daemon's log is NDJSON, turned over by size, and error stays for faults of its own", async () => {
  await fleetWith(`${LIVELY}\nlogs: {maxSize: 1KB, keep: 2}\n`);
  await fleet.ok("up");
  for (let turn = 0; turn < 12; turn += 1) await call("tick");
  await fleet.ok("down");
  const { log } = runFiles(fleet.state);
  expect([`${log}.1`, `${log}.2`, `${log}.3`].map((path) => existsSync(path))).toEqual([true, true, false]);
  const records = [log, `${log}.1`].flatMap((path) =>
    readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  expect(records.every(({ time, level, event }) => Date.parse(time) > 0 && level === "info" && event)).toBe(true);
});

test("STORE-5: a damaged database is moved aside by up, and nothing is dispatched until thaw", async () => {
  await fleetWith();
  await fleet.ok("goal", "create", "Kept");
  await fleet.ok("store", "backup");
  writeFileSync(`${fleet.state}/overseer.db`, "this is no database".repeat(1000));
  for (const part of ["-wal", "-shm"]) rmSync(`${fleet.state}/overseer.db${part}`, { force: true });
  await fleet.ok("up");
  const now = await status();
  expect(now.safeMode).not.toBeNull();
  expect(now.goals).toMatchObject([{ title: "Kept" }]);
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ halted: ["safe mode"] });
  expect((await fleet.run("sling", "--runtime", "scripted", "--prompt", "Work")).code).toBe(4);
  expect(await fleet.ok("thaw")).toContain("Safe mode is off");
  expect(JSON.parse(await fleet.ok("tick", "--now", "--json"))).toMatchObject({ halted: [] });
});

test("FAIL-20, SAFE-1: a database damaged under a running daemon is moved aside, and the daemon continues in safe mode", async () => {
  await fleetWith();
  await fleet.ok("goal", "create", "Kept");
  await fleet.ok("store", "backup");
  await fleet.ok("up");
  const daemon = fleet.theDaemon();
  rmSync(`${fleet.state}/overseer.db`);
  writeFileSync(`${fleet.state}/overseer.db`, "this is no database".repeat(1000));
  await fleet.run("tick", "--now");
  await eventually(
    () =>
      existsSync(`${fleet.state}/run/safe-mode.json`) &&
      fleet.daemonLog().some((one) => one.event === "store.repaired"),
    () => `safe mode; ${JSON.stringify(fleet.daemonLog().slice(-5))}`,
  );
  await eventually(
    () =>
      fleet
        .daemonLog()
        .findLast((one) => one.event === "tick.ended")
        ?.data.halted?.toString() === "safe mode",
    () => "a tick in safe mode",
  );
  expect(fleet.processes.alive(daemon)).toBe(true);
  expect(await status()).toMatchObject({ goals: [{ title: "Kept" }], daemon: { state: "running" } });
});

test("up in a repository without a database says what to do, and leaves no daemon behind", async () => {
  await fleetWith();
  rmSync(`${fleet.state}/overseer.db`);
  const said = await fleet.run("up");
  expect(said.code).toBe(5);
  expect(said.stderr).toContain("overseer init");
  expect(fleet.daemon()).toBeUndefined();
  await fleet.ok("init");
});

test("up --foreground runs here and stops in order when told", async () => {
  await fleetWith();
  const child = startOverseer(fleet.repo.path, ["up", "--foreground"]);
  const daemon = await eventually(
    () => fleet.daemon(),
    () => "the daemon to register",
  );
  expect(daemon.pid).toBe(child.pid);
  expect(await call("ping")).toMatchObject({ instance: daemon.instance });
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  expect(fleet.daemon()).toBeUndefined();
  expect(written("daemon.stopped")).toHaveLength(1);
});

test("the socket lies in a directory that only this user can enter", async () => {
  await fleetWith();
  await fleet.ok("up");
  const directory = fleet.theDaemon().socket.replace(/\/[^/]*$/, "");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  mkdirSync(`${fleet.state}/run`, { recursive: true });
  expect(statSync(runFiles(fleet.state).registration).mode & 0o777).toBe(0o600);
});

test("doctor finds agents that died unseen, and --fix looks after them", async () => {
  await fleetWith();
  const { attempt, goalId } = await fleet.sling("ada", [{ kind: "say", text: "here" }]);
  await fleet.kill(fleet.runner(attempt));
  const found = await fleet.run("doctor");
  expect({ code: found.code, says: found.stdout }).toEqual({
    code: 5,
    says: expect.stringContaining(`ada#${attempt}`),
  });
  expect(await fleet.ok("doctor", "--fix")).toContain("its runner had died");
  expect(fleet.attempt(attempt)).toMatchObject({ status: "ended", end: { cause: "died" } });
  expect(fleet.marked(attempt)).toEqual([]);
  expect(JSON.parse(await fleet.ok("work", "list", "--goal", goalId, "--json"))).toMatchObject([
    {},
    { status: "queued" },
  ]);
});

/**
 * What happens when something is killed: runner, agent, tmux server, all three. Each death is recorded with its cause,
 * nothing of the attempt keeps running, and nothing that was not committed is lost.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { assignmentById } from "#store/assignments.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { openForWriting } from "#store/open.ts";
import { nodeById } from "#store/work.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { hang, run, say, wait } from "../support/steps.ts";
import { gitIn } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();

const orphan: Step = { kind: "orphan", seconds: 60 };

describe("the agent is killed", () => {
  test("PROC-1: its runner records the death with the signal at once, keeps the work and leaves nothing", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", [orphan, run("echo half > half.txt"), say("ready"), hang]);
    await fleet.said(attempt, "ready");
    const runner = fleet.runner(attempt);
    await fleet.kill(await fleet.process(attempt));
    const { end } = await fleet.ended(attempt);
    expect(end).toMatchObject({ cause: "died", signal: "SIGKILL", wip: expect.stringContaining("refs/overseer/wip/") });
    expect(end?.detail).toContain("SIGKILL");
    expect(fleet.events(attempt, "agent.ended")).toMatchObject([{ actor: "overseer", because: "died" }]);
    await eventually(
      () => !fleet.processes.alive(runner) && fleet.marked(attempt).length === 0,
      () => "the end of everything",
    );
    expect(fleet.log(attempt, "errors.log")).toContain("SIGKILL");
  });

  test("PROC-1: a child it left in a session of its own and without our mark ends with it", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", [
      { kind: "orphan", seconds: 60, bareEnvironment: true },
      say("ready"),
      hang,
    ]);
    const left = /left (\d+) behind/.exec(await fleet.said(attempt, "ready"))?.[1];
    const child = await eventually(
      () => fleet.processes.identify(Number(left)),
      () => "the child that was left behind",
    );
    await fleet.ok("stop", "a");
    expect(fleet.processes.alive(child)).toBe(false);
  });

  test("an agent that leaves by itself has finished, or failed, as its exit code says", async () => {
    const fleet = await fleetOf();
    const fails = await fleet.sling("f", [{ kind: "fail", message: "no way", exitCode: 7 }]);
    expect((await fleet.ended(fails.attempt)).end).toMatchObject({ cause: "failed", exitCode: 7, signal: null });
    const leaves = await fleet.sling("g", [{ kind: "fail", message: "enough", exitCode: 0 }]);
    expect((await fleet.ended(leaves.attempt)).end).toMatchObject({ cause: "finished", exitCode: 0 });
  });

  test("WIP-1: dead in the middle of a commit, its work is restorable and its worktree usable", async () => {
    const fleet = await fleetOf();
    const { attempt, worktree } = await fleet.sling("a", [
      { kind: "edit", file: "new.txt", content: "kept\n" },
      { kind: "die", at: "mid-commit", signal: "SIGKILL" },
    ]);
    const { end } = await fleet.ended(attempt);
    expect(end).toMatchObject({ cause: "died", signal: "SIGKILL" });
    expect(gitIn(worktree, "log", "--format=%s")).not.toContain("Half a commit");
    rmSync(join(worktree, "new.txt"));
    await fleet.ok("worktree", "restore", end?.wip ?? "", "--force");
    expect(readFileSync(join(worktree, "new.txt"), "utf8")).toBe("kept\n");
    gitIn(worktree, "add", "--all");
    gitIn(worktree, "commit", "--quiet", "--message", "It continues");
  });
});

describe("the runner is killed", () => {
  test("PROC-1: the next command that touches the fleet ends what is left, orphans too, and records the death", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", [orphan, run("echo half > half.txt"), say("ready"), hang]);
    await fleet.said(attempt, "ready");
    await fleet.kill(fleet.runner(attempt));
    expect(JSON.parse(await fleet.ok("agents", "list", "--json"))).toMatchObject([{ agent: "a", seen: "dead" }]);
    const said = await fleet.run("stop", "a");
    expect(said.code).toBe(0);
    expect(fleet.marked(attempt)).toEqual([]);
    const { end, status } = fleet.attempt(attempt);
    expect({ status, end }).toMatchObject({ status: "ended", end: { cause: "died", detail: "Its runner died." } });
    expect(fleet.events(attempt, "agent.ended")).toHaveLength(1);
    expect(end?.wip).toContain("refs/overseer/wip/");
  });

  test("its node is free for another attempt, which the next sling gives", async () => {
    const fleet = await fleetOf();
    const first = await fleet.sling("a", [say("ready"), hang]);
    await fleet.said(first.attempt, "ready");
    await fleet.kill(fleet.runner(first.attempt));
    const second = await fleet.sling("a", [], `${first.goalId}/${first.workNodeId}`);
    expect(second.attempt).toBe(first.attempt + 1);
    expect(fleet.attempt(first.attempt).end?.cause).toBe("died");
    expect(fleet.marked(first.attempt)).toEqual([]);
  });

  test("WIP-1: what was not committed comes back byte for byte: CRLF, binary, odd names, autocrlf on", async () => {
    const fleet = await fleetOf({ files: { "crlf.txt": "one\n", "gone.txt": "x\n" } });
    gitIn(fleet.repo.path, "config", "core.autocrlf", "true");
    const { attempt, worktree } = await fleet.sling("a", [say("ready"), hang]);
    await fleet.said(attempt, "ready");
    const files: Record<string, Buffer> = {
      "crlf.txt": Buffer.from("one\r\ntwo\r\nlone\nend"),
      "lf.txt": Buffer.from("a\nb\n"),
      "binary.bin": Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256)),
      'übër ☃ "q" 漢字.txt': Buffer.from("snow\r\n"),
      "tab\there.txt": Buffer.from(""),
    };
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(worktree, name), bytes);
    rmSync(join(worktree, "gone.txt"));
    gitIn(worktree, "add", "lf.txt");
    await fleet.kill(fleet.runner(attempt));
    await fleet.ok("stop", "--all");
    const wip = fleet.attempt(attempt).end?.wip ?? "";
    gitIn(worktree, "reset", "--quiet", "--hard");
    gitIn(worktree, "clean", "-fdxq");
    await fleet.ok("worktree", "restore", wip);
    for (const [name, bytes] of Object.entries(files)) {
      expect(readFileSync(join(worktree, name)).equals(bytes)).toBe(true);
    }
    expect(gitIn(worktree, "status", "--porcelain", "--", "gone.txt").trim()).toBe("D gone.txt");
  });
});

describe("what was left with a bare environment, in a session of its own", () => {
  /** Started by the agent so that nothing tells whose it is but where it stands; its pid, once it is there. */
  const bare = (name: string, how: string) =>
    run(`env -i PATH="$PATH" setsid --fork sh -c 'echo $$ > ${name}; ${how}'`);
  const pidIn = (worktree: string, name: string) =>
    eventually(
      () => (existsSync(join(worktree, name)) && Number(readFileSync(join(worktree, name), "utf8"))) || undefined,
      () => `the pid in ${name}`,
    );

  test("PROC-1: is found by doctor after its runner was killed, and ended; what a person has there stays", async () => {
    const fleet = await fleetOf({ terminal: "detached" });
    const { attempt, worktree } = await fleet.sling("a", [
      bare("stands", "exec sleep 600"),
      bare("holds", "exec 9>held; cd /; exec sleep 600"),
      say("ready"),
      hang,
    ]);
    await fleet.said(attempt, "ready");
    const pids = await Promise.all(["stands", "holds"].map((name) => pidIn(worktree, name)));
    const left = pids.map((pid) => fleet.processes.identify(pid));
    // A person's: one below a shell of theirs, one that has let go of it and is known by its desktop.
    const editor = ["setsid", "--fork", "sh", "-c", "echo $$ > editor; exec sleep 600"];
    const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
    Bun.spawnSync(editor, { cwd: worktree, env: { PATH: process.env.PATH ?? "", DISPLAY: ":9" }, ...quiet });
    const theirs = Bun.spawn(["sleep", "600"], { cwd: worktree, env: { PATH: process.env.PATH ?? "" }, ...quiet });
    const kept = [await pidIn(worktree, "editor"), theirs.pid].map((pid) => fleet.processes.identify(pid));
    try {
      await fleet.kill(fleet.runner(attempt));
      const told = await fleet.run("doctor");
      for (const pid of pids)
        expect(told.stdout).toMatch(new RegExp(`pid ${pid} \\(sleep 600\\)[^;]*a#${attempt} has ended`));
      expect(told.stdout).toContain("belongs to a person's session");
      await fleet.ok("doctor", "--fix");
      expect(left.map((one) => one && fleet.processes.alive(one))).toEqual([false, false]);
      expect(kept.map((one) => one && fleet.processes.alive(one))).toEqual([true, true]);
      expect(fleet.attempt(attempt).end?.cause).toBe("died");
      const removed = await fleet.ok("worktree", "clean", "a", "--force", "--discard");
      for (const one of kept) expect(removed).toContain(`Still runs: pid ${one?.pid} (sleep 600)`);
    } finally {
      for (const one of kept) if (one) fleet.processes.signal(one, "SIGKILL");
    }
  });

  test("PROC-1: goes with the next command that touches the fleet, and not with another agent's", async () => {
    const fleet = await fleetOf({ terminal: "detached" });
    const doomed = await fleet.sling("a", [bare("left", "exec sleep 600"), say("ready"), hang]);
    const other = await fleet.sling("b", [bare("left", "exec sleep 600"), say("ready"), hang]);
    const [gone, stays] = await Promise.all([doomed, other].map((one) => pidIn(one.worktree, "left")));
    const [first, second] = [gone, stays].map((pid) => fleet.processes.identify(pid ?? 0));
    await fleet.kill(fleet.runner(doomed.attempt));
    await fleet.ok("stop", "a");
    expect([first, second].map((one) => one && fleet.processes.alive(one))).toEqual([false, true]);
    await fleet.ok("stop", "b");
    expect(second && fleet.processes.alive(second)).toBe(false);
  });
});

describe("the tmux server is killed", () => {
  test("RUN-1: a driven agent keeps its pid, finishes its turn, takes messages, and can be looked at and stopped", async () => {
    const fleet = await fleetOf({ terminal: "tmux" });
    const go = join(fleet.repo.path, "../go-on");
    rmSync(go, { force: true });
    const { attempt } = await fleet.sling("a", [
      say("ready"),
      run(`for i in $(seq 600); do [ -e '${go}' ] && exit 0; sleep 0.05; done`),
      say("finished"),
      wait,
      say("heard you"),
      wait,
    ]);
    await fleet.said(attempt, "ready");
    const before = await fleet.process(attempt);
    const runner = fleet.runner(attempt);
    await fleet.kill(await fleet.tmuxServer());
    writeFileSync(go, "");
    await fleet.said(attempt, "finished");
    expect(await fleet.ok("peek", "a")).toContain("finished");
    expect([fleet.attempt(attempt).process, fleet.attempt(attempt).runner]).toEqual([before, runner]);
    await fleet.turns(attempt, 1);
    await fleet.ok("pause", "a");
    await fleet.ok("resume", "a");
    await fleet.said(attempt, "heard you");
    expect(fleet.processes.alive(before)).toBe(true);
    expect(fleet.attempt(attempt).legs).toBe(1);
    await fleet.ok("stop", "a");
    expect(fleet.attempt(attempt).end?.cause).toBe("stopped");
    expect(fleet.marked(attempt)).toEqual([]);
    rmSync(go, { force: true });
  });
});

test("PROC-1: runner, agent and tmux server killed together: one death in the log, nothing left, the work kept", async () => {
  const fleet = await fleetOf({ terminal: "tmux" });
  const { attempt, worktree } = await fleet.sling("a", [orphan, run("echo half > half.txt"), say("ready"), hang]);
  await fleet.said(attempt, "ready");
  const doomed = [fleet.runner(attempt), await fleet.process(attempt), await fleet.tmuxServer()];
  for (const one of doomed) fleet.processes.signal(one, "SIGKILL");
  for (const one of doomed) await fleet.kill(one);
  await fleet.ok("stop", "--all");
  expect(fleet.attempt(attempt).end).toMatchObject({ cause: "died" });
  expect(fleet.events(attempt, "agent.ended")).toHaveLength(1);
  expect(fleet.marked(attempt)).toEqual([]);
  rmSync(join(worktree, "half.txt"));
  await fleet.ok("worktree", "restore", fleet.attempt(attempt).end?.wip ?? "");
  expect(readFileSync(join(worktree, "half.txt"), "utf8")).toBe("half\n");
});

test("HOOK-3: an agent whose database is moved away continues, and what it did and how it ended is recorded when it is back", async () => {
  const fleet = await fleetOf();
  const { attempt, worktree, logDir } = await fleet.sling("a", [
    run("touch began; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done"),
    say("went on"),
    { kind: "fail", message: "enough", exitCode: 0 },
  ]);
  await eventually(
    () => existsSync(join(worktree, "began")),
    () => "the tool",
  );
  const agent = await fleet.process(attempt);
  const db = `${fleet.state}/overseer.db`;
  const parts = ["", "-wal", "-shm"].filter((part) => existsSync(`${db}${part}`));
  for (const part of parts) renameSync(`${db}${part}`, `${db}.aside${part}`);
  writeFileSync(db, "this is no database");
  writeFileSync(join(worktree, "go"), "");
  await eventually(
    () =>
      !fleet.processes.alive(agent) && readFileSync(`${logDir}/errors.log`, "utf8").includes("waiting for the store"),
    () => "the agent's own end, and its runner to wait",
  );
  rmSync(db);
  for (const part of parts) renameSync(`${db}.aside${part}`, `${db}${part}`);
  expect((await fleet.ended(attempt)).end).toMatchObject({ cause: "finished", exitCode: 0 });
  expect(fleet.signals(attempt).flatMap((one) => (one.kind === "said" ? [one.data.text] : []))).toContain("went on");
  expect(fleet.signals(attempt).map((one) => one.kind)).toContain("process.exited");
});

describe("FENCE-1", () => {
  test("a runner whose attempt was ended and replaced meanwhile leaves, changes nothing, and is recorded once", async () => {
    const fleet = await fleetOf();
    const spin: Step = { kind: "loop", steps: [say("still here"), { kind: "wait", ms: 100 }] };
    const first = await fleet.sling("a", [run("echo one > one.txt"), spin]);
    await fleet.said(first.attempt, "still here");
    const runner = fleet.runner(first.attempt);
    await fleet.hang(runner);
    await endInStore(fleet, first.attempt);
    const second = await fleet.sling("b", [], `${first.goalId}/${first.workNodeId}`);
    await fleet.said(second.attempt, "still here");
    const tables = () => ({
      first: fleet.attempt(first.attempt),
      pulse: fleet.pulse(first.attempt),
      signals: fleet.signals(first.attempt).length,
      second: fleet.attempt(second.attempt),
      nodes: fleet.rows("select * from nodes"),
      assignments: fleet.rows("select * from assignments"),
    });
    const before = tables();
    fleet.processes.signal(runner, "SIGCONT");
    await eventually(
      () => !fleet.processes.alive(runner),
      () => "the runner to leave",
    );
    expect(tables()).toEqual(before);
    expect(fleet.events(first.attempt, "agent.fenced")).toHaveLength(1);
    expect(fleet.events(first.attempt, "agent.ended")).toHaveLength(1);
    expect(fleet.marked(first.attempt)).toEqual([]);
    expect(fleet.marked(second.attempt)).not.toEqual([]);
  });

  test("attempts of another repository with the same number are strangers", async () => {
    const [one, other] = [await fleetOf(), await fleetOf()];
    const mine = await one.sling("a", [say("ready"), hang]);
    const theirs = await other.sling("a", [say("ready"), hang]);
    expect(theirs.attempt).toBe(mine.attempt);
    await other.said(theirs.attempt, "ready");
    const stranger = await other.process(theirs.attempt);
    await one.said(mine.attempt, "ready");
    await one.ok("nuke", "--all");
    expect(other.processes.alive(stranger)).toBe(true);
    expect(other.attempt(theirs.attempt).status).toBe("running");
  });
});

/** What another command would write, without ending any process: the runner does not know yet. */
async function endInStore(fleet: Fleet, number: number): Promise<void> {
  const { goalId, workNodeId, assignmentId } = fleet.attempt(number);
  const store = await openForWriting({ address: `${fleet.state}/overseer.db` });
  const end = { cause: "died", detail: "Ended by the test.", exitCode: null, signal: null, usage: NO_USAGE, wip: null };
  const outcome = await store.commit({
    at: Date.now(),
    reads: {
      attempt: attemptByNumber(number),
      node: nodeById(goalId, workNodeId),
      assignment: assignmentById(assignmentId),
    },
    decide: ({ attempt, ...around }) =>
      endAttempt(
        attempt,
        { ...around, waiting: [], parent: undefined },
        { ...end, cause: "died" },
        { now: Date.now(), actor: "overseer" },
      ),
  });
  expect(outcome.ok).toBe(true);
  await store.close();
}

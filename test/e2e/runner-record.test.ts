/**
 * What is written down about real agents: their logs, what they spent, quotas, floods kept small, secrets kept out,
 * and the handoff to the next attempt. Also where there is no tmux.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { accept } from "#domain/model/decision.ts";
import { PASSING_PER_SECOND } from "#runner/flood-gate.ts";
import type { Step } from "#runtimes/scripted/language.ts";
import { openForWriting } from "#store/open.ts";
import { SIGNALS_KEPT } from "#store/sqlite/signal-log.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";
import { run, say, wait } from "../support/steps.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();

test("LOG-1: a session leaves four files for its owner alone: words, signals, calls, errors", async () => {
  const fleet = await fleetOf();
  const { attempt, logDir } = await fleet.sling("a", [
    say("I begin."),
    run("exit 3"),
    { kind: "fail", message: "the model said no" },
  ]);
  await fleet.turns(attempt, 1);
  await fleet.ok("stop", "a");
  for (const name of ["session.log", "events.ndjson", "tools.ndjson", "errors.log"]) {
    expect(statSync(join(logDir, name)).mode & 0o777).toBe(0o600);
  }
  expect(fleet.log(attempt, "session.log")).toContain("I begin.");
  const lines = (name: "events.ndjson" | "tools.ndjson") =>
    fleet
      .log(attempt, name)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines("tools.ndjson").map((line) => line.event)).toEqual(["tool.started", "tool.ended"]);
  expect(lines("tools.ndjson")[1]).toMatchObject({ data: { tool: "Bash", ok: false, errorClass: "exit-3" } });
  expect(lines("events.ndjson").map((line) => line.event)).toContain("turn.ended");
  expect(fleet.log(attempt, "errors.log")).toContain("the model said no");
});

test("VALID-10, LOG-1: logs are kept in both formats, for people and for programs, and planted secrets are in neither, nor in the database, nor in what peek shows", async () => {
  // From files, because what a person writes into a task is redacted before an agent can say it.
  const files = PLANTED_SECRETS.map(({ text }, index) => [`${index}.txt`, text] as const);
  const fleet = await fleetOf({ files: Object.fromEntries(files) });
  const inFours = files.flatMap((_, at) => (at % 4 === 0 ? [files.slice(at, at + 4)] : []));
  const acrossTheCut = [100, 140, 880, 960].map((length) => run(`printf '%0${length}d ' 0; cat 0.txt; exit 1`));
  const { attempt, logDir } = await fleet.sling("a", [
    ...inFours.map((some) => run(some.map(([name]) => `cat ${name}; echo`).join("; "))),
    ...acrossTheCut,
    say("all said"),
    wait,
  ]);
  await fleet.turns(attempt, 1);
  const peeked = await fleet.ok("peek", "a", "-n", "1000");
  await fleet.ok("stop", "a", "--reason", `because ${PLANTED_SECRETS[0]?.text}`);
  const database = ["overseer.db", "overseer.db-wal"].map((name) => join(fleet.state, name));
  const logs = readdirSync(logDir).map((name) => join(logDir, name));
  const kept = [...database, ...logs].filter((path) => existsSync(path));
  const texts = [peeked, ...kept.map((path) => readFileSync(path, "latin1"))];
  for (const { kind, secret } of PLANTED_SECRETS) {
    for (const text of texts) expect(text.includes(secret) ? kind : "").toBe("");
  }
  const beginning = PLANTED_SECRETS[0]?.secret.slice(0, 24) ?? "";
  for (const text of texts) expect(text.includes(beginning)).toBe(false);
  expect(peeked).toContain("[redacted:");
  const forPeople = fleet.log(attempt, "session.log");
  expect(forPeople).toContain("all said");
  expect(forPeople).toContain("[redacted:");
  for (const name of ["events.ndjson", "tools.ndjson"] as const) {
    const forPrograms = fleet.log(attempt, name);
    expect(forPrograms).toContain("[redacted:");
    for (const line of forPrograms.trimEnd().split("\n")) {
      expect(JSON.parse(line)).toMatchObject({ event: expect.any(String), data: expect.any(Object) });
    }
  }
});

test("METRIC-1: what is counted is what the script spent, once, over legs and turns", async () => {
  const fleet = await fleetOf({ idleEnd: "1s" });
  const spend: Step = { kind: "usage", inputTokens: 100, outputTokens: 10, cacheReadTokens: 7, costUsd: 0.5 };
  const { attempt } = await fleet.sling("a", [
    spend,
    say("one"),
    run("true"),
    wait,
    say("two"),
    wait,
    say("three"),
    wait,
  ]);
  const legs = async (count: number) => {
    await fleet.turns(attempt, count);
    const process = await fleet.process(attempt);
    await eventually(
      () => !fleet.processes.alive(process),
      () => `the idle end of leg ${count}`,
    );
    await fleet.ok("pause", "a");
    await fleet.ok("resume", "a");
    await eventually(
      () => fleet.attempt(attempt).legs === count + 1,
      () => `leg ${count + 1}`,
    );
  };
  await legs(1);
  await legs(2);
  await fleet.turns(attempt, 3);
  await fleet.ok("stop", "a");
  // Messages of the model: one, the call, waiting; two, waiting; three, waiting.
  const messages = 7;
  const expected = {
    inputTokens: 100 * messages,
    outputTokens: 10 * messages,
    cacheReadTokens: 7 * messages,
    costUsd: 0.5 * messages,
    turns: 3,
    toolCalls: 1,
  };
  expect(fleet.attempt(attempt).end?.usage).toMatchObject(expected);
  const metrics = JSON.parse(await fleet.ok("metrics", "--json"));
  expect(metrics.sessions).toMatchObject([{ agent: "a", exit: "stopped", usage: expected }]);
  expect(metrics.byAgent).toMatchObject([{ key: "a", sessions: 1, ...expected }]);
});

test("a quota that was reached is a signal with its reset time, and the pulse knows until when", async () => {
  const fleet = await fleetOf();
  const resetsAt = "2030-01-31T12:00:00Z";
  const { attempt } = await fleet.sling("a", [
    { kind: "quota", attempts: 2, retryAfterMs: 10, givesUp: true, resetsAt },
  ]);
  const pulse = await fleet.turns(attempt, 1);
  const failed = fleet.signals(attempt).find((signal) => signal.kind === "api.failed");
  expect(failed?.data).toMatchObject({ cause: "quota", resetsAt: Date.parse(resetsAt) });
  expect(fleet.signals(attempt).filter((signal) => signal.kind === "api.retry")).toHaveLength(2);
  expect(pulse.quotaUntil).toBe(Date.parse(resetsAt));
  expect(fleet.attempt(attempt).status).toBe("running");
});

describe("a flood of 100 MB", () => {
  const floods: [to: "text" | "stderr", lines: number, bytes: number][] = [
    ["text", 20_000, 5_000],
    ["stderr", 20_000, 5_000],
    ["text", 10, 10_000_000],
  ];
  test.each(floods)("on %s, %d lines of %d bytes, leaves the runner and the store small", async (to, lines, bytes) => {
    const fleet = await fleetOf();
    const { attempt, logDir } = await fleet.sling("a", [{ kind: "flood", lines, bytes, to }, say("flooded"), wait]);
    let most = 0;
    await eventually(
      () => {
        most = Math.max(most, residentKb(fleet.runner(attempt).pid));
        return (fleet.pulse(attempt)?.turns ?? 0) > 0;
      },
      () => "the end of the flood",
    );
    expect(most).toBeLessThan(400 * 1024);
    expect(fleet.signals(attempt).length).toBeLessThan(Math.min(SIGNALS_KEPT, PASSING_PER_SECOND * 100));
    const stored = fleet.rows<{ bytes: number }>("select sum(length(data)) as bytes from signals")[0]?.bytes ?? 0;
    expect(stored).toBeLessThan(8 * 1024 * 1024);
    const logged = readdirSync(logDir).reduce((sum, name) => sum + statSync(join(logDir, name)).size, 0);
    expect(logged).toBeLessThan(40 * 1024 * 1024);
    await fleet.ok("stop", "a");
    expect(fleet.attempt(attempt).end?.cause).toBe("stopped");
  });
});

function residentKb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // gone, or not Linux
  }
}

test("CRYS-2: the next attempt is primed with the last handoff and knows where the uncommitted work is", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [run("echo half > half.txt"), say("ready"), wait]);
  await fleet.turns(first.attempt, 1);
  await recordHandoff(fleet, first.goalId, first.workNodeId);
  await fleet.ok("stop", "a");
  const second = await fleet.sling("b", [], `${first.goalId}/${first.workNodeId}`);
  const prompt = readFileSync(`${fleet.state}/run/attempts/${second.attempt}/system-prompt.md`, "utf8");
  expect(prompt).toContain("The lexer reads dates");
  expect(prompt).toContain("Write the parser next");
  const wip = fleet.attempt(first.attempt).end?.wip ?? "no snapshot";
  expect(prompt).toContain(wip);
  expect(gitIn(fleet.repo.path, "rev-parse", "--verify", wip)).toMatch(/^[0-9a-f]{40}/);
});

async function recordHandoff(fleet: Fleet, goalId: string, nodeId: string): Promise<void> {
  const store = await openForWriting({ address: `${fleet.state}/overseer.db` });
  const data = {
    crystallizationId: "C_TEST000001",
    level: "task",
    summary: "The lexer reads dates",
    currentState: "Half of it is there",
    decisions: [],
    nextActions: ["Write the parser next"],
    openQuestions: [],
    knownBlockers: [],
    evidence: NO_EVIDENCE,
    transcripts: [],
  } as const;
  const outcome = await store.commit({
    at: Date.now(),
    reads: {},
    decide: () =>
      accept([{ type: "crystallization.recorded", actor: "overseer", goalId, nodeId, because: "test", data }], null),
  });
  expect(outcome.ok).toBe(true);
  await store.close();
}

describe("without tmux", () => {
  /** Everything on PATH but tmux. */
  function pathWithoutTmux(): string {
    const bin = tempDir("bin-");
    for (const directory of (process.env.PATH ?? "").split(":").filter((one) => existsSync(one))) {
      for (const name of readdirSync(directory)) {
        if (name !== "tmux" && !existsSync(join(bin, name))) {
          try {
            symlinkSync(join(directory, name), join(bin, name));
          } catch (error) {
            if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
          }
        }
      }
    }
    return bin;
  }

  test("RUN-1: `terminal: auto` runs agents detached; peek, messages and stop work the same", async () => {
    const fleet = await fleetOf({ env: { PATH: pathWithoutTmux() } });
    const { attempt } = await fleet.sling("a", [say("ready"), wait, say("went on"), wait]);
    await fleet.turns(attempt, 1);
    expect(fleet.attempt(attempt).terminal).toMatchObject({ kind: "detached" });
    expect(await fleet.ok("peek", "a")).toContain("ready");
    await fleet.ok("pause", "a");
    await fleet.ok("resume", "a");
    await fleet.said(attempt, "went on");
    const attach = await fleet.run("attach", "a");
    expect(attach.code).toBe(4);
    expect(attach.stderr).toContain("peek");
    await fleet.ok("stop", "a");
    expect(fleet.marked(attempt)).toEqual([]);
  });

  test("RUN-1: `terminal: tmux` refuses with the next step and leaves nothing behind", async () => {
    const fleet = await fleetOf({ terminal: "tmux", env: { PATH: pathWithoutTmux() } });
    const refs = () => gitIn(fleet.repo.path, "for-each-ref");
    const before = refs();
    const said = await fleet.run("sling", "--runtime", "scripted", "--prompt", "work");
    expect(said.code).toBe(5);
    expect(said.stderr).toContain("tmux");
    expect(said.stderr).toMatch(/terminal: (detached|auto)/);
    expect(fleet.rows("select * from attempts")).toEqual([]);
    expect(fleet.rows("select * from goals")).toEqual([]);
    expect(refs()).toBe(before);
    expect(gitIn(fleet.repo.path, "worktree", "list").split("\n")).toHaveLength(1);
  });
});

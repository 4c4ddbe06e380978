/**
 * Driving a real agent: pause, resume, stop, idle ends and new legs, deadlines, the view in tmux and what is typed
 * there, agents that hang or ignore everything. What people have beside ours stays as it is.
 */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { hang, run, say, wait } from "../support/steps.ts";
import { gitIn, tempDir } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();

/** A tool that runs until the test lets it go. */
function gate() {
  const go = join(tempDir("gate-"), "go");
  return {
    step: run(`for i in $(seq 600); do [ -e '${go}' ] && exit 0; sleep 0.05; done`),
    open: () => writeFileSync(go, ""),
  };
}

/** Types a line into the agent's view, as a person who is attached would. */
async function type(fleet: Fleet, attempt: number, line: string): Promise<void> {
  await fleet.tmux("send-keys", "-t", `=ov-${attempt}:`, "-l", "--", line);
  await fleet.tmux("send-keys", "-t", `=ov-${attempt}:`, "Enter");
}

describe("CTL-1: pause", () => {
  test("the turn is finished, messages wait, and resume continues with them", async () => {
    const fleet = await fleetOf({ terminal: "tmux" });
    const door = gate();
    const { attempt } = await fleet.sling("a", [
      say("ready"),
      door.step,
      say("turn finished"),
      wait,
      say("went on"),
      wait,
    ]);
    await fleet.said(attempt, "ready");
    await fleet.ok("pause", "a");
    await type(fleet, attempt, "hello while paused");
    await eventually(
      () => fleet.messages(attempt).length === 2,
      () => "the typed message",
    );
    door.open();
    await fleet.said(attempt, "turn finished");
    await fleet.turns(attempt, 1);
    expect(fleet.attempt(attempt).status).toBe("paused");
    expect(fleet.messages(attempt)[1]?.status).toBe("queued");
    await fleet.ok("resume", "a");
    await fleet.said(attempt, "went on");
    await eventually(
      () => fleet.messages(attempt).every((message) => message.status === "seen"),
      () => `all messages to be seen: ${JSON.stringify(fleet.messages(attempt))}`,
    );
    expect(fleet.attempt(attempt)).toMatchObject({ status: "running", legs: 1 });
  });

  test("--now breaks the turn off without ending the agent, and resume takes the task up again", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", [say("ready"), { ...hang, in: "tool", once: true }, say("went on")]);
    await fleet.said(attempt, "ready");
    const before = await fleet.process(attempt);
    await fleet.ok("pause", "a", "--now");
    await fleet.turns(attempt, 1);
    expect(fleet.signals(attempt).find((signal) => signal.kind === "turn.ended")?.data).toMatchObject({ ok: false });
    expect(fleet.attempt(attempt).process).toEqual(before);
    await fleet.ok("resume", "a");
    await fleet.said(attempt, "went on");
    expect(fleet.attempt(attempt)).toMatchObject({ status: "running", process: before });
  });

  test("a paused agent can be stopped", async () => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", [say("ready"), hang]);
    await fleet.said(attempt, "ready");
    await fleet.ok("pause", "a");
    await fleet.ok("stop", "a", "--reason", "enough");
    expect(fleet.attempt(attempt).end).toMatchObject({ cause: "stopped", detail: expect.stringContaining("enough") });
    expect(fleet.marked(attempt)).toEqual([]);
  });
});

describe("CTL-1: stop", () => {
  const stubborn: [why: string, steps: Step[]][] = [
    ["hangs in thought", [say("ready"), hang]],
    ["hangs in a tool that ignores SIGTERM", [say("ready"), run("trap '' TERM; while :; do sleep 0.1; done")]],
    ["is deaf", [{ kind: "ignore", messages: "deaf" }, say("ready"), wait]],
    ["ignores what it is told", [{ kind: "ignore", messages: "content" }, say("ready"), wait]],
    ["loops", [say("ready"), { kind: "loop", steps: [run("true"), say("again")] }]],
    ["oscillates", [say("ready"), { kind: "oscillate", file: "x.txt", between: ["a\n", "b\n"] }]],
  ];
  test.each(stubborn)("ends an agent that %s, and all it started", async (_why, steps) => {
    const fleet = await fleetOf();
    const { attempt } = await fleet.sling("a", steps);
    await fleet.said(attempt, "ready");
    await fleet.ok("stop", "a");
    expect(fleet.attempt(attempt)).toMatchObject({ status: "ended", end: { cause: "stopped" } });
    expect(fleet.events(attempt, "agent.ended")).toHaveLength(1);
    expect(fleet.marked(attempt)).toEqual([]);
  });

  test("an agent that was suspended and has a long message before it is ended all the same", async () => {
    const fleet = await fleetOf({ stopGrace: "500ms" });
    const { attempt } = await fleet.sling("a", [say("ready"), wait, say("never")]);
    await fleet.turns(attempt, 1);
    const agent = await fleet.process(attempt);
    fleet.processes.signal(agent, "SIGSTOP");
    await fleet.ok("pause", "a");
    await fleet.ok("resume", "a", "--reason", "x".repeat(60_000));
    await fleet.ok("pause", "a");
    await fleet.ok("resume", "a", "--reason", "y".repeat(60_000));
    await fleet.ok("stop", "a");
    expect(fleet.attempt(attempt).end?.cause).toBe("stopped");
    expect(fleet.processes.alive(agent)).toBe(false);
  });

  test("PROC-1: the sibling whose name begins the same is untouched", async () => {
    const fleet = await fleetOf({ terminal: "tmux" });
    const b = await fleet.sling("b", [say("ready"), hang]);
    const b2 = await fleet.sling("b-2", [say("ready"), hang]);
    await fleet.said(b.attempt, "ready");
    await fleet.said(b2.attempt, "ready");
    const [agent, runner] = [await fleet.process(b2.attempt), fleet.runner(b2.attempt)];
    await fleet.ok("stop", "b");
    expect(fleet.attempt(b.attempt).status).toBe("ended");
    expect([fleet.processes.alive(agent), fleet.processes.alive(runner)]).toEqual([true, true]);
    expect(await fleet.tmux("list-sessions", "-F", "#{session_name}")).toContain(`ov-${b2.attempt}\n`);
    expect(await fleet.ok("peek", "b-2")).toContain("ready");
  });
});

test("CTL-1: reset takes worktree and branch away, keeps the work, and the task is free again", async () => {
  const fleet = await fleetOf();
  const { attempt, worktree, branch, goalId, workNodeId } = await fleet.sling("a", [
    run("echo kept > kept.txt"),
    say("ready"),
    hang,
  ]);
  await fleet.said(attempt, "ready");
  const said = await fleet.ok("reset", "a");
  expect(existsSync(worktree)).toBe(false);
  expect(gitIn(fleet.repo.path, "branch", "--list", branch)).toBe("");
  expect(said).toContain("refs/overseer/");
  const ref = fleet.attempt(attempt).end?.wip ?? "";
  const second = await fleet.sling("b", [], `${goalId}/${workNodeId}`);
  await fleet.ok("stop", "b");
  rmSync(join(second.worktree, "kept.txt"), { force: true });
  await fleet.ok("worktree", "restore", ref, "--into", second.worktree);
  expect(await Bun.file(join(second.worktree, "kept.txt")).text()).toBe("kept\n");
});

test("CTL-1: nuke --all leaves no process, session, worktree or branch, and a person's own tmux is untouched", async () => {
  const fleet = await fleetOf({ terminal: "tmux" });
  const persons = join(tempDir("person-"), "s");
  const person = (...words: string[]) => Bun.spawnSync(["tmux", "-f", "/dev/null", "-S", persons, ...words]);
  try {
    expect(person("new-session", "-d", "-s", "ov-1", "sleep 600").exitCode).toBe(0);
    const slung = [await fleet.sling("a", [say("ready"), hang]), await fleet.sling("b", [say("ready"), wait])];
    for (const { attempt } of slung) await fleet.said(attempt, "ready");
    expect(slung[0]?.attempt).toBe(1);
    await fleet.ok("nuke", "--all");
    for (const { attempt, worktree, branch } of slung) {
      expect(fleet.marked(attempt)).toEqual([]);
      expect(existsSync(worktree)).toBe(false);
      expect(gitIn(fleet.repo.path, "branch", "--list", branch)).toBe("");
      expect(existsSync(`${fleet.state}/run/attempts/${attempt}`)).toBe(false);
    }
    expect(await fleet.tmux("list-sessions", "-F", "#{session_name}")).toBe("");
    expect(person("list-sessions", "-F", "#{session_name}").stdout.toString()).toBe("ov-1\n");
    expect(gitIn(fleet.repo.path, "worktree", "list").split("\n")).toHaveLength(1);
  } finally {
    person("kill-server");
  }
});

test("RUN-1: an idle agent is ended and resumed by its session when a message comes: another leg, the same attempt", async () => {
  const fleet = await fleetOf({ idleEnd: "1s", terminal: "tmux" });
  const { attempt } = await fleet.sling("a", [
    run("echo once >> log.txt"),
    wait,
    run("echo twice >> log.txt"),
    say("on"),
  ]);
  await fleet.turns(attempt, 1);
  const first = await fleet.process(attempt);
  await eventually(
    () => !fleet.processes.alive(first),
    () => "the idle agent's process to end",
  );
  expect(fleet.attempt(attempt)).toMatchObject({ status: "running", legs: 1 });
  await type(fleet, attempt, "go on");
  await fleet.said(attempt, "● on");
  const now = fleet.attempt(attempt);
  expect(now).toMatchObject({ status: "running", legs: 2 });
  expect(now.process).not.toEqual(first);
  expect(new Set(fleet.events(attempt, "agent.leg").map((event) => event.data.session)).size).toBe(1);
  expect(await Bun.file(join(now.worktree, "log.txt")).text()).toBe("once\ntwice\n");
});

test("RUN-1: a turn that outlives its deadline is interrupted; the agent stays", async () => {
  const fleet = await fleetOf({ turnDeadline: "2s" });
  const { attempt } = await fleet.sling("a", [say("ready"), { kind: "hang", in: "tool" }]);
  await fleet.turns(attempt, 1);
  expect(fleet.signals(attempt).find((signal) => signal.kind === "turn.ended")?.data).toMatchObject({
    ok: false,
    reason: "aborted_tools",
  });
  expect(fleet.log(attempt, "session.log")).toContain("turn-deadline");
  expect(fleet.attempt(attempt).status).toBe("running");
});

describe("the view in tmux", () => {
  test("CTL-1: shows what happens, and a line typed there is a message that the agent sees", async () => {
    const fleet = await fleetOf({ terminal: "tmux" });
    const { attempt } = await fleet.sling("a", [say("I begin."), run("echo hello"), wait, say("I heard."), wait]);
    await fleet.turns(attempt, 1);
    const view = await fleet.tmux("capture-pane", "-p", "-t", `=ov-${attempt}:`);
    expect(view).toContain("● I begin.");
    expect(view).toMatch(/⚙ Bash .*echo hello/);
    await type(fleet, attempt, "please continue; $HOME `id` 'quoted' ü");
    await fleet.said(attempt, "I heard.");
    const message = fleet.messages(attempt).at(-1);
    expect(message).toMatchObject({ from: "human:terminal", body: "please continue; $HOME `id` 'quoted' ü" });
    await eventually(
      () => fleet.messages(attempt).at(-1)?.status === "seen",
      () => "the message to be seen",
    );
  });

  test("hostile text reaches neither the screen nor the log as control characters", async () => {
    const fleet = await fleetOf({ terminal: "tmux" });
    const hostile = "\u001b]0;owned\u0007\u001b[2J\u001b[31mred\u009b1m\r\b\u202egnp.exe end-of-hostile";
    const { attempt } = await fleet.sling("a", [
      say(hostile),
      run("printf '\\033[2J\\033]0;tool\\007end-of-tool'"),
      wait,
    ]);
    await fleet.turns(attempt, 1);
    const log = await fleet.said(attempt, "end-of-tool");
    const view = await fleet.tmux("capture-pane", "-p", "-e", "-t", `=ov-${attempt}:`);
    for (const text of [view, log, await fleet.ok("peek", "a")]) {
      expect(text).toContain("end-of-hostile");
      expect(text).toContain("end-of-tool");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect(await fleet.tmux("display-message", "-p", "-t", `=ov-${attempt}:`, "#{pane_title}")).not.toContain("owned");
  });
});

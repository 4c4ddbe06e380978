/**
 * The guard as people use it, with a real daemon and agents at work: who starts and ends what, what stays, what is said. What
 * it makes of failures is in guard-faults.test.ts. A few in an ordinary run, all of them in the long lane.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runFiles } from "#sys/run-files.ts";
import { bundled } from "../support/cli.ts";
import { endedGuards, type GuardedFleet } from "../support/guarded-fleet.ts";
import { waitFor } from "../support/planned-goal.ts";
import { isLongLane } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";

setDefaultTimeout(60_000);
beforeAll(bundled);

const guardOf = endedGuards({ terminal: "tmux" });

/** An agent that is in the middle of a tool call until somebody lets it continue. */
async function busyAgent({ fleet }: GuardedFleet, name = "ada") {
  const go = join(tempDir("go-"), "go");
  const { attempt } = await fleet.sling(name, [waitFor(`test -f ${go}`)]);
  return { attempt, process: await fleet.process(attempt), go };
}

test("GUARD-6, FAIL-17: a daemon killed with -9 is started again and adopts its agents; the first Ctrl-C ends it in order, agents stay, and the next guard begins anew", async () => {
  const guarded = await guardOf();
  const { fleet } = guarded;
  await guarded.watching();
  const agent = await busyAgent(guarded);
  const first = fleet.theDaemon();
  await fleet.kill(first);
  const second = await guarded.running(first.pid);
  expect(fleet.all("daemon.adopted").at(-1)?.data.agents).toMatchObject([{ attempt: agent.attempt }]);
  expect([await fleet.process(agent.attempt), fleet.all("agent.slung").length]).toEqual([agent.process, 1]);
  expect(guarded.remedied()).toBe(0);

  const child = await guarded.stopBy("SIGINT");
  expect([child, fleet.processes.alive(second), fleet.processes.alive(agent.process)]).toEqual([0, false, true]);
  expect([fleet.daemon(), guarded.file()?.phase, guarded.file()?.gaveUp]).toEqual([undefined, "terminated", null]);
  expect(readFileSync(join(fleet.state, "logs/guard.log"), "utf8").trim().split("\n").at(-1)).toContain("Ended.");

  await guarded.watching();
  expect(fleet.processes.alive(agent.process)).toBe(true);
});

test("GUARD-6: 'down' leaves the guard standing by, 'up' brings the daemon back under watch, 'nuke --all' never touches the guard, and 'guard stop' leaves the daemon", async () => {
  const guarded = await guardOf();
  const { fleet } = guarded;
  const child = await guarded.watching();
  await busyAgent(guarded);
  const first = fleet.theDaemon();
  await fleet.ok("down", "--agents", "--reason", "a release");
  await guarded.until(() => guarded.file()?.phase === "standing-by", "a guard that stands by");
  expect(guarded.said()).toContain("stopped on purpose (a release)");
  await fleet.ok("nuke", "--all", "--discard");
  const { guard } = JSON.parse(await fleet.ok("guard", "status", "--json"));
  expect(guard).toMatchObject({ alive: true, pid: child.pid, phase: "standing-by", daemon: null, gaveUp: null });

  await fleet.ok("up");
  const second = await guarded.running(first.pid);
  expect(guarded.count("Starting the daemon")).toBe(1);
  await fleet.kill(second);
  const third = await guarded.running(second.pid);

  expect(JSON.parse(await fleet.ok("guard", "stop", "--json"))).toEqual({ pid: child.pid, stopped: true });
  expect([await guarded.ended(), fleet.processes.alive(third)]).toEqual([0, true]);
  expect(await fleet.ok("guard", "status")).toContain("the daemon keeps running");
  expect(JSON.parse(await fleet.ok("guard", "stop", "--json"))).toEqual({ pid: null, stopped: false });
});

if (isLongLane()) {
  test("GUARD-6: the second Ctrl-C ends the guard at once, also while the daemon takes its time", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const child = await guarded.watching();
    const daemon = fleet.theDaemon();
    fleet.processes.signal(daemon, "SIGSTOP");
    child.kill("SIGINT");
    await guarded.says("Press Ctrl-C again");
    child.kill("SIGINT");
    expect(await guarded.ended()).toBe(130);
    fleet.processes.signal(daemon, "SIGCONT");
    // What the first one asked for is done all the same.
    await guarded.until(() => !fleet.processes.alive(daemon), "the end of the daemon");
  });

  test("GUARD-6: Ctrl-C while the daemon comes up leaves none behind", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const child = guarded.start();
    await guarded.says("Starting the daemon");
    child.kill("SIGINT");
    expect(await guarded.ended()).toBe(0);
    expect(fleet.daemon()).toBeUndefined();
    expect(JSON.parse(readFileSync(runFiles(fleet.state).intent, "utf8"))).toMatchObject({ want: "down" });
  });

  test("GUARD-4, GUARD-8: a file that asks for a person stops the guard with its text, refuses the next one, and its removal lets it begin", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    await guarded.watching();
    const daemon = fleet.theDaemon();
    const path = join(fleet.userDir, "manual_intervention_needed_7.txt");
    writeFileSync(path, "The licence server needs a new key.\n");
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp).toMatchObject({ code: "MANUAL_INTERVENTION" });
    expect(guarded.said()).toContain("The licence server needs a new key.");
    expect(fleet.processes.alive(daemon)).toBe(true);
    guarded.start();
    expect([await guarded.ended(), guarded.count(`rm ${path}`)]).toEqual([4, 1]);
    rmSync(path);
    await guarded.watching();
    expect(fleet.theDaemon().pid).toBe(daemon.pid);
  });

  test("GUARD-4: a remediation that leaves such a file ends the guard without another start", async () => {
    const remedy = "echo 'Only Ada knows.' > .overseer/manual_intervention_needed_1.txt";
    const guarded = await guardOf({ remedy });
    const { fleet } = guarded;
    await guarded.watching();
    fleet.processes.signal(fleet.theDaemon(), "SIGSTOP");
    expect(await guarded.ended()).toBe(5);
    expect(guarded.file()?.gaveUp?.why).toContain("Only Ada knows.");
    expect([guarded.remedied(), guarded.count("Starting the daemon")]).toEqual([1, 1]);
  });

  test("GUARD-6: a second guard is refused and named; one that was killed leaves no lock, adopts the daemon and remembers", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const first = await guarded.watching();
    const second = await fleet.run("guard");
    expect([second.code, second.stderr]).toEqual([4, expect.stringContaining(`pid ${first.pid}`)]);
    const daemon = fleet.theDaemon();
    await fleet.kill(daemon);
    const next = await guarded.running(daemon.pid);
    await guarded.until(() => guarded.file()?.memory.vanished === 1, "its memory of the death");
    first.kill("SIGKILL");
    await first.exited;
    expect(fleet.processes.alive(next)).toBe(true);
    expect(JSON.parse(await fleet.ok("guard", "status", "--json"))).toMatchObject({
      guard: { alive: false, pid: first.pid },
    });
    await guarded.watching();
    expect([fleet.theDaemon().pid, guarded.count("Starting the daemon")]).toEqual([next.pid, 2]);
    await fleet.kill(next);
    expect([await guarded.ended(), guarded.file()?.gaveUp?.code]).toEqual([5, "GUARD_SPIRAL"]);
  });

  test("GUARD-1: registrations of earlier lives, the daemon's and the guard's, are read as what they are", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const first = await guarded.watching();
    first.kill("SIGKILL");
    await first.exited;
    const daemon = fleet.theDaemon();
    await fleet.kill(daemon);
    expect(fleet.daemon()?.pid).toBe(daemon.pid);
    expect(await fleet.ok("guard", "stop")).toContain("No guard was running");
    await guarded.watching();
    expect(fleet.theDaemon().instance).not.toBe(daemon.instance);
    // Somebody clears run/ away under both: the daemon puts back what is its own, and nobody is restarted.
    const { pid } = fleet.theDaemon();
    rmSync(runFiles(fleet.state).registration);
    rmSync(runFiles(fleet.state).guard);
    await guarded.until(() => fleet.daemon()?.pid === pid && guarded.file()?.daemon?.pid === pid, "both files again");
    expect(guarded.count("✗")).toBe(0);
  });

  test("GUARD-1: 'guard --once' starts, finds well, restarts, and stops at a spiral until a person starts it", async () => {
    const guarded = await guardOf();
    const { fleet } = guarded;
    const once = async () => {
      guarded.start("--once");
      return guarded.ended();
    };
    expect(await once()).toBe(0);
    const first = fleet.theDaemon();
    expect([await once(), fleet.theDaemon().pid]).toEqual([0, first.pid]);
    await fleet.kill(first);
    expect(await once()).toBe(0);
    const second = fleet.theDaemon();
    expect([second.pid === first.pid, guarded.file()?.memory.vanished]).toEqual([false, 1]);
    await fleet.kill(second);
    expect([await once(), await once()]).toEqual([5, 5]);
    expect([guarded.count("Starting the daemon"), fleet.processes.alive(second)]).toEqual([2, false]);
    await fleet.ok("up");
    const third = fleet.theDaemon();
    expect([await once(), fleet.theDaemon().pid, guarded.file()?.memory.vanished]).toEqual([0, third.pid, 0]);
    fleet.processes.signal(third, "SIGSTOP");
    await guarded.until(() => Date.now() - guarded.beat().at > 2_000, "a heart that stands still");
    expect([await once(), guarded.remedied(), fleet.processes.alive(third)]).toEqual([0, 1, false]);
    await fleet.ok("down");
    expect([await once(), fleet.daemon()]).toEqual([0, undefined]);
  });

  test("GUARD-9: an agent that works for long in one turn is no stall, nor is a fleet with nothing to do", async () => {
    const guarded = await guardOf({ guard: { stallAfter: "1500ms" }, tick: "200ms" });
    const { fleet } = guarded;
    await guarded.watching();
    await guarded.ticks(12);
    const agent = await busyAgent(guarded);
    await guarded.ticks(12);
    expect([guarded.count("✗"), guarded.count("Starting the daemon")]).toEqual([0, 1]);
    expect(fleet.processes.alive(agent.process)).toBe(true);
    writeFileSync(agent.go, "");
  });

  test("GUARD-4: people are told by their channel when the guard remediates and when it gives up", async () => {
    const heard = join(tempDir("heard-"), "heard");
    writeFileSync(`${heard}.sh`, `#!/bin/sh\ncat >> ${heard}\n`, { mode: 0o755 });
    const channels = `channels: {people: {ada: {via: command, to: ${heard}.sh}}}\n`;
    const guarded = await guardOf({ more: channels });
    const { fleet } = guarded;
    await guarded.watching();
    const first = fleet.theDaemon();
    fleet.processes.signal(first, "SIGSTOP");
    const second = await guarded.running(first.pid);
    fleet.processes.signal(second, "SIGSTOP");
    expect(await guarded.ended()).toBe(5);
    const told = existsSync(heard) ? readFileSync(heard, "utf8") : "";
    expect(told).toContain("An agent looks at it");
    expect(told.slice(told.indexOf("An agent looks at it"))).toContain("GUARD_SPIRAL");
  });
}

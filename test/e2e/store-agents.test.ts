/**
 * The database is cut off, emptied or taken away while agents are at work: one command gets out of it, the agents keep running,
 * what they did meanwhile is in the log that came back, and no number of an attempt is ever given twice.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyPath, highWater } from "#store/sqlite/log-copy.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { run, say } from "../support/steps.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets();

/** An agent in the middle of a tool, which ends once the file `go` is there. */
async function atWork(fleet: Fleet, name: string) {
  const attempt = await fleet.sling(name, [
    run("touch began; for i in $(seq 600); do [ -e go ] && exit 0; sleep 0.05; done"),
    say("went on"),
    { kind: "fail", message: "enough", exitCode: 0 },
  ]);
  await eventually(
    () => existsSync(join(attempt.worktree, "began")),
    () => "the tool",
  );
  return { ...attempt, process: await fleet.process(attempt.attempt) };
}

const backupsOf = (fleet: Fleet) => `${fleet.state}/backups`;

test("STORE-5, ADOPT-1: of a database that was emptied under agents, one command brings everything back, and they continue", async () => {
  const fleet = await fleetOf({ terminal: "detached" });
  const agent = await atWork(fleet, "a");
  const known = fleet.happened();
  expect(highWater(backupsOf(fleet))?.attempt).toBe(agent.attempt);
  truncateSync(`${fleet.state}/overseer.db`, 0);
  const stop = await fleet.run("stop", "a");
  expect([stop.code, stop.stderr]).toEqual([5, expect.stringContaining("doctor --fix")]);

  const fixed = await fleet.run("doctor", "--fix");
  expect(fixed.stdout).toMatch(/recovered \d+ events/);
  expect(fleet.processes.alive(agent.process)).toBe(true);
  expect(fleet.attempt(agent.attempt).status).toBe("running");
  const back = fleet.happened();
  const kept = back.findIndex(({ type }) => type === "overseer.store.corrupt");
  expect(back.slice(0, kept).map(({ seq }) => seq)).toEqual(known.slice(0, kept).map(({ seq }) => seq));
  expect(back.some(({ type }) => type === "agent.started")).toBe(true);

  writeFileSync(join(agent.worktree, "go"), "");
  expect((await fleet.ended(agent.attempt)).end).toMatchObject({ cause: "finished", exitCode: 0 });
  expect(fleet.signals(agent.attempt).flatMap((one) => (one.kind === "said" ? [one.data.text] : []))).toContain(
    "went on",
  );
  await fleet.ok("thaw");
  expect((await fleet.sling("b", [say("here")])).attempt).toBeGreaterThan(agent.attempt);
});

test("STORE-5: in safe mode nothing is delivered to an agent at work", async () => {
  const fleet = await fleetOf({ terminal: "detached" });
  const agent = await atWork(fleet, "a");
  const safe = { since: "now", problem: "A test.", movedTo: [] };
  writeFileSync(`${fleet.state}/run/safe-mode.json`, JSON.stringify(safe));
  await fleet.ok("mail", "send", "--to", "a", "--subject", "Hello", "--body", "Are you there?");
  const mail = fleet.messages(agent.attempt).find((one) => one.kind === "mail");
  // Its runner was told of it, and would have put it on the agent's pipe in the middle of its turn.
  await fleet.ok("status");
  writeFileSync(join(agent.worktree, "go"), "");
  await fleet.ended(agent.attempt);
  expect(mail?.status).toBe("queued");
  expect(fleet.all("message.handed").map(({ data }) => data.messageId)).not.toContain(mail?.messageId);
});

test("STORE-5: where only an older backup is left, agents that it does not know keep their numbers to themselves", async () => {
  const fleet = await fleetOf({ terminal: "detached" });
  await fleet.ok("goal", "create", "Kept");
  await fleet.ok("store", "backup");
  const agent = await atWork(fleet, "a");
  rmSync(copyPath(backupsOf(fleet)));
  truncateSync(`${fleet.state}/overseer.db`, 0);
  const fixed = await fleet.run("doctor", "--fix");
  expect(fixed.stdout).not.toContain("removed the worktree");
  expect(fleet.processes.alive(agent.process)).toBe(true);
  await fleet.ok("thaw");
  const { attempt } = await fleet.sling("b", [say("here")]);
  expect(attempt).toBeGreaterThan(agent.attempt);
  expect(existsSync(join(agent.worktree, "began"))).toBe(true);
});

test("FAIL-20, SAFE-1, ADOPT-1: a daemon gets out of it by itself, with agents at work, and waits for a person", async () => {
  const fleet = await fleetOf({ terminal: "detached" });
  const agent = await atWork(fleet, "a");
  await fleet.ok("up");
  truncateSync(`${fleet.state}/overseer.db`, 0);
  await eventually(
    () => fleet.daemonLog().some((one) => one.event === "store.repaired"),
    () => `the daemon to fix it; ${JSON.stringify(fleet.daemonLog().slice(-3))}`,
  );
  expect(fleet.attempt(agent.attempt).status).toBe("running");
  writeFileSync(join(agent.worktree, "go"), "");
  expect((await fleet.ended(agent.attempt)).end).toMatchObject({ cause: "finished" });
  expect(await fleet.ok("status")).toContain("SAFE MODE");
  await fleet.ok("down");
});

/**
 * Going on after a death: a restarted agent has the worktree, the branch, the conversation and the unseen messages of
 * the attempt before it, and does nothing twice. With the scripted agent, whose sessions outlive it as real ones do.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { scaled } from "../support/scale.ts";
import { run, say } from "../support/steps.ts";
import { gitIn } from "../support/temp.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

/** A tool call that lasts until it is killed; the first time only. */
const held = run("echo one >> count.txt; [ -e held ] || { touch held; exec tail -f /dev/null; }");
const WORK = [run("echo half > half.txt"), held, run("cat half.txt > whole.txt"), say("finished")];

async function restarted(fleet: Fleet, name: string) {
  const { attempt } = JSON.parse(await fleet.ok("restart", name, "--json")) as { attempt: number };
  return fleet.attempt(attempt);
}

test.each(["agent", "runner"] as const)(
  "FAIL-5: with its %s killed in a tool call, a restart continues in the same session, and nothing is done twice",
  async (victim) => {
    const fleet = await fleetOf();
    const first = await fleet.sling("a", WORK);
    await eventually(
      () => existsSync(join(first.worktree, "held")),
      () => "the tool to be at it",
    );
    await fleet.kill(victim === "agent" ? await fleet.process(first.attempt) : fleet.runner(first.attempt));
    const second = await restarted(fleet, "a");
    await fleet.said(second.attempt, "finished");
    const { worktree, branch, session, base, scope } = fleet.attempt(first.attempt);
    expect(fleet.attempt(second.attempt)).toMatchObject({ worktree, branch, session, base, scope, continues: 1 });
    expect(fleet.attempt(first.attempt).end?.cause).toBe("died");
    expect(readFileSync(join(worktree, "count.txt"), "utf8")).toBe("one\n");
    expect(readFileSync(join(worktree, "whole.txt"), "utf8")).toBe("half\n");
    expect(fleet.marked(first.attempt)).toEqual([]);
    const list = JSON.parse(await fleet.ok("worktree", "list", "--json")) as { attempt: number }[];
    expect(list.map((one) => one.attempt)).toEqual([second.attempt]);
  },
);

test("FAIL-5: messages it never saw are given to its successor, once; those that reached the session are not", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("pause", "a");
  await fleet.ok("resume", "a", "--reason", "the first word");
  await fleet.turns(first.attempt, 2);
  await fleet.hang(fleet.runner(first.attempt));
  await fleet.ok("pause", "a");
  await fleet.ok("resume", "a", "--reason", "the second word");
  await fleet.kill(fleet.runner(first.attempt));
  const second = await restarted(fleet, "a");
  await fleet.turns(second.attempt, 1);
  const bodies = fleet.messages(second.attempt).map((one) => one.body);
  expect(bodies).toHaveLength(2);
  expect(bodies[0]).toContain("cut off in the middle");
  expect(bodies[1]).toContain("the second word");
  const third = await restarted(fleet, "a");
  expect(fleet.attempt(second.attempt).end?.cause).toBe("stopped");
  expect(fleet.messages(third.attempt).map((one) => one.body)).toEqual([expect.stringContaining("cut off")]);
});

test("FAIL-5: with its session gone it begins its task again, in the worktree as it is", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [run("echo half > half.txt"), say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("stop", "a");
  rmSync(`${fleet.state}/run/scripted`, { recursive: true });
  const second = await restarted(fleet, "a");
  await fleet.turns(second.attempt, 1);
  expect(fleet.attempt(second.attempt).session).not.toBe(fleet.attempt(first.attempt).session);
  const [instruction] = fleet.messages(second.attempt);
  expect(instruction?.body).toContain("An earlier attempt has worked in this worktree");
  expect(instruction?.body).toContain("echo half");
});

test("FAIL-5: a restart that fails leaves the worktree and what is in it", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [run("echo half > half.txt"), say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("stop", "a");
  const config = readFileSync(`${fleet.userDir}/config.yaml`, "utf8");
  writeFileSync(`${fleet.userDir}/config.yaml`, config.replace("scripted: {", "scripted: {command: /nowhere/agent, "));
  const second = await restarted(fleet, "a");
  expect((await fleet.ended(second.attempt)).end?.cause).not.toBe("finished");
  expect(readFileSync(join(first.worktree, "half.txt"), "utf8")).toBe("half\n");
  writeFileSync(`${fleet.userDir}/config.yaml`, config);
  const third = await restarted(fleet, "a");
  await fleet.turns(third.attempt, 1);
  expect(fleet.attempt(third.attempt)).toMatchObject({ session: fleet.attempt(first.attempt).session });
  expect(await fleet.ok("nuke", "a")).toContain("its work is kept in");
  expect([existsSync(first.worktree), existsSync(`${fleet.state}/run/attempts/1`)]).toEqual([false, false]);
});

test("FAIL-5: what cannot be continued is refused, with the next step", async () => {
  const fleet = await fleetOf();
  expect(await fleet.run("restart", "nobody")).toMatchObject({ code: 3 });
  const first = await fleet.sling("a", [say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("stop", "a");
  const resumed = await fleet.run("resume", "a");
  expect([resumed.code, resumed.stderr]).toEqual([4, expect.stringContaining("overseer restart a")]);
  const node = `${first.goalId}/${first.workNodeId}`;
  const other = await fleet.sling("b", [], node);
  const taken = await fleet.run("restart", "a");
  expect([taken.code, taken.stderr]).toEqual([4, expect.stringContaining(`b#${other.attempt}`)]);
  await fleet.ok("nuke", "b");
  const gone = await fleet.run("restart", "b");
  expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining(`overseer sling ${node}`)]);
});

test("FAIL-5: an agent that has reported done is not stopped for a restart that its claim would prevent", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [
    { kind: "edit", file: "x.txt", content: "x\n" },
    { kind: "commit", message: "X" },
    { kind: "report", status: "done", summary: "X is there" },
  ]);
  await eventually(
    () => fleet.happened("where type = 'work.claimed'").length > 0,
    () => "the claim",
  );
  const refused = await fleet.run("restart", "a");
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining("overseer reject a")]);
  expect(fleet.attempt(first.attempt).end).toBeNull();
});

test("FAIL-5: an agent that ends while it is being stopped is stopped, and one that has ended can be stopped again", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [say("ready")]);
  await fleet.turns(first.attempt, 1);
  const both = await Promise.all([fleet.run("stop", "a"), fleet.run("restart", "a")]);
  expect(both.map(({ code, stderr }) => [code, stderr.includes("no agent called")])).toEqual([
    [0, false],
    [0, false],
  ]);
  await fleet.ok("stop", "a");
  expect(await fleet.ok("stop", "a")).toContain("a#2");
});

test("FAIL-5: a restart beside a nuke works or is refused; neither fails inside, and nobody lives without a worktree", async () => {
  const fleet = await fleetOf();
  for (const name of ["a", "b", "c", "d", "e", "f"].slice(0, scaled(1))) {
    const first = await fleet.sling(name, [say("ready")]);
    await fleet.turns(first.attempt, 1);
    await fleet.ok("stop", name);
    const both = await Promise.all([fleet.run("restart", name), fleet.run("nuke", name)]);
    const seen = both.map(({ code, stderr }) => `${code} ${stderr}`).join("\n");
    expect([seen, both.every(({ code }) => code === 0 || code === 4)]).toEqual([seen, true]);
    const living = JSON.parse(await fleet.ok("agents", "list", "--json")) as { agent: string }[];
    const lives = living.some(({ agent }) => agent === name);
    expect([seen, lives && !existsSync(first.worktree)]).toEqual([seen, false]);
  }
});

test("FAIL-15: a lock that its killed git left is removed at a restart; one that is held is not", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("stop", "a");
  const lock = join(fleet.repo.git("rev-parse", "--absolute-git-dir"), "worktrees", `a-${first.attempt}`, "index.lock");
  writeFileSync(lock, "");
  const second = await restarted(fleet, "a");
  expect(existsSync(lock)).toBe(false);
  await fleet.turns(second.attempt, 1);
  await fleet.ok("stop", "a");
  writeFileSync(lock, "");
  // A git that waits for its editor, in that very directory.
  const env = { ...process.env, GIT_EDITOR: "sh -c 'exec tail -f /dev/null'" };
  const holder = Bun.spawn(["git", "branch", "--edit-description"], { cwd: first.worktree, env, stderr: "ignore" });
  try {
    await eventually(
      () => fleet.processes.list().some(({ pid, command }) => pid === holder.pid && command.startsWith("git")),
      () => "git to be there",
    );
    await restarted(fleet, "a");
    expect(existsSync(lock)).toBe(true);
  } finally {
    const children = fleet.processes.list().filter(({ parent }) => parent === holder.pid);
    holder.kill();
    for (const { pid } of children) process.kill(pid);
    await holder.exited;
  }
});

test("FAIL-5: a task whose agent began on a commit that a person dropped and git has tidied away is dispatched again", async () => {
  const fleet = await fleetOf();
  const first = await fleet.sling("a", [run("echo b > b.txt; git add -A; git commit -qm b"), say("ready")]);
  await fleet.turns(first.attempt, 1);
  await fleet.ok("stop", "a");
  const { repo } = fleet;
  repo.git("commit", "--quiet", "--amend", "--message", "Another first commit");
  gitIn(first.worktree, "rebase", "--quiet", "--onto", "main", first.base);
  repo.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all");
  repo.git("update-ref", "-d", "ORIG_HEAD");
  gitIn(first.worktree, "update-ref", "-d", "ORIG_HEAD");
  repo.git("gc", "--quiet", "--prune=now");
  const second = await fleet.sling("b", [], `${first.goalId}/${first.workNodeId}`);
  expect(second.base).toBe(repo.git("rev-parse", "main"));
});

/**
 * Places and whose task it is, with a real daemon and scripted agents: finished work frees its agent's place, what a
 * person stops stays theirs, and whoever is started again continues in its worktree and its session.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";
import { run } from "../support/steps.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

async function plan(fleet: Fleet, tasks: Readonly<Record<string, readonly Step[]>>): Promise<string> {
  const node = { acceptance: ["it is there"] };
  const all = Object.entries(tasks).map(([id, steps]) => ({
    ...{ ...node, id, name: `Task ${id}`, objective: `Do ${id}. ${renderScript(steps)}` },
  }));
  const phases = [all.slice(0, 4), all.slice(4)]
    .filter((some) => some.length > 0)
    .map((some, at) => ({ ...node, id: `P${at}`, name: `P${at}`, objective: "All of it", tasks: some }));
  const path = join(fleet.repo.path, "..", `plan-${Math.floor(performance.now())}.json`);
  writeFileSync(path, JSON.stringify({ planVersion: 1, phases }));
  const made = await fleet.ok("goal", "create", "--title", "All", "--plan", path, "--json");
  return (JSON.parse(made) as { goalId: string }).goalId;
}

const diligent = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

test("CAP-1 REV-1 HOLD-1: with one place, eight tasks in review mode are all finished and wait; accepted in any order, they land", async () => {
  const fleet = await fleetOf({ maxConcurrent: 1 });
  const names = ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"];
  const goalId = await plan(fleet, Object.fromEntries(names.map((name) => [name, diligent(name)])));
  await fleet.ok("up");
  const waiting = () => fleet.all("landing.waiting").filter(({ because }) => because === "review-due");
  await eventually(
    () => waiting().length === names.length,
    () => `all to wait for a review: ${JSON.stringify(waiting().map(({ nodeId }) => nodeId))}`,
  );
  // One may be at work and one wait as a process; the others were ended, and would continue by their session.
  await eventually(
    () => fleet.rows("select 1 from attempts where status <> 'ended'").length <= 2,
    () => "those that wait longest to be put aside",
  );
  expect(fleet.all("agent.slung")).toHaveLength(names.length);
  const [first, second] = fleet.all("agent.slung");
  await fleet.ok("reject", `${goalId}/T1`, "--reason", "Say it louder.");
  await eventually(
    () => fleet.all("agent.slung").find(({ data }) => data.continues === first?.attempt),
    () => "the author of what was sent back to continue",
  );
  const again = fleet.all("agent.slung").at(-1)?.attempt ?? 0;
  await fleet.turns(again, 1);
  expect(fleet.attempt(again)).toMatchObject({
    agent: first?.agent,
    session: fleet.attempt(first?.attempt ?? 0).session,
  });
  expect(fleet.messages(again).map(({ body }) => body)).toContainEqual(expect.stringContaining("Say it louder."));
  expect(second?.nodeId).toBe("T2");
  for (const name of ["T5", "T2", "T8", "T3", "T7", "T4", "T6"]) await fleet.ok("accept", `${goalId}/${name}`);
  const landed = fleet.repo.git("ls-tree", "--name-only", "main").split("\n");
  expect(landed.filter((file) => /^T\d/.test(file))).toEqual([
    "T2.txt",
    "T3.txt",
    "T4.txt",
    "T5.txt",
    "T6.txt",
    "T7.txt",
    "T8.txt",
  ]);
});

/** A tool call that lasts until it is killed; each life counts one as done and goes on to the next. */
const HELD: readonly Step[] = Array.from({ length: 8 }, () => run("touch held; exec tail -f /dev/null"));

test("HOLD-1: under a daemon, a stop reserves the task, a restart continues it, and up after down --agents does too", async () => {
  const fleet = await fleetOf({ maxConcurrent: 1, more: "landing: {mode: auto}\n" });
  const goalId = await plan(fleet, { T1: HELD, T2: diligent("T2") });
  await fleet.ok("up");
  const attemptsAtT1 = () => fleet.all("agent.slung").filter(({ nodeId }) => nodeId === "T1");
  const atWork = async (count: number) => {
    const slung = await eventually(
      () => attemptsAtT1()[count - 1],
      () => `attempt ${count} at T1`,
    );
    const attempt = slung.attempt ?? 0;
    await fleet.process(attempt);
    return fleet.attempt(attempt);
  };
  const first = await atWork(1);
  await eventually(
    () => existsSync(join(first.worktree, "held")),
    () => "it to be at its tool",
  );
  const { agent, worktree, branch, session } = fleet.attempt(first.attempt);
  const same = { agent, worktree, branch, session, workNodeId: "T1" };

  // A living agent, under a daemon that has work for the place it frees.
  await fleet.ok("restart", agent);
  const second = await atWork(2);
  expect(second).toMatchObject({ ...same, continues: first.attempt });

  await fleet.ok("down", "--agents");
  expect(fleet.attempt(second.attempt).end?.cause).toBe("stopped");
  await fleet.ok("up");
  const third = await atWork(3);
  expect(third).toMatchObject({ ...same, continues: second.attempt });

  expect(await fleet.ok("stop", agent)).toContain(`overseer restart ${agent}`);
  // The place is free: the other task gets it and lands, and nobody gets the one that was stopped.
  await eventually(
    () => fleet.all("work.done").some(({ nodeId }) => nodeId === "T2"),
    () => "the other task to land",
  );
  await fleet.ok("tick", "--now");
  expect(attemptsAtT1()).toHaveLength(3);
  expect(await fleet.ok("why", `${goalId}/T1`)).toContain(`overseer restart ${agent}`);

  await fleet.ok("restart", agent);
  expect(await atWork(4)).toMatchObject({ ...same, continues: third.attempt });
});

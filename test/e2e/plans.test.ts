/**
 * Plans by hand with a real daemon and scripted agents: one more task is taken up and lands while others are at work, and
 * a revision that would cancel something asks first. Several facts in one world, because worlds are expensive.
 */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderScript, type Step } from "#runtimes/scripted/language.ts";
import { bundled } from "../support/cli.ts";
import { eventually, type Fleet } from "../support/fleet.ts";
import { endedFleets } from "../support/fleets.ts";

setDefaultTimeout(180_000);
beforeAll(bundled);

const fleetOf = endedFleets({ terminal: "detached" });

const deliver = (name: string): Step[] => [
  { kind: "edit", file: `${name}.txt`, content: `${name}\n` },
  { kind: "commit", message: `Add ${name}` },
  { kind: "report", status: "done", summary: `${name} is there` },
];

function planOf(...tasks: { id: string; objective: string }[]): string {
  const node = { acceptance: ["it is there"] };
  const phase = { ...node, id: "P1", name: "P", objective: "All of it" };
  return JSON.stringify({
    planVersion: 1,
    phases: [{ ...phase, tasks: tasks.map((task) => ({ ...node, name: `Task ${task.id}`, ...task })) }],
  });
}

function write(fleet: Fleet, name: string, text: string): string {
  const path = join(fleet.repo.path, "..", name);
  writeFileSync(path, text);
  return path;
}

const landed = (fleet: Fleet, name: string) => fleet.repo.git("log", "--format=%s", "main").includes(`Add ${name}`);

test("PLAN-5: a task that is added is taken up and lands beside work in flight; leaving work out of a plan has to be meant", async () => {
  const fleet = await fleetOf({ more: "landing: {mode: auto}\n" });
  const still = { id: "T1", objective: `Wait. ${renderScript([{ kind: "wait", ms: 3_600_000 }])}` };
  const file = write(fleet, "plan.json", planOf(still));
  const made = await fleet.ok("goal", "create", "--title", "All", "--plan", file, "--json");
  const { goalId } = JSON.parse(made) as { goalId: string };

  // Without a daemon it is said that nobody takes it up; a dry run leaves nothing behind.
  const before = fleet.happened().length;
  const dry = await fleet.run("work", "add", `Do T2. ${renderScript(deliver("T2"))}`, "--dry-run");
  expect([dry.code, dry.stdout, fleet.happened().length]).toEqual([0, `Would add ${goalId}/T2, phase P1.\n`, before]);
  const first = await fleet.run("work", "add", `Do T2. ${renderScript(deliver("T2"))}`);
  expect(first.stdout).toBe(`Added ${goalId}/T2, phase P1.\n`);
  expect(first.stderr).toContain("No daemon runs");

  await fleet.ok("up");
  await eventually(
    () => fleet.all("agent.started").length > 0,
    () => "an agent",
  );
  const added = JSON.parse(
    await fleet.ok(
      "work",
      "add",
      `Do T3. ${renderScript(deliver("T3"))}`,
      "--after",
      "T2",
      "--files",
      "T3.txt",
      "--json",
    ),
  ) as Record<string, unknown>;
  expect(added).toMatchObject({ goalId, nodeId: "T3", phaseId: "P1", isNewGoal: false, isDaemonUp: true });
  await eventually(
    () => landed(fleet, "T2") && landed(fleet, "T3"),
    () => fleet.repo.git("log", "--oneline", "main"),
  );
  const slung = fleet.all("agent.slung").map(({ attempt }) => fleet.attempt(attempt ?? 0));
  expect(slung.find(({ workNodeId }) => workNodeId === "T3")?.scope).toEqual(["T3.txt"]);

  // The task in flight is left out: nothing happens until somebody says that they mean it.
  const other = write(fleet, "other.json", planOf({ id: "T9", objective: "Later" }));
  const atWork = slung.find(({ workNodeId }) => workNodeId === "T1");
  await fleet.ok("goal", "pause", goalId);
  const events = () => fleet.happened("where type like 'plan.%' or type like 'work.%'").length;
  const count = events();
  const asked = await fleet.run("goal", "plan", goalId, "--file", other);
  expect([asked.code, events()]).toEqual([4, count]);
  expect(asked.stderr).toContain(
    `T1  Task T1 (in_progress, in flight: ${atWork?.agent}#${atWork?.attempt} would be stopped`,
  );
  expect(asked.stderr).toContain("--prune");
  expect(asked.stderr).not.toContain("T2");
  await fleet.ok("goal", "plan", goalId, "--file", other, "--prune");
  expect(fleet.attempt(atWork?.attempt ?? 0).status).toBe("ended");
  expect(fleet.all("work.cancelled").map(({ nodeId }) => nodeId)).toEqual(["T1"]);
  const both = write(fleet, "both.json", planOf(still, { id: "T9", objective: "Later" }));
  const again = await fleet.run("goal", "plan", goalId, "--file", both);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("0 nodes added")]);
  expect(again.stderr).toContain("T1 was cancelled before and stays so: to have it done, give it a new id");
});

test("SLING-4: sling takes a list, says what it means that no daemon runs, and follows until it lands, waits or ends", async () => {
  const fleet = await fleetOf({ maxConcurrent: 2, more: "landing: {mode: auto}\n" });
  const said = (name: string) => `Deliver ${name} ${renderScript(deliver(name))}`;
  const bad = write(fleet, "bad.txt", `${said("A")}\n\n---\n`);
  const before = fleet.happened().length;
  const refused = await fleet.run("sling", "--file", bad);
  expect([refused.code, fleet.happened().length]).toEqual([2, before]);
  expect(refused.stderr).toContain("bad.txt:3: it has no words");

  // Nobody watches: what ends without a report has failed, what is reported done waits.
  const lost = await fleet.run(
    "sling",
    "--follow",
    "--prompt",
    `Give up at once ${renderScript([{ kind: "die", at: "now", signal: "SIGKILL" }])}`,
  );
  expect([lost.code, lost.stderr.includes("No daemon runs: nobody watches")]).toEqual([4, true]);
  const first = await fleet.run("sling", "--follow", "--prompt", said("B"));
  expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/goal_deliver-b\S*\/T1/)]);
  expect(first.stdout).toMatch(
    /goal_deliver-b\S*\/T1 is reported done\. No daemon runs, so nothing checks or lands it\./,
  );
  expect(first.stderr).toContain("Next: overseer up\n");

  await fleet.ok("up");
  await eventually(
    () => landed(fleet, "B"),
    () => "B",
  );
  const followed = await fleet.run("sling", "--follow", "--prompt", said("C"));
  expect([followed.code, landed(fleet, "C")]).toEqual([0, true]);
  expect(followed.stdout).toContain("has landed.");
  const list = write(fleet, "list.txt", `# today\n${["D", "E", "F", "G"].map(said).join("\n")}\n`);
  const started = await fleet.run("sling", "--file", list);
  expect([started.code, /agents? started/.test(started.stdout)]).toEqual([0, true]);
  await eventually(
    () => ["D", "E", "F", "G"].every((name) => landed(fleet, name)),
    () => fleet.repo.git("log", "--oneline", "main"),
  );
});

test("PLAN-1, GOAL-2: what is left of a plan is estimated from what is done, and a plan that leaves out work in flight names its agent", async () => {
  const fleet = await fleetOf({ more: "landing: {mode: auto}\n" });
  const names = ["T1", "T2", "T3"];
  const still = `Wait. ${renderScript([{ kind: "wait", ms: 3_600_000 }])}`;
  const tasks = [
    ...names.map((id) => ({ id, objective: `Do ${id}. ${renderScript(deliver(id))}` })),
    { id: "T4", objective: still, deps: names },
    { id: "T5", objective: still, deps: ["T4"] },
  ];
  const file = write(fleet, "plan.json", planOf(...tasks));
  const made = await fleet.ok("goal", "create", "--title", "All", "--plan", file, "--json");
  const { goalId } = JSON.parse(made) as { goalId: string };
  const show = () => fleet.ok("goal", "show", goalId);
  expect(await show()).toContain("No finished work to estimate from: it takes 3 finished tasks, and there are 0 of");
  await fleet.ok("up");
  await eventually(
    () => fleet.all("agent.ended").length >= 3 && fleet.all("agent.started").some(({ nodeId }) => nodeId === "T4"),
    () => fleet.repo.git("log", "--oneline", "main"),
  );
  const left = await show();
  expect(left).toContain("[in progress, 3 of 5 done] P");
  expect(left).toContain("Left: 2 tasks for agents; 1 agent at a time.");
  expect(left).toMatch(/^\* critical path: T4 → T5 \(2 of 2 tasks, about \d+ s\)$/m);
  expect(left).toMatch(/^Estimate: \d+ s/m);
  expect(left).toContain("From 3 finished tasks of builder on scripted, least to most");
  const shorter = write(fleet, "shorter.json", planOf(...tasks.slice(0, 3)));
  const diff = await fleet.ok("goal", "plan", goalId, "--file", shorter, "--diff");
  expect(diff).toMatch(
    /^- T4 {2}Task T4 {2}\(in progress, would be cancelled; in flight: \S+#\d+ would be stopped, its work kept\)$/m,
  );
  expect(diff).toContain("2 would be cancelled, 1 kept, 3 finished and untouched.");
  expect(fleet.all("plan.accepted")).toHaveLength(1);
});

/** What `status` shows of goals and agents, in words and as JSON, with a real agent at work and after its death. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { bundled } from "../support/cli.ts";
import { eventually, Fleet } from "../support/fleet.ts";

setDefaultTimeout(120_000);
beforeAll(bundled);

const fleets: Fleet[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) await fleet.end();
});

test("STATUS-1: goals with their progress, agents with state and task, and a death as soon as it happened", async () => {
  const fleet = await Fleet.make();
  fleets.push(fleet);
  await fleet.ok("goal", "create", "Nobody works on it");
  const slung = await fleet.sling("ada", [
    { kind: "say", text: "ready" },
    { kind: "hang", in: "thought" },
  ]);
  await fleet.said(slung.attempt, "ready");

  const seen = JSON.parse(await fleet.ok("status", "--json"));
  expect(seen).toMatchObject({ safeMode: null, configProblem: null });
  expect(seen.goals).toHaveLength(2);
  expect(seen.goals.find((goal: { goalId: string }) => goal.goalId === slung.goalId)).toMatchObject({
    status: "active",
    progress: { done: 0, total: 1, percent: 0 },
    inProgress: 1,
  });
  expect(seen.agents).toMatchObject([
    { agent: "ada", attempt: slung.attempt, goalId: slung.goalId, workNodeId: slung.workNodeId, seen: "working" },
  ]);
  const words = await fleet.ok("status");
  expect(words).toContain("Nobody works on it");
  expect(words).toMatch(new RegExp(`ada#${slung.attempt}.*working`));

  await fleet.kill(fleet.runner(slung.attempt));
  expect(JSON.parse(await fleet.ok("status", "--json")).agents).toMatchObject([{ agent: "ada", seen: "dead" }]);
  await fleet.ok("stop", "ada");
  expect(JSON.parse(await fleet.ok("status", "--json")).agents).toEqual([]);
});

test("STATUS-1: after the last task status tells what landed, by whom, for how much and what stays open; --plain in sentences", async () => {
  const fleet = await Fleet.make({ more: "landing: {mode: auto}\n", terminal: "detached" });
  fleets.push(fleet);
  const { goalId } = await fleet.sling("ada", [
    { kind: "usage", inputTokens: 1_000, costUsd: 0.25 },
    { kind: "edit", file: "a.txt", content: "a\n" },
    { kind: "commit", message: "Add a" },
    { kind: "report", status: "done", summary: "a is there" },
  ]);
  await fleet.ok("up");
  await eventually(
    () => fleet.all("goal.completed").length === 1 && fleet.all("agent.ended").length === 1,
    () => "the goal to be reached, and its agent to end",
  );
  const [{ costUsd: spent }] = JSON.parse(await fleet.ok("metrics", "--json")).byGoal;
  expect(spent).toBeGreaterThan(0);
  const money = `\\$${spent.toFixed(2)}`;
  const words = await fleet.ok("status");
  expect(words).toMatch(/, work lands on main\n/);
  expect(words).toMatch(
    new RegExp(`All work is over: 1 goal ended, for ${money} in all\nLanded on main: 1 task, by ada\n`),
  );
  expect(words).toMatch(new RegExp(`^ {2}\\d\\d:\\d\\d {2}ada#1 {2}${money} {2}${goalId}/T1 `, "m"));
  expect(words).toContain("Stays open: nothing");
  const { landings, costUsd, target } = JSON.parse(await fleet.ok("status", "--json"));
  expect([landings.length, costUsd, target]).toEqual([1, spent, "main"]);
  expect(landings[0].at).toMatch(/^\d{4}-.*Z$/);
  const plain = await fleet.ok("status", "--plain");
  expect(plain).toMatch(new RegExp(`^${goalId}/T1 .* landed on main at \\d\\d:\\d\\d, by ada#1 for ${money}\\.$`, "m"));
  expect(plain.split("\n").filter((line) => / {2}/.test(line))).toEqual([]);
});

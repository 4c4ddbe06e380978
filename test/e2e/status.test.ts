/** What `status` shows of goals and agents, in words and as JSON, with a real agent at work and after its death. */
import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { bundled } from "../support/cli.ts";
import { Fleet } from "../support/fleet.ts";

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

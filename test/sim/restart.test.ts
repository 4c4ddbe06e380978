/** What the simulator found about restarts, shown once more in the small. */
import { expect, test } from "bun:test";
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { RUNNER_MARK } from "#act/attempt-files.ts";
import { slingAgent } from "#control/sling.ts";
import type { Action } from "#domain/model/action.ts";
import { confirmStart } from "#domain/model/attempt.ts";
import { REGISTRY } from "#engine/actions/index.ts";
import { Machine } from "#sim/machine.ts";
import { makeSimulatedConfig } from "#sim/scenario.ts";
import { attemptByNumber, livingAttempts } from "#store/attempts.ts";
import { addGoal, addPlan, planned } from "../support/samples.ts";

/** A machine on which runners say hello, and nothing else. */
function machineWithRunners(): Machine {
  const machine: Machine = new Machine(1, makeSimulatedConfig({ agents: 4 }), ({ request }) => {
    const mark = request.env[RUNNER_MARK] ?? "";
    const number = Number(mark.split("@")[0]);
    const runner = machine.processes.withEnvironment(RUNNER_MARK, mark)[0];
    if (!runner) throw new Error("The runner has no process.");
    void machine.store.commit({
      at: machine.clock.now(),
      reads: { attempt: attemptByNumber(number) },
      decide: ({ attempt }) =>
        confirmStart(
          attempt,
          number,
          { runner, launchHash: attempt?.launchHash },
          { now: machine.clock.now(), actor: "overseer" },
        ),
    });
  });
  return machine;
}

test("LADDER-1: a restart that was decided for one agent leaves another of the same name alone", async () => {
  const machine = machineWithRunners();
  await addGoal(machine.store, "goal_A");
  await addPlan(machine.store, "goal_A", [planned("P1", { children: [planned("T1"), planned("T2")] })]);
  const { world } = machine.begin(() => undefined);
  const wish = { capability: "builder", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  await slingAgent(world, { ...wish, goal: "goal_A", task: "T1" });
  const { first } = await machine.store.read({ first: attemptByNumber(1) });
  if (!first?.runner) throw new Error("It did not start.");
  machine.processes.end(first.runner);
  await settleLeftovers(world);
  // By a person: names that are chosen keep clear of one that is to be started again.
  await slingAgent(world, { ...wish, goal: "goal_A", task: "T2", name: first.agent });
  const payload = { dispatchId: "D_AGAIN", after: 1, reason: "Its runner died." };
  const action = { kind: "restart", goalId: "goal_A", workNodeId: "T1", payload } as Action<"restart">;
  expect(await REGISTRY.restart(action, world)).toMatchObject({ ok: true });
  const { living } = await machine.store.read({ living: livingAttempts() });
  expect(living.map(({ attempt, agent, workNodeId }) => [attempt, agent, workNodeId])).toEqual([
    [2, first.agent, "T2"],
    [3, "builder-2", "T1"],
  ]);
});

test("SLING-3, AGENT-1: whoever replaces an agent works for the same lead, as deep as it did, by the specification a person wrote", async () => {
  const machine = machineWithRunners();
  await addGoal(machine.store, "goal_A");
  await addPlan(machine.store, "goal_A", [planned("P1", { children: [planned("T1"), planned("T2")] })]);
  const { world } = machine.begin(() => undefined);
  const wish = { goal: "goal_A", files: [], tags: [], interactive: false, keep: false, dryRun: false };
  await slingAgent(world, { ...wish, task: "T1", capability: "lead", name: "chief" });
  const spec = "# Dates\n\nBoth calendars, please.\n";
  await slingAgent(world, { ...wish, task: "T2", capability: "builder", parent: "chief", spec });
  const payload = { dispatchId: "D_FRESH", from: 2, reason: "stuck", model: "stronger" };
  const action = { kind: "reassign", goalId: "goal_A", workNodeId: "T2", payload } as Action<"reassign">;
  // Nobody plays its runner, which would end it.
  const { second } = await machine.store.read({ second: attemptByNumber(2) });
  if (!second?.runner) throw new Error("It did not start.");
  machine.processes.end(second.runner);
  expect(await REGISTRY.reassign(action, world)).toMatchObject({ ok: true });
  const { third } = await machine.store.read({ third: attemptByNumber(3) });
  expect(third).toMatchObject({
    model: "stronger",
    workNodeId: "T2",
    parent: { agent: "chief", attempt: 1 },
    depth: 1,
  });
  const { state } = world.root;
  expect(await world.files.read(`${state}/specs/goal_A-T2.md`)).toBe(spec);
  expect(await world.files.read(`${state}/run/attempts/3/system-prompt.md`)).toContain("Both calendars, please.");
  // One that was made from the node is made again, as the node is now.
  expect(await world.files.read(`${state}/specs/goal_A-T1.md`)).toContain("Made from the work node");
  expect(await world.files.read(`${state}/run/attempts/1/system-prompt.md`)).not.toContain("Made from the work node");
});

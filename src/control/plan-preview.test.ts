import { describe, expect, test } from "bun:test";
import { planLinesOf } from "#cli/proposal-lines.ts";
import { parseConfig } from "#config/load.ts";
import { accept } from "#domain/model/decision.ts";
import { proposePlan, requestPlan } from "#domain/plans/planning.ts";
import { OverseerError } from "#errors.ts";
import { goalById } from "#store/goals.ts";
import { memoryStore } from "#store/memory.ts";
import { ADA, addGoal, addPlan } from "../../test/support/samples.ts";
import { worldOn } from "../../test/support/world.ts";
import { previewProposal, viewGoalPlan } from "./plan-preview.ts";
import * as views from "./views.ts";

const RAW = JSON.stringify({
  planVersion: 1,
  phases: [
    {
      ...{ id: "P1", name: "All", objective: "It works.", acceptance: ["bun test passes"] },
      tasks: [
        {
          id: "T1.1",
          name: "First \u001b[2J",
          objective: "It reads.",
          acceptance: ["a.test.ts passes"],
          files: ["src/a"],
        },
        { id: "N2", name: "Second", objective: "It writes.", acceptance: ["b.test.ts passes"], deps: ["T1.1"] },
      ],
    },
  ],
});

async function makeWorld(yaml = "runtime: scripted\n") {
  const store = memoryStore();
  const config = () => parseConfig(yaml, "config.yaml");
  const base = worldOn(store);
  const world = {
    ...base,
    config: async () => config(),
    settings: async () => ({
      config: config(),
      files: base.files,
      hold: null,
      keep: async () => undefined,
    }),
  };
  await addGoal(store, "goal_A");
  return { store, world };
}

async function propose(store: ReturnType<typeof memoryStore>): Promise<void> {
  await store.commit({
    at: ADA.now,
    reads: { goal: goalById("goal_A") },
    decide: ({ goal }) => {
      if (!goal) throw new Error("no goal");
      const wanted = requestPlan(goal, { remark: null, scout: false, accept: "person" }, ADA);
      const proposal = {
        ...({ base: goal.plan.length, source: "model", model: "m", rejected: [] } as const),
        ...{ change: "first plan", nodeCount: 3, raw: RAW },
      };
      return wanted.ok ? accept([...wanted.events, proposePlan("goal_A", 1, proposal, ADA)], null) : wanted;
    },
  });
}

describe("PLAN-1: a proposed plan", () => {
  test("is a tree with what it takes; without work it changes nothing", async () => {
    const { store, world } = await makeWorld();
    await propose(store);
    const goal = await views.goal(world, "goal_A");
    const out = { ...SILENT, width: 80, interactive: true, colour: false };
    expect(await planLinesOf(out, world, goal)).toEqual([
      "goal_A  Parse dates",
      "",
      "  P1  All",
      "    It works.",
      "  * T1.1  First \ufffd[2J  src/a",
      "      It reads.",
      "      done when a.test.ts passes",
      "  * N2  Second  after T1.1",
      "      It writes.",
      "      done when b.test.ts passes",
      "",
      "1 phase, 2 tasks; 1 agent at a time.",
      "* critical path: T1.1 → N2 (2 of 2 tasks)",
      "No finished work to estimate from: it takes 3 finished tasks, and there are 0 of",
      "  builder on scripted.",
    ]);
  });

  test("tells what it changes where there is work", async () => {
    const { store, world } = await makeWorld();
    await addPlan(store, "goal_A");
    await propose(store);
    const { base, changes } = await previewProposal(world, "goal_A");
    expect([base, changes.added.map(({ id }) => id), changes.leftOut.map(({ node }) => node.workNodeId)]).toEqual([
      1,
      ["N2"],
      ["S1.1.1", "S1.1.2", "T1.2", "P2", "T2.1"],
    ]);
    const lines = await planLinesOf({ ...SILENT, width: 80 }, world, await views.goal(world, "goal_A"));
    expect(lines).toContain("Against revision 1:");
    expect(lines.at(-1)).toBe("1 node added, 2 changed, 5 would be cancelled.");
  });

  test("that is not there is said, with the next step", async () => {
    const { world } = await makeWorld();
    const error = await previewProposal(world, "goal_A").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OverseerError);
    expect(error).toMatchObject({ code: "NO_PROPOSAL", message: "No plan is proposed for goal_A." });
  });
});

test("PLAN-1: a plan is shown without an estimate where the settings cannot be read", async () => {
  const { store, world } = await makeWorld("runtime: [\n");
  await addPlan(store, "goal_A");
  const { rows, estimate } = await viewGoalPlan(world, await views.goal(world, "goal_A"));
  expect([rows.length, estimate]).toEqual([7, null]);
});

const SILENT = {
  ...{ colour: false, width: 80, interactive: false },
  ...{ line: () => undefined, json: () => undefined, remark: () => undefined, problem: () => undefined },
};

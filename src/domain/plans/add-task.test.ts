/** One more task, and nothing else changes. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ADA, planned, SMALL_PLAN } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { after, finish, goalOf, nodeIn, refused, statuses, treeOf } from "../../../test/support/tree.ts";
import type { TaskWish } from "./add-task.ts";
import { addTask } from "./add-task.ts";
import { DEFAULT_PLAN_LIMITS, findCycle, PERSONS_PLAN_LIMITS, type PlannedNode } from "./plan.ts";
import type { GoalTree } from "./settle.ts";

const wish = (parts: Partial<TaskWish> = {}): TaskWish => ({
  text: "Write the docs",
  after: [],
  files: [],
  tags: [],
  ...parts,
});
const add = (tree: GoalTree, parts: Partial<TaskWish> = {}, limits = PERSONS_PLAN_LIMITS) =>
  addTask(tree.goal, tree.nodes, wish(parts), limits, ADA);
const phase = (id: string, ids: string[], parts: Partial<PlannedNode> = {}) =>
  planned(id, { children: ids.map((one) => planned(one)), ...parts });

const PLACES: [why: string, tree: GoalTree, parts: Partial<TaskWish>, place: string][] = [
  ["the only phase", treeOf([phase("P1", ["T1", "T2"])]), {}, "P1/T3"],
  ["ids as the phase has them", treeOf([phase("P1", ["T1.1", "T1.2"])]), {}, "P1/T1.3"],
  ["ids that are words", treeOf([phase("P1", ["parser", "T4x"])]), {}, "P1/T5"],
  ["the last of two that wait for nothing", treeOf([phase("A", ["T1"]), phase("B", ["T2"])]), {}, "B/T3"],
  ["a phase of its own where the last one waits", treeOf(SMALL_PLAN), {}, "P3/T3"],
  ["and where the last one is done", finish(treeOf([phase("P1", ["T1"]), phase("P2", ["T2"])]), "T2"), {}, "P3/T3"],
  ["and where it is to wait for that phase itself", treeOf([phase("P1", ["T1"])]), { after: ["P1"] }, "P2/T2"],
  [
    "and where another waits for the last one",
    treeOf([phase("P1", ["T1"], { deps: ["P2"] }), phase("P2", ["T2"])]),
    { after: ["T1"] },
    "P3/T3",
  ],
];
test.each(PLACES)("PLAN-5: a task that is added goes to %s", (_why, tree, parts, place) => {
  const decision = add(tree, parts);
  if (!decision.ok) throw new Error(decision.refusal.message);
  const { phaseId, nodeId } = decision.value;
  expect(`${phaseId}/${nodeId}`).toBe(place);
  const grown = after(tree, decision);
  // What was there stays what it was; the new one waits for what was named, and is last.
  for (const node of tree.nodes)
    expect(nodeIn(grown, node.workNodeId)).toMatchObject({
      ...node,
      status: expect.any(String),
      updatedAt: expect.any(Number),
    });
  expect(findCycle(new Map(grown.nodes.map((node) => [node.workNodeId, node])))).toBeUndefined();
  expect(statuses(grown)[nodeId]).toBe((parts.after ?? []).length > 0 ? "todo" : "queued");
  expect(grown.goal.plan.at(-1)).toMatchObject({
    revision: tree.goal.plan.length + 1,
    change: `${nodeId} was added by hand`,
  });
});

test("PLAN-5: a goal without a plan gets one by its first task", () => {
  const tree: GoalTree = { goal: goalOf(), nodes: [] };
  const grown = after(tree, add(tree));
  expect(statuses(grown)).toEqual({ P1: "queued", T1: "queued" });
  expect(grown.goal.plan).toHaveLength(1);
});

test("PLAN-5: an added task waits for what it names, has what its phase says, and tells what shares its files", () => {
  const tree = treeOf([
    planned("P1", {
      hints: { capability: "scout", checks: ["unit"], riskLevel: "high" },
      tags: ["a"],
      children: [planned("T1", { hints: { files: ["src/dates"] } }), planned("T2")],
    }),
  ]);
  const decision = add(tree, {
    after: ["T2", "T2"],
    files: ["./src/"],
    capability: "builder",
    tags: ["b"],
    text: "Docs\nall of them",
  });
  if (!decision.ok) throw new Error(decision.refusal.message);
  expect(decision.value).toMatchObject({ waitsFor: ["T2"], shared: [{ one: "T1", other: "T3" }] });
  expect(nodeIn(after(tree, decision), "T3")).toMatchObject({
    name: "Docs",
    objective: "Docs\nall of them",
    dependsOn: ["T2"],
    tags: ["a", "b"],
    hints: { capability: "builder", checks: ["unit"], files: ["src"] },
  });
  const done = finish(tree, "T2");
  expect(statuses(after(done, add(done, { after: ["T2"] }))).T3).toBe("queued");
});

describe("PLAN-5: a task is not added", () => {
  const tree = treeOf([phase("P1", ["T1", "T2"])]);
  const cancelled = {
    ...tree,
    nodes: tree.nodes.map((node) => (node.workNodeId === "T2" ? { ...node, status: "cancelled" as const } : node)),
  };
  const ended = { ...tree, goal: { ...tree.goal, status: "completed" as const } };
  test.each<[why: string, tree: GoalTree, parts: Partial<TaskWish>, code: string, hint: string]>([
    ["to a goal that has ended", ended, {}, "GOAL_ENDED", "--goal"],
    ["without words", tree, { text: " \n " }, "TEXT_EMPTY", "work add"],
    ["after what is not there", tree, { after: ["t1"] }, "NODE_UNKNOWN", "Did you mean T1?"],
    ["after what is cancelled", cancelled, { after: ["T2"] }, "NEVER_DONE", "--after"],
    ["with files elsewhere", tree, { files: ["../x"] }, "SCOPE_INVALID", "repository"],
  ])("%s", (_why, from, parts, code, hint) => {
    const refusal = refused(add(from, parts));
    expect(refusal.code).toBe(code);
    expect(refusal.hint).toContain(hint);
  });

  test("beyond the limits: a full phase is left alone, a full plan is said with its key", () => {
    const full = treeOf([phase("P1", ["T1", "T2", "T3", "T4", "T5", "T6", "T7"])]);
    expect(add(full, {}, DEFAULT_PLAN_LIMITS)).toMatchObject({ ok: true, value: { phaseId: "P2", nodeId: "T8" } });
    expect(refused(add(full, {}, { ...DEFAULT_PLAN_LIMITS, maxPhases: 1 })).message).toContain("planner.maxPhases");
    expect(refused(add(full, {}, { ...PERSONS_PLAN_LIMITS, maxNodes: 8 })).code).toBe("PLAN_FULL");
  });
});

test("PLAN-5: however often tasks are added, no id comes twice and no circle is made", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 12 }), (choices) => {
      let tree = treeOf(SMALL_PLAN);
      for (const choice of choices) {
        const named = tree.nodes[choice % (tree.nodes.length + 1)];
        const before = tree.nodes.length;
        tree = after(tree, add(tree, { after: named ? [named.workNodeId] : [] }));
        expect(tree.nodes.length).toBeGreaterThan(before);
      }
      expect(new Set(tree.nodes.map((node) => node.workNodeId)).size).toBe(tree.nodes.length);
      expect(findCycle(new Map(tree.nodes.map((node) => [node.workNodeId, node])))).toBeUndefined();
    }),
    { numRuns: scaled(100) },
  );
});

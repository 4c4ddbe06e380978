import { expect, test } from "bun:test";
import type { GoalTree } from "#domain/plans/settle.ts";
import { ADA, planned } from "../../../test/support/samples.ts";
import { after, finish, nodeIn, treeOf } from "../../../test/support/tree.ts";
import { isReady, listDependents, waitsFor } from "./readiness.ts";
import { cancelNode } from "./work.ts";

const PLAN = [
  planned("P1", { children: [planned("T1"), planned("T2", { deps: ["T1"] })] }),
  planned("P2", { deps: ["P1"], children: [planned("T3", { deps: ["T2"], children: [planned("S3")] })] }),
];
const byId = (tree: GoalTree) => new Map(tree.nodes.map((node) => [node.workNodeId, node]));
const start = treeOf(PLAN);

const WAITS: [why: string, tree: GoalTree, id: string, waits: string[]][] = [
  ["a node without dependencies waits for nothing", start, "T1", []],
  ["a node waits for what it depends on", start, "T2", ["T1"]],
  ["a done dependency is met", finish(start, "T1"), "T2", []],
  ["a task waits for what its phase depends on, too", start, "T3", ["T2", "P1"]],
  ["a subtask waits for what task and phase depend on", start, "S3", ["T2", "P1"]],
  ["each is named once, and only while it is open", finish(finish(start, "T1"), "T2"), "S3", []],
  [
    "a cancelled dependency is not met: a person decides what becomes of those that waited",
    after(start, cancelNode(nodeIn(start, "T1"), start.nodes, null, ADA)),
    "T2",
    ["T1"],
  ],
];
test.each(WAITS)("WORK-3: %s", (_why, tree, id, waits) => {
  expect(waitsFor(nodeIn(tree, id), byId(tree))).toEqual(waits);
});

test("WORK-3: below a parent that was let continue without a cancelled one, only what is its own is waited for", () => {
  const tree = treeOf([
    planned("P1", { children: [planned("T1")] }),
    planned("P2", { deps: ["P1"], children: [planned("T2"), planned("T3", { deps: ["T2"] })] }),
  ]);
  const having = (p1: "cancelled" | "todo", p2: "queued" | "todo") =>
    new Map(
      tree.nodes.map((node) => {
        const status = node.workNodeId === "P1" ? p1 : node.workNodeId === "P2" ? p2 : node.status;
        return [node.workNodeId, { ...node, status }];
      }),
    );
  const waits = (all: ReturnType<typeof having>) => waitsFor(nodeIn(tree, "T3"), all);
  expect(waits(having("cancelled", "queued"))).toEqual(["T2"]);
  expect(waits(having("cancelled", "todo"))).toEqual(["T2", "P1"]);
  expect(waits(having("todo", "queued"))).toEqual(["T2", "P1"]);
});

test("WORK-3: ready is todo with nothing to wait for; a node under way is not ready again", () => {
  const node = nodeIn(start, "T1");
  expect(isReady({ ...node, status: "todo" }, byId(start))).toBe(true);
  for (const status of ["queued", "in_progress", "blocked", "done", "cancelled"] as const) {
    expect(isReady({ ...node, status }, byId(start))).toBe(false);
  }
});

test("WORK-1: `blocks` is the other end of dependsOn", () => {
  expect(listDependents(nodeIn(start, "T2"), start.nodes)).toEqual(["T3"]);
  expect(listDependents(nodeIn(start, "P1"), start.nodes)).toEqual(["P2"]);
  expect(listDependents(nodeIn(start, "S3"), start.nodes)).toEqual([]);
});

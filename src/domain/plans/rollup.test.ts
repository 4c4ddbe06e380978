import { expect, test } from "bun:test";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { planned } from "../../../test/support/samples.ts";
import { finish, nodeIn, nodeWith, treeOf } from "../../../test/support/tree.ts";
import { measureProgress, percentOf, progressOf, progressOfGoal, rollUpStatus, tellProgress } from "./rollup.ts";

const ASKS: [why: string, parent: WorkStatus, children: WorkStatus[], asks: WorkStatus | undefined][] = [
  ["all done: done", "in_progress", ["done", "done"], "done"],
  ["all done, though the parent still waits: done", "todo", ["done"], "done"],
  ["all done, though somebody blocked the parent: done", "blocked", ["done", "done"], "done"],
  ["done and cancelled: done, cancelled ones are left aside", "in_progress", ["done", "cancelled"], "done"],
  ["all cancelled: cancelled", "in_progress", ["cancelled", "cancelled"], "cancelled"],
  ["one begun: the parent has begun", "queued", ["in_progress", "todo"], "in_progress"],
  ["one done, others wait: the parent has begun", "todo", ["done", "todo"], "in_progress"],
  ["begun already: nothing new", "in_progress", ["done", "queued"], undefined],
  ["nothing begun: nothing", "queued", ["queued", "todo"], undefined],
  ["one blocked says nothing about its parent", "queued", ["blocked", "queued"], undefined],
  ["a blocked parent stays blocked while parts are open", "blocked", ["done", "queued"], undefined],
  ["an ended parent is left alone", "done", ["cancelled"], undefined],
  ["a cancelled parent is left alone", "cancelled", ["done"], undefined],
  ["no children ask for nothing", "queued", [], undefined],
];
test.each(ASKS)("WORK-4: %s", (_why, parent, children, asks) => {
  const below = children.map((status, index) => nodeWith(status, { workNodeId: `S${index}` }));
  expect(rollUpStatus(nodeWith(parent), below)).toBe(asks as WorkStatus);
});

const PERCENT: [why: string, done: number, total: number, finished: boolean, percent: number][] = [
  ["nothing of nothing", 0, 0, false, 0],
  ["a third is 33", 1, 3, false, 33],
  ["rounded down: 100 means all", 999, 1000, false, 99],
  ["all", 3, 3, false, 100],
  ["declared finished with parts left aside", 1, 3, true, 100],
];
test.each(PERCENT)("WORK-4: percent: %s", (_why, done, total, finished, percent) => {
  expect(percentOf(done, total, finished)).toBe(percent);
});

test("WORK-4: progress counts leaves on every level, without cancelled ones", () => {
  const tree = finish(
    treeOf([
      planned("P1", { children: [planned("T1", { children: [planned("S1"), planned("S2")] }), planned("T2")] }),
      planned("P2", { children: [planned("T3")] }),
    ]),
    "S1",
  );
  expect(["P1", "T1", "S1", "S2", "P2"].map((id) => progressOf(nodeIn(tree, id), tree.nodes))).toEqual([
    { done: 1, total: 3, percent: 33 },
    { done: 1, total: 2, percent: 50 },
    { done: 1, total: 1, percent: 100 },
    { done: 0, total: 1, percent: 0 },
    { done: 0, total: 1, percent: 0 },
  ]);
  expect(progressOfGoal(tree.nodes, false)).toEqual({ done: 1, total: 4, percent: 25 });
  const closed = finish(tree, "T1", "enough");
  expect(progressOf(nodeIn(closed, "T1"), closed.nodes)).toEqual({ done: 1, total: 1, percent: 50, cancelled: 1 });
  const back = closed.nodes.map((node) => (node.workNodeId === "S1" ? { ...node, takenBack: TAKEN_BACK } : node));
  expect(progressOf(nodeIn(closed, "T1"), back)).toMatchObject({ percent: 0, cancelled: 1, takenBack: 1 });
});

const TAKEN_BACK = { by: "human:ada", at: 1 } as unknown as NonNullable<WorkNode["takenBack"]>;

const TOLD: [done: number, total: number, cancelled: number, takenBack: number, percent: number, told: string][] = [
  [2, 2, 0, 0, 100, "2 of 2 done"],
  [1, 1, 1, 0, 50, "1 of 2 done; 1 cancelled"],
  [33, 33, 3, 1, 88, "33 of 36 done; 3 cancelled; 1 taken back"],
  [2, 2, 0, 1, 50, "2 of 2 done; 1 taken back"],
  [0, 0, 0, 0, 100, "0 of 0 done"],
];
test.each(TOLD)("WORK-4: a goal that ended, %i of %i, %i cancelled, %i taken back: %i %", (...row) => {
  const [done, total, cancelled, takenBack, percent, told] = row;
  const progress = measureProgress({ done, total, cancelled, takenBack }, true);
  expect(progress.percent).toBe(percent);
  expect(tellProgress(progress)).toBe(told);
});

test("WORK-4: a node's progress does not count one whose id merely begins the same", () => {
  const tree = treeOf([planned("P1", { children: [planned("T1")] }), planned("P10", { children: [planned("T2")] })]);
  expect(progressOf(nodeIn(tree, "P1"), tree.nodes).total).toBe(1);
});

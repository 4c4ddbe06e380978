import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NO_EVIDENCE } from "#domain/model/crystallization.ts";
import { moveGoal } from "#domain/model/goal.ts";
import { cancelNode, finishByHand } from "#domain/model/work.ts";
import { ADA, planned, SMALL_PLAN } from "../../../test/support/samples.ts";
import { scaled } from "../../../test/support/scale.ts";
import { after, allowed, finish, goalOf, nodeIn, plan, statuses, treeOf } from "../../../test/support/tree.ts";
import { progressOf, progressOfGoal } from "./rollup.ts";
import { type GoalTree, settle, settleDecision } from "./settle.ts";

const FOLLOWS: [why: string, change: (tree: GoalTree) => GoalTree, now: Record<string, string>][] = [
  [
    "a new plan queues what waits for nothing",
    (tree) => tree,
    {
      P1: "queued",
      "T1.1": "queued",
      "S1.1.1": "queued",
      "S1.1.2": "todo",
      "T1.2": "todo",
      P2: "todo",
      "T2.1": "todo",
    },
  ],
  [
    "a done leaf starts its parents and queues what waited for it",
    (tree) => finish(tree, "S1.1.1"),
    { P1: "in_progress", "T1.1": "in_progress", "S1.1.1": "done", "S1.1.2": "queued", "T1.2": "todo" },
  ],
  [
    "the last subtask finishes its task, and that queues the next one",
    (tree) => finish(finish(tree, "S1.1.1"), "S1.1.2"),
    { P1: "in_progress", "T1.1": "done", "T1.2": "queued", P2: "todo" },
  ],
  [
    "the last task finishes its phase, and that queues the next one with its tasks",
    (tree) => finish(finish(finish(tree, "S1.1.1"), "S1.1.2"), "T1.2"),
    { P1: "done", P2: "queued", "T2.1": "queued" },
  ],
  [
    "cancelling every task cancels their phase, which meets nobody's dependency",
    (tree) => ["T1.1", "T1.2"].reduce((now, id) => after(now, cancelNode(nodeIn(now, id), now.nodes, null, ADA)), tree),
    { P1: "cancelled", P2: "todo", "T2.1": "todo" },
  ],
];
test.each(FOLLOWS)("WORK-4: %s", (_why, change, now) => {
  expect(statuses(change(treeOf()))).toMatchObject(now as never);
});

describe("WORK-4: a goal", () => {
  const all = (tree: GoalTree) => ["S1.1.1", "S1.1.2", "T1.2", "T2.1"].reduce((now, id) => finish(now, id), tree);

  test("is completed when its phases are", () => {
    expect(all(treeOf()).goal.status).toBe("completed");
  });

  test("GOAL-3: is not completed while paused, but at once when it is resumed", () => {
    const paused = after(treeOf(), moveGoal(treeOf().goal, "goal_A", "paused", ADA));
    const finished = all(paused);
    expect(finished.goal.status).toBe("paused");
    expect(after(finished, moveGoal(finished.goal, "goal_A", "active", ADA)).goal.status).toBe("completed");
  });

  test("is not completed when everything was cancelled: a person says what that means", () => {
    const tree = treeOf([planned("P1", { children: [planned("T1")] })]);
    const cancelled = after(tree, cancelNode(nodeIn(tree, "P1"), tree.nodes, null, ADA));
    expect([cancelled.goal.status, nodeIn(cancelled, "T1").status]).toEqual(["active", "cancelled"]);
  });

  test("without a plan is not completed", () => {
    expect(settle({ goal: goalOf(), nodes: [] }, ADA)).toEqual([]);
  });
});

test("WORK-4: what follows is said by Overseer, what was asked by the person", () => {
  const tree = treeOf([planned("P1", { children: [planned("T1")] })]);
  const done = { summary: "x", crystallizationId: "C_1" };
  const events = allowed(settleDecision(tree, finishByHand(nodeIn(tree, "T1"), tree.nodes, done, ADA), ADA));
  expect(events.map((event) => `${event.actor} ${event.type} ${event.nodeId ?? ""} ${event.because}`)).toEqual([
    "human:ada work.started T1 finished-by-hand",
    "human:ada crystallization.recorded T1 finished-by-hand",
    "human:ada work.done T1 finished-by-hand",
    "overseer work.started P1 all-children-done",
    "overseer crystallization.recorded P1 all-children-done",
    "overseer work.done P1 all-children-done",
    "overseer crystallization.recorded  all-phases-done",
    "overseer goal.completed  all-phases-done",
  ]);
});

test("WORK-5: a parent's done carries the evidence of its children, each once", () => {
  const tree = treeOf([planned("P1", { children: [planned("T1"), planned("T2")] })]);
  const done = (now: GoalTree, id: string, commits: string[]) =>
    after(
      now,
      finishByHand(
        nodeIn(now, id),
        now.nodes,
        { summary: "", crystallizationId: `C_${id}`, evidence: { ...NO_EVIDENCE, commits } },
        ADA,
      ),
    );
  const now = done(done(tree, "T1", ["a", "b"]), "T2", ["b", "c"]);
  expect(nodeIn(now, "P1")).toMatchObject({ summary: "T1, T2 done", unverified: true });
  expect(nodeIn(now, "P1").evidence?.commits).toEqual(["a", "b", "c"]);
});

test("settling twice asks for nothing new", () => {
  const tree = finish(treeOf(), "S1.1.1");
  expect(settle(tree, ADA)).toEqual([]);
});

test("WORK-4: roll-ups do not depend on the order in which leaves are finished or cancelled", () => {
  const phases = [
    ...SMALL_PLAN,
    planned("P3", { children: [planned("T3.1"), planned("T3.2", { children: [planned("S3"), planned("S4")] })] }),
  ];
  const fresh = treeOf(phases);
  const leafIds = fresh.nodes.filter((node) => node.leaf).map((node) => node.workNodeId);
  const outcome = (choices: readonly number[], cancelled: ReadonlySet<string>) => {
    let tree = fresh;
    for (let step = 0; ; step += 1) {
      const open = tree.nodes.filter(
        (node) => node.leaf && (node.status === "queued" || (cancelled.has(node.workNodeId) && node.status === "todo")),
      );
      const next = open[(choices[step] ?? 0) % Math.max(1, open.length)];
      if (!next) break;
      tree = cancelled.has(next.workNodeId)
        ? after(tree, cancelNode(next, tree.nodes, null, ADA))
        : finish(tree, next.workNodeId);
    }
    return {
      goal: tree.goal.status,
      statuses: statuses(tree),
      progress: tree.nodes.map((node) => progressOf(node, tree.nodes)),
      whole: progressOfGoal(tree.nodes, tree.goal.status === "completed"),
    };
  };
  const order = fc.array(fc.nat(20), { maxLength: 12 });
  fc.assert(
    fc.property(order, order, fc.subarray(leafIds), (one, other, gone) => {
      const cancelled = new Set(gone);
      expect(outcome(one, cancelled)).toEqual(outcome(other, cancelled));
    }),
    { numRuns: scaled(150) },
  );
});

test("WORK-7: a task with subtasks is worked on through them; a leaf task by itself", () => {
  const tree = treeOf([planned("P1", { children: [planned("T1", { children: [planned("S1")] }), planned("T2")] })]);
  expect(statuses(finish(tree, "S1"))).toMatchObject({ T1: "done", T2: "queued", P1: "in_progress" });
  expect(plan(tree, [planned("P1", { children: [planned("T2")] })]).ok).toBe(true);
});

test("DONE-1: while somebody has a task, finished parts do not finish it", () => {
  const tree = { ...treeOf(), held: new Set(["T1.1"]) };
  const now = finish(finish(tree, "S1.1.1"), "S1.1.2");
  expect(statuses(now)).toMatchObject({ "S1.1.2": "done", "T1.1": "in_progress", "T1.2": "todo" });
});

test("CRYS-3: a parent's handoff is composed of those of its parts, and the goal's of its phases'", () => {
  const done = ["S1.1.1", "S1.1.2", "T1.2", "T2.1"].reduce((now, id) => finish(now, id), treeOf());
  const left = (id: string | null) =>
    done.crystallizations?.find((one) => one.workNodeId === id && one.level !== "subtask");
  expect(left("T1.1")).toMatchObject({
    level: "task",
    summary: "S1.1.1 done: S1.1.1 works\nS1.1.2 done: S1.1.2 works",
  });
  expect(left("P1")).toMatchObject({ level: "phase" });
  expect(left(null)).toMatchObject({ level: "goal", crystallizationId: "C_A" });
  expect(nodeIn(done, "T1.1").crystallizationId).toBe("C_A.T1.1");
});

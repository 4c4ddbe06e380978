/**
 * What holds for any plan, however it is revised, split, finished and cancelled, and in whatever order: ids are never
 * used again, what has ended never changes, nothing waits in a circle, parents follow their children, and whoever waited
 * for what was split waits for all of its parts.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { cancelNode, finishByHand, isOpen, nodeEvent, type WorkNode } from "#domain/model/work.ts";
import { acceptPlan, DEFAULT_PLAN_LIMITS, findCycle, type PlannedNode } from "#domain/plans/plan.ts";
import { progressOfGoal, rollUpStatus } from "#domain/plans/rollup.ts";
import { advance, type GoalTree, settle, settleDecision } from "#domain/plans/settle.ts";
import { countSplits, type SplitLimits, type SplitPart, splitNode } from "#domain/plans/split-node.ts";
import { ADA, planned } from "../support/samples.ts";
import { scaled } from "../support/scale.ts";
import { FROM_FILE, goalOf } from "../support/tree.ts";

const LIMITS: SplitLimits = { replansPerNode: 3, plan: DEFAULT_PLAN_LIMITS };
const BY_MODEL = { source: "model" as const, rejected: [], raw: "" };

type Command =
  | {
      readonly do: "split";
      readonly node: number;
      readonly after: readonly (readonly number[])[];
      readonly base: number;
    }
  | {
      readonly do: "revise";
      readonly keep: readonly boolean[];
      readonly fresh: number;
      readonly deps: readonly number[];
    }
  | { readonly do: "start" | "finish" | "override" | "cancel"; readonly node: number };

const index = fc.nat({ max: 40 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("split" as const),
      node: index,
      after: fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), { minLength: 1, maxLength: 4 }),
      // Sometimes the plan has changed since.
      base: fc.constantFrom(0, 0, 0, 0, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("revise" as const),
      keep: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      fresh: fc.nat({ max: 3 }),
      deps: fc.array(index, { maxLength: 3 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom("start", "finish", "override", "cancel"), node: index }),
  },
);

/** Two phases, tasks and subtasks, arrows between them in any way that a plan may have. */
function planOf(arrows: readonly (readonly [number, number])[]): PlannedNode[] {
  const ids = ["T1", "T2", "T3", "T4", "T5", "P2"];
  const deps = (id: string) =>
    arrows.flatMap(([from, to]) => {
      const [a, b] = [ids[from % ids.length] ?? "", ids[to % ids.length] ?? ""];
      return b === id && ids.indexOf(a) < ids.indexOf(b) ? [a] : [];
    });
  const task = (id: string, children: PlannedNode[] = []) => planned(id, { deps: deps(id), children });
  return [
    planned("P1", { children: [task("T1"), task("T2"), task("T3", [planned("S1"), planned("S2", { deps: ["S1"] })])] }),
    planned("P2", { deps: deps("P2").filter((id) => id !== "T4" && id !== "T5"), children: [task("T4"), task("T5")] }),
  ];
}

interface History {
  tree: GoalTree;
  readonly ids: Set<string>;
  readonly over: Map<string, string>;
}

function look(history: History, events: readonly NewEvent[]): void {
  const { goal, nodes } = history.tree;
  for (const event of events) {
    if (event.type !== "work.added") continue;
    expect(history.ids.has(event.nodeId ?? "")).toBe(false);
    history.ids.add(event.nodeId ?? "");
  }
  for (const node of nodes) {
    if (isOpen(node)) continue;
    const { position: _position, leaf: _leaf, tags: _tags, updatedAt: _at, ...kept } = node;
    const now = JSON.stringify(kept);
    expect(history.over.get(node.workNodeId) ?? now).toBe(now);
    history.over.set(node.workNodeId, now);
  }
  const wanted = nodes.filter(({ status }) => status !== "cancelled");
  expect(findCycle(new Map(wanted.map((node) => [node.workNodeId, node])))).toBeUndefined();
  // At rest: no node is ready that is not queued, no parent lags behind its children.
  expect(settle(history.tree, ADA)).toEqual([]);
  for (const parent of nodes.filter(({ leaf }) => !leaf)) {
    const children = nodes.filter(({ parentId }) => parentId === parent.workNodeId);
    expect(rollUpStatus(parent, children)).toBeUndefined();
    if (parent.status === "done" && parent.override === null) expect(children.filter(isOpen)).toEqual([]);
  }
  for (const node of nodes) expect(countSplits(node, nodes)).toBeLessThanOrEqual(LIMITS.replansPerNode);
  const { done, total, percent } = progressOfGoal(nodes, goal.status === "completed");
  expect(done).toBeLessThanOrEqual(total);
  expect(percent).toBeLessThanOrEqual(100);
}

function lookAtSplit(before: GoalTree, after: GoalTree, source: WorkNode, ids: readonly string[]): void {
  expect(after.nodes.find(({ workNodeId }) => workNodeId === source.workNodeId)?.status).toBe("cancelled");
  for (const id of ids) {
    const part = after.nodes.find(({ workNodeId }) => workNodeId === id);
    expect(part).toMatchObject({ kind: source.kind, parentId: source.parentId, tags: source.tags, leaf: true });
    for (const dep of source.dependsOn) expect(part?.dependsOn).toContain(dep);
  }
  for (const node of before.nodes) {
    const now = after.nodes.find(({ workNodeId }) => workNodeId === node.workNodeId);
    if (!now || node === source) continue;
    const waits = node.status === "todo" || (isOpen(node) && !node.leaf);
    if (waits && node.dependsOn.includes(source.workNodeId)) {
      for (const id of ids) expect(now.dependsOn).toContain(id);
      expect(now.dependsOn).not.toContain(source.workNodeId);
    } else expect(now.dependsOn).toEqual(node.dependsOn);
    // A parent may follow; whoever else was at work, waited or has ended is as it was.
    if (node.leaf) expect(now.status).toBe(node.status);
  }
}

function partsOf(after: readonly (readonly number[])[]): SplitPart[] {
  return [[], ...after].map((numbers, at) => ({
    ...{ name: `Piece ${at}`, objective: `Do piece ${at}`, expectedOutcome: "", files: [] },
    acceptance: [`the test of piece ${at} passes`],
    after: numbers.filter((number) => number <= at),
  }));
}

function decide(tree: GoalTree, given: Command, fresh: () => string): Decision<unknown> | undefined {
  const { goal, nodes } = tree;
  if (given.do === "revise") {
    const plan = revise(nodes, given, fresh);
    return acceptPlan(goal, nodes, plan, { ...DEFAULT_PLAN_LIMITS, maxTasksPerPhase: 60 }, FROM_FILE, ADA);
  }
  const leaves = nodes.filter(({ leaf }) => leaf);
  const node = leaves[given.node % Math.max(1, leaves.length)];
  if (!node) return undefined;
  switch (given.do) {
    case "split": {
      const order = { nodeId: node.workNodeId, base: goal.plan.length - given.base, because: "no activity" };
      return splitNode(goal, nodes, order, partsOf(given.after), LIMITS, BY_MODEL, ADA);
    }
    case "start":
      if (node.status !== "queued") return undefined;
      return { ok: true, value: null, events: [nodeEvent(node, ADA, "work.started", "test", { reason: null })] };
    case "cancel":
      return cancelNode(node, nodes, "not needed", ADA);
    default: {
      const done = { summary: "It works.", crystallizationId: `C_${node.workNodeId}` };
      const how = given.do === "override" ? { ...done, overrideReason: "I say so" } : done;
      return finishByHand(node, nodes, how, ADA);
    }
  }
}

/** What is there, some of what is open left out, and some tasks more, which wait for what is there. */
function revise(
  nodes: readonly WorkNode[],
  { keep, fresh, deps }: Extract<Command, { do: "revise" }>,
  name: () => string,
): PlannedNode[] {
  const isKept = (node: WorkNode, at: number) => !isOpen(node) || keep[at % keep.length] !== false;
  const kept = nodes.filter((node, at) => node.kind !== "task" || isKept(node, at));
  const ids = new Set(kept.map(({ workNodeId }) => workNodeId));
  const toPlan = (node: WorkNode): PlannedNode =>
    planned(node.workNodeId, {
      ...{ name: node.name, objective: node.objective, acceptance: node.acceptanceCriteria, tags: node.tags },
      deps: isOpen(node) ? node.dependsOn.filter((id) => ids.has(id)) : node.dependsOn,
      hints: node.hints,
      children: kept.filter(({ parentId }) => parentId === node.workNodeId).map(toPlan),
    });
  const phases = kept.filter(({ parentId }) => parentId === null).map(toPlan);
  const waits = deps.flatMap((at) => [...ids][at % Math.max(1, ids.size)] ?? []);
  const more = Array.from({ length: fresh }, () => planned(name(), { deps: waits }));
  return more.length === 0 ? phases : [...phases, planned(name(), { children: more })];
}

/** One that no node has. */
function takeName(names: string[], nodes: readonly WorkNode[]): string {
  const taken = new Set(nodes.map(({ workNodeId }) => workNodeId));
  for (let name = names.pop(); name !== undefined; name = names.pop()) if (!taken.has(name)) return name;
  throw new Error("There are no names left.");
}

test("PLAN-3: whatever is done to a plan, ids are never reused, what has ended never changes, and it stays sound", () => {
  const arrows = fc.array(fc.tuple(index, index), { maxLength: 6 });
  const seen = { splits: 0, stale: 0, revisions: 0 };
  fc.assert(
    fc.property(arrows, fc.array(command, { maxLength: 25 }), (drawn, commands) => {
      // The first are called as parts would be.
      const names = [...Array.from({ length: 200 }, (_, at) => `N${at}`), "T4.a", "T2.b", "T2.a", "T1.b", "T1.a"];
      const empty: GoalTree = { goal: goalOf(), nodes: [] };
      const first = acceptPlan(empty.goal, [], planOf(drawn), DEFAULT_PLAN_LIMITS, FROM_FILE, ADA);
      if (!first.ok) return; // a plan that goes in a circle is none
      const history: History = { tree: empty, ids: new Set(), over: new Map() };
      const take = (decision: Decision<unknown>) => {
        const settled = settleDecision(history.tree, decision, ADA);
        if (!settled.ok) return false;
        history.tree = settled.events.reduce((state, event) => advance(state, event, ADA.now), history.tree);
        look(history, settled.events);
        return true;
      };
      take(first);
      for (const given of commands) {
        const before = history.tree;
        const decision = decide(before, given, () => takeName(names, before.nodes));
        if (!decision || !take(decision)) {
          if (given.do === "split") seen.stale += 1;
          expect(history.tree).toBe(before);
          continue;
        }
        if (given.do === "revise") seen.revisions += 1;
        if (given.do !== "split") continue;
        seen.splits += 1;
        const leaves = before.nodes.filter(({ leaf }) => leaf);
        const source = leaves[given.node % leaves.length];
        if (source && decision.ok) lookAtSplit(before, history.tree, source, (decision.value as { ids: string[] }).ids);
      }
    }),
    { numRuns: scaled(1_500) },
  );
  expect(Object.values(seen).every((count) => count > 0)).toBe(true);
}, 600_000);

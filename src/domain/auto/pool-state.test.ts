import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Condition } from "#domain/model/condition.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { autoWith, poolTaskWith, workerWith } from "../../../test/support/auto.ts";
import { scaled } from "../../../test/support/scale.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { countPool, type OpenWork } from "./pool-state.ts";

const TASK = nodeWith("queued");
const node = (goalId: string, status: WorkStatus, parts: Partial<WorkNode> = {}): WorkNode => ({
  ...{ ...TASK, goalId, status },
  ...parts,
});
const living = (agent: string, goalId: string, workNodeId = "T1") => ({ agent, goalId, workNodeId });
const open = (...goalIds: string[]) =>
  autoWith({ open: goalIds.map((goalId) => poolTaskWith({ goalId, key: goalId })) });
const work = (change: Partial<OpenWork>): OpenWork => ({
  ...{ auto: autoWith(), workers: [], concurrency: 2, nodes: [], living: [], conditions: [] },
  goals: ["goal_A", "goal_B"].map((goalId) => ({ goalId, status: "active" as const })),
  ...change,
});

describe("AUTO-3, AUTO-5: who is busy, what is ready and what waits for a person", () => {
  const rows: readonly [
    string,
    Partial<OpenWork>,
    readonly [places: number, busy: number, ready: number, waiting: number],
  ][] = [
    ["nothing at all", {}, [2, 0, 0, 0]],
    [
      "what its goal has no money for is not ready",
      {
        nodes: [node("goal_A", "queued"), node("goal_B", "queued")],
        conditions: [{ kind: "budget", active: true, scope: "goal:goal_A", phase: "paused" } as unknown as Condition],
      },
      [2, 0, 1, 0],
    ],
    ["a standing worker is a place", { workers: [workerWith("ben")] }, [3, 0, 0, 0]],
    ["one that is excluded is none", { workers: [workerWith("ben", { excluded: true })] }, [2, 0, 0, 0]],
    [
      "both kinds at work are busy, others are not",
      {
        workers: [workerWith("ben")],
        living: [living("auto-1", "goal_A"), living("ben", "goal_B"), living("builder-1", "goal_C")],
      },
      [3, 2, 0, 0],
    ],
    ["one that auto mode had more of before is busy too", { living: [living("auto-7", "goal_A")] }, [2, 1, 0, 0]],
    ["a task that is ready", { nodes: [node("goal_A", "queued")], auto: open("goal_A") }, [2, 0, 1, 0]],
    [
      "that of a paused goal is not",
      { nodes: [node("goal_A", "queued")], goals: [{ goalId: "goal_A", status: "paused" }] },
      [2, 0, 0, 0],
    ],
    [
      "one that names its agent is not",
      { nodes: [node("goal_A", "queued", { hints: { suggestedAgentId: "cleo" } })] },
      [2, 0, 0, 0],
    ],
    [
      "one that somebody is on already is not",
      { nodes: [node("goal_A", "queued")], living: [living("auto-1", "goal_A")] },
      [2, 1, 0, 0],
    ],
    ["a phase is not", { nodes: [node("goal_A", "queued", { kind: "phase" })] }, [2, 0, 0, 0]],
    ["a task that is blocked waits", { nodes: [node("goal_A", "blocked")], auto: open("goal_A") }, [2, 0, 0, 1]],
    [
      "one that is to be reviewed waits",
      { nodes: [node("goal_A", "in_progress")], auto: open("goal_A") },
      [2, 0, 0, 1],
    ],
    [
      "one that somebody works on does not",
      { nodes: [node("goal_A", "in_progress")], auto: open("goal_A"), living: [living("auto-1", "goal_A")] },
      [2, 1, 0, 0],
    ],
    [
      "work of people does not count among the pool's",
      { nodes: [node("goal_A", "blocked"), node("goal_B", "blocked")], auto: open("goal_B") },
      [2, 0, 0, 1],
    ],
    ["what has ended does not wait", { nodes: [node("goal_A", "cancelled")], auto: open("goal_A") }, [2, 0, 0, 0]],
  ];
  test.each(rows)("%s", (_name, change, [places, busy, ready, waiting]) => {
    expect(countPool(work(change))).toEqual({ places, busy, ready, waiting });
  });
});

test("AUTO-5: no open task of the pool is both at work and waiting, whatever is open", () => {
  const status = fc.constantFrom<WorkStatus>("todo", "queued", "in_progress", "blocked", "done", "cancelled");
  const one = fc.record({ status, held: fc.boolean() });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 5 }), (drawn) => {
      const goals = drawn.map((_, index) => ({ goalId: `goal_${index}`, status: "active" as const }));
      const nodes = drawn.map((each, index) => node(`goal_${index}`, each.status));
      const held = drawn.flatMap((each, index) => (each.held ? [living(`auto-${index + 1}`, `goal_${index}`)] : []));
      const auto = open(...goals.map(({ goalId }) => goalId));
      const { busy, ready, waiting } = countPool(work({ auto, goals, nodes, living: held }));
      expect(busy).toBe(held.length);
      expect(ready + waiting + busy).toBeLessThanOrEqual(drawn.length);
    }),
    { numRuns: scaled(100) },
  );
});

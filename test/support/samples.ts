/** Small worlds that many tests begin from: one goal, one plan, one moment. */
import type { Moment } from "#domain/core/actor.ts";
import { BLANK_DEFINITION, createGoal, type NewGoal } from "#domain/model/goal.ts";
import { acceptPlan, DEFAULT_PLAN_LIMITS, type PlannedNode } from "#domain/plans/plan.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodesOfGoal } from "#store/work.ts";

export const T0 = Date.UTC(2026, 0, 5, 9, 0, 0);

export const ADA: Moment = { now: T0, actor: "human:ada" };

export function newGoal(goalId: string, title = "Parse dates"): NewGoal {
  return { goalId, definition: { ...BLANK_DEFINITION, title }, origin: { kind: "cli" }, repo: {} };
}

export function planned(id: string, parts: Partial<PlannedNode> = {}): PlannedNode {
  return {
    id,
    name: `Node ${id}`,
    objective: `Reach ${id}`,
    expectedOutcome: "",
    acceptance: [`${id} is seen to work`],
    definitionOfDone: "",
    deps: [],
    blocks: [],
    hints: {},
    tags: [],
    children: [],
    ...parts,
  };
}

/** Two phases: P1 with T1.1 (two subtasks) and T1.2 after it; P2 with T2.1 after P1. */
export const SMALL_PLAN: readonly PlannedNode[] = [
  planned("P1", {
    children: [
      planned("T1.1", { children: [planned("S1.1.1"), planned("S1.1.2", { deps: ["S1.1.1"] })] }),
      planned("T1.2", { deps: ["T1.1"] }),
    ],
  }),
  planned("P2", { deps: ["P1"], children: [planned("T2.1")] }),
];

export async function addGoal(store: Store, goalId: string, at = T0): Promise<void> {
  const outcome = await store.commit({
    at,
    reads: { taken: goalById(goalId) },
    decide: ({ taken }) => createGoal(taken, newGoal(goalId), { ...ADA, now: at }),
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}

export async function addPlan(store: Store, goalId: string, phases = SMALL_PLAN, at = T0): Promise<void> {
  const moment = { ...ADA, now: at };
  const outcome = await store.commit({
    at,
    reads: { goal: goalById(goalId), nodes: nodesOfGoal(goalId) },
    decide: ({ goal, nodes }) => {
      if (!goal) throw new Error("no goal");
      const provenance = { source: "file" as const, rejected: [], raw: "", change: "first plan" };
      return settleDecision(
        { goal, nodes },
        acceptPlan(goal, nodes, phases, DEFAULT_PLAN_LIMITS, provenance, moment),
        moment,
      );
    },
  });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
}

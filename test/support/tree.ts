/** Goal trees without a store: what rule tests begin from, and how they read what a rule decided. */

import type { Refusal } from "#domain/core/refusal.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Decision } from "#domain/model/decision.ts";
import type { EventOf, EventType, NewEvent } from "#domain/model/event.ts";
import { applyToGoal, createGoal, type Goal } from "#domain/model/goal.ts";
import { finishByHand, type WorkNode, type WorkStatus } from "#domain/model/work.ts";
import { acceptPlan, DEFAULT_PLAN_LIMITS, type PlannedNode } from "#domain/plans/plan.ts";
import { advance, type GoalTree, settleDecision } from "#domain/plans/settle.ts";
import { ADA, newGoal, planned, SMALL_PLAN, T0 } from "./samples.ts";

export const FROM_FILE = { source: "file" as const, rejected: [], raw: "", change: "first plan" };

/** An event as the log would hand it to the fold. */
export function placed(event: NewEvent, at = T0): EventOf {
  return { ...event, seq: 1, at, v: 1 } as EventOf;
}

export function allowed<T>(decision: Decision<T>): readonly NewEvent[] {
  if (!decision.ok) throw new Error(`Refused: ${decision.refusal.code} ${decision.refusal.message}`);
  return decision.events;
}

export function refused(decision: Decision<unknown>): Refusal {
  if (decision.ok) throw new Error(`Allowed, with ${decision.events.map((event) => event.type).join(", ")}`);
  return decision.refusal;
}

export function typesOf(decision: Decision<unknown>): EventType[] {
  return allowed(decision).map((event) => event.type);
}

export function goalOf(parts: Partial<Goal> = {}): Goal {
  const [event] = allowed(createGoal(undefined, newGoal("goal_A"), ADA));
  const goal = event && applyToGoal(undefined, placed(event));
  if (!goal) throw new Error("no goal");
  return { ...goal, ...parts };
}

/** A goal that was given this plan, at rest. */
export function treeOf(phases: readonly PlannedNode[] = SMALL_PLAN, goal: Partial<Goal> = {}): GoalTree {
  return replanned({ goal: goalOf(goal), nodes: [] }, phases);
}

export function plan(tree: GoalTree, phases: readonly PlannedNode[]) {
  return acceptPlan(tree.goal, tree.nodes, phases, DEFAULT_PLAN_LIMITS, FROM_FILE, ADA);
}

export function replanned(tree: GoalTree, phases: readonly PlannedNode[]): GoalTree {
  return after(tree, plan(tree, phases));
}

/** The tree once the decision and all that follows from it has happened. */
export function after(tree: GoalTree, decision: Decision<unknown>, at = T0): GoalTree {
  const events = allowed(settleDecision(tree, decision, { ...ADA, now: at }));
  return events.reduce((state, event) => advance(state, event, at), tree);
}

export function nodeIn(tree: GoalTree, id: string): WorkNode {
  const node = tree.nodes.find((one) => one.workNodeId === id);
  if (!node) throw new Error(`no node ${id}`);
  return node;
}

export function statuses(tree: GoalTree): Record<string, WorkStatus> {
  return Object.fromEntries(tree.nodes.map((node) => [node.workNodeId, node.status]));
}

export function finish(tree: GoalTree, id: string, override?: string): GoalTree {
  const done = { summary: `${id} works`, crystallizationId: `C_${id}`, overrideReason: override };
  return after(tree, finishByHand(nodeIn(tree, id), tree.nodes, done, ADA));
}

/** A leaf that stands in that status, whatever the way there. */
export function nodeWith(status: WorkStatus, parts: Partial<WorkNode> = {}): WorkNode {
  const tree = treeOf([planned("P1", { children: [planned("T1")] })]);
  const blockedReason = status === "blocked" ? { kind: "human" as const, detail: "waits for a decision" } : null;
  return { ...nodeIn(tree, "T1"), status, blockedReason, ...parts };
}

export function assignmentWith(parts: Partial<Assignment> = {}): Assignment {
  return {
    assignmentId: "A_1",
    goalId: "goal_A",
    workNodeId: "T1",
    target: { agentId: "builder-1", sessionKey: null, deliveryContext: null, spawnedBy: null },
    status: "active",
    statusReason: null,
    blockedReason: null,
    lastInstruction: null,
    instructionHash: null,
    dispatches: [],
    runId: null,
    recoveryPolicy: "nudge",
    idleAfterMs: 600_000,
    retryCount: 0,
    lastRetryAt: null,
    backoffUntil: null,
    lastDispatchAt: null,
    lastObservedActivityAt: null,
    expectedNextUpdateAt: null,
    createdAt: T0,
    updatedAt: T0,
    endedAt: null,
    ...parts,
  };
}

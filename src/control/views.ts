/**
 * What one may ask about goals, work and events: the answers that lists and `show` give, the same for every door
 * (present.ts makes JSON of them).
 */

import { type Observed, toObserved } from "#domain/explain/observed.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { listDependents, waitsFor } from "#domain/model/readiness.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { composeHandoffId } from "#domain/plans/composed.ts";
import type { Progress } from "#domain/plans/rollup.ts";
import { progressOf, progressOfGoal } from "#domain/plans/rollup.ts";
import { OverseerError } from "#errors.ts";
import { assignmentsOfNode, crystallizationById, latestCrystallization } from "#store/assignments.ts";
import { attemptsOfNode } from "#store/attempts.ts";
import type { EventFilter } from "#store/events.ts";
import { eventsMatching } from "#store/events.ts";
import { goalById, goalOverviews } from "#store/goals.ts";
import { pulseOf } from "#store/signals.ts";
import { nodeById, nodesInStatus, nodesOfGoal } from "#store/work.ts";
import { resolveGoal, resolveNode } from "./names.ts";
import { type GoalRow, goalRow } from "./status.ts";
import type { World } from "./world.ts";

export async function goals(world: World, filter: { all?: boolean; status?: string } = {}): Promise<GoalRow[]> {
  const store = await world.reader();
  const { rows } = await store.read({
    rows: goalOverviews({ archived: filter.all === true || filter.status === "archived" }),
  });
  return rows.filter((row) => filter.status === undefined || row.status === filter.status).map(goalRow);
}

export interface NodeView extends WorkNode {
  readonly progress: Progress;
  /** Ids it still waits for. */
  readonly waitsFor: readonly string[];
  /** Ids that wait for it. */
  readonly blocks: readonly string[];
}

export interface GoalView extends Goal {
  readonly progress: Progress;
  readonly work: readonly NodeView[];
  readonly crystallization: Crystallization | null;
}

export async function goal(world: World, word: string): Promise<GoalView> {
  const store = await world.reader();
  const goalId = await resolveGoal(store, word);
  const seen = await store.read({
    goal: goalById(goalId),
    nodes: nodesOfGoal(goalId),
    own: crystallizationById(composeHandoffId(goalId)),
    latest: latestCrystallization(goalId),
  });
  if (!seen.goal) throw new OverseerError("not-found", "GOAL_UNKNOWN", `There is no goal ${goalId}.`, "Check the id.");
  return {
    ...seen.goal,
    progress: progressOfGoal(seen.nodes, seen.goal.status === "completed"),
    work: viewNodes(seen.nodes),
    crystallization: seen.own ?? seen.latest ?? null,
  };
}

/** A thousand nodes are looked at once each for what they wait for, not once for every other. */
function viewNodes(nodes: readonly WorkNode[]): NodeView[] {
  const byId = new Map(nodes.map((one) => [one.workNodeId, one]));
  return nodes.map((node) => nodeView(node, nodes, byId));
}

function nodeView(node: WorkNode, nodes: readonly WorkNode[], byId: ReadonlyMap<string, WorkNode>): NodeView {
  return {
    ...node,
    progress: progressOf(node, nodes),
    waitsFor: node.status === "todo" ? waitsFor(node, byId) : [],
    blocks: listDependents(node, nodes),
  };
}

export async function work(
  world: World,
  filter: { goal?: string; status?: WorkStatus; limit?: number } = {},
): Promise<WorkNode[]> {
  const store = await world.reader();
  if (filter.goal !== undefined) {
    const { nodes } = await store.read({ nodes: nodesOfGoal(await resolveGoal(store, filter.goal)) });
    return nodes.filter((node) => filter.status === undefined || node.status === filter.status);
  }
  const statuses: readonly WorkStatus[] = filter.status
    ? [filter.status]
    : ["blocked", "in_progress", "queued", "todo"];
  const pages = await Promise.all(
    statuses.map(async (status) => (await store.read({ page: nodesInStatus(status, filter.limit ?? 200) })).page),
  );
  return pages.flat().slice(0, filter.limit ?? 200);
}

export interface NodeDetail extends NodeView {
  readonly assignments: readonly Assignment[];
  readonly crystallization: Crystallization | null;
  /** How the agent of the last assignment does. */
  readonly observed: Observed | null;
}

export async function workNode(world: World, words: { node: string; goal?: string }): Promise<NodeDetail> {
  const store = await world.reader();
  const { goalId, nodeId } = await resolveNode(store, words.node, words.goal);
  const { nodes, assignments } = await store.read({
    nodes: nodesOfGoal(goalId),
    assignments: assignmentsOfNode(goalId, nodeId),
  });
  const node = nodes.find((one) => one.workNodeId === nodeId);
  if (!node) throw new OverseerError("not-found", "NODE_UNKNOWN", `There is no node ${nodeId}.`, "Check the id.");
  const latest = node.crystallizationId
    ? (await store.read({ one: crystallizationById(node.crystallizationId) })).one
    : undefined;
  const last = assignments.at(-1);
  const observed = last ? (await observeAssignment(world, last)).observed : null;
  const view = nodeView(node, nodes, new Map(nodes.map((one) => [one.workNodeId, one])));
  return { ...view, assignments, crystallization: latest ?? null, observed };
}

export async function events(world: World, filter: EventFilter): Promise<EventOf[]> {
  return (await (await world.reader()).read({ page: eventsMatching(filter) })).page;
}

/** How the agent of an assignment does, from everything that was recorded about it. */
export async function observeAssignment(
  world: World,
  assignment: Assignment,
): Promise<{ readonly observed: Observed; readonly attempt: Attempt | undefined }> {
  const store = await world.reader();
  const { goalId, workNodeId, assignmentId } = assignment;
  const { attempts, node } = await store.read({
    attempts: attemptsOfNode(goalId, workNodeId),
    node: nodeById(goalId, workNodeId),
  });
  const attempt = attempts.find((one) => one.assignmentId === assignmentId);
  const { pulse, left } = await store.read({
    pulse: pulseOf(attempt?.attempt ?? 0),
    left: crystallizationById(node?.crystallizationId ?? ""),
  });
  return { observed: toObserved({ assignment, attempt, pulse, left }, world.clock.now()), attempt };
}

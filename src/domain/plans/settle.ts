/**
 * What follows from a change: nodes whose dependencies are met become queued, parents follow their children, and a
 * goal whose phases have all ended is completed. Every verb that touches work is passed through here, so the result
 * does not depend on which door was used nor on the order in which things were finished.
 */
import type { Moment } from "#domain/core/actor.ts";
import { pathOfMoves } from "#domain/core/moves.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import { applyToCrystallization } from "#domain/model/crystallization.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { applyToGoal, goalMoveEvent } from "#domain/model/goal.ts";
import { isReady } from "#domain/model/readiness.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { applyToNode, isOpen, nodeEvent, WORK_MOVES } from "#domain/model/work.ts";
import { composeHandoff, composeHandoffId } from "./composed.ts";
import { rollUpStatus } from "./rollup.ts";

/** A goal with all its nodes, as the rules see it. */
export interface GoalTree {
  readonly goal: Goal;
  readonly nodes: readonly WorkNode[];
  /** The handoffs of its nodes, where they were read: what a finished parent's own is composed of. */
  readonly crystallizations?: readonly Crystallization[];
  /** Nodes that somebody works on: they are done when that agent's claim holds, not when their parts are. */
  readonly held?: ReadonlySet<string>;
}

/** A decision about a goal's work, completed by everything that follows from it. */
export function settleDecision<T>(tree: GoalTree, decision: Decision<T>, moment: Moment): Decision<T> {
  if (!decision.ok) return decision;
  const after = decision.events.reduce((state, event) => advance(state, event, moment.now), tree);
  return accept([...decision.events, ...settle(after, moment)], decision.value);
}

/** The events that bring a tree to rest; empty when it is. */
export function settle(tree: GoalTree, moment: Moment): NewEvent[] {
  const events: NewEvent[] = [];
  let state = tree;
  for (let next = nextStep(state, moment); next.length > 0; next = nextStep(state, moment)) {
    events.push(...next);
    state = next.reduce((before, event) => advance(before, event, moment.now), state);
  }
  return events;
}

/** The tree after one more event; the fold that the store does, done ahead of it. */
export function advance(tree: GoalTree, event: NewEvent, at: number): GoalTree {
  const placed = { ...event, seq: 0, at, v: 1 } as EventOf;
  const goal = applyToGoal(tree.goal, placed) ?? tree.goal;
  const recorded = applyToCrystallization(undefined, placed);
  const crystallizations = recorded ? [...(tree.crystallizations ?? []), recorded] : (tree.crystallizations ?? []);
  const held = releaseHeld(tree.held, event);
  if (event.nodeId === undefined) return { ...tree, goal, crystallizations };
  if (event.type === "work.added") {
    const added = applyToNode(undefined, placed);
    return { ...tree, goal, crystallizations, nodes: added ? [...tree.nodes, added] : tree.nodes };
  }
  const nodes = tree.nodes.map((node) =>
    node.workNodeId === event.nodeId ? (applyToNode(node, placed) ?? node) : node,
  );
  return { goal, nodes, crystallizations, ...(held ? { held } : {}) };
}

/** Whoever's assignment ends in this very decision holds the node no longer. */
function releaseHeld(held: ReadonlySet<string> | undefined, event: NewEvent): ReadonlySet<string> | undefined {
  if (!held || event.nodeId === undefined) return held;
  if (event.type !== "assignment.done" && event.type !== "assignment.cancelled") return held;
  return new Set([...held].filter((id) => id !== event.nodeId));
}

/** The first thing that is due: readiness before roll-ups, deepest parents first, the goal last. */
function nextStep(tree: GoalTree, moment: Moment): NewEvent[] {
  const quiet: Moment = { now: moment.now, actor: "overseer" };
  const byId = new Map(tree.nodes.map((node) => [node.workNodeId, node]));
  const ready = tree.nodes.filter((node) => isReady(node, byId));
  if (ready.length > 0) {
    return ready.map((node) =>
      nodeEvent(node, quiet, "work.queued", everWaited(node, byId) ? "dependencies-met" : "nothing-to-wait-for", {
        reason: null,
      }),
    );
  }
  const children = childrenByParent(tree.nodes);
  const parents = tree.nodes
    .filter((node) => !node.leaf)
    .sort((a, b) => depth(b) - depth(a) || a.position - b.position);
  for (const parent of parents) {
    const below = children.get(parent.workNodeId) ?? [];
    const to = rollUpStatus(parent, below);
    if (to && !(to === "done" && tree.held?.has(parent.workNodeId))) return rollUp(tree, parent, below, to, quiet);
  }
  return completion(tree, quiet);
}

/** True when it or a node above it depends on something. */
function everWaited(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): boolean {
  const parent = node.parentId === null ? undefined : byId.get(node.parentId);
  return node.dependsOn.length > 0 || (parent !== undefined && everWaited(parent, byId));
}

function rollUp(
  tree: GoalTree,
  parent: WorkNode,
  children: readonly WorkNode[],
  to: WorkStatus,
  moment: Moment,
): NewEvent[] {
  const because =
    to === "in_progress" ? "child-started" : to === "done" ? "all-children-done" : "all-children-cancelled";
  if (to === "cancelled") return [nodeEvent(parent, moment, "work.cancelled", because, { reason: null })];
  const events: NewEvent[] = [];
  for (const step of pathOfMoves(WORK_MOVES, parent.status, to) ?? []) {
    if (step === "queued") events.push(nodeEvent(parent, moment, "work.queued", because, { reason: null }));
    if (step === "in_progress") events.push(nodeEvent(parent, moment, "work.started", because, { reason: null }));
    if (step === "done") events.push(...rollUpDone(tree, parent, children, moment, because));
  }
  return events;
}

function rollUpDone(
  tree: GoalTree,
  parent: WorkNode,
  children: readonly WorkNode[],
  moment: Moment,
  because: string,
): NewEvent[] {
  const done = children.filter((child) => child.status === "done");
  const composed = composeHandoff(parent.kind, children, tree.crystallizations ?? []);
  const crystallizationId = composeHandoffId(parent.goalId, parent.workNodeId);
  return [
    nodeEvent(parent, moment, "crystallization.recorded", because, { crystallizationId, ...composed }),
    nodeEvent(parent, moment, "work.done", because, {
      summary: `${done.map((child) => child.workNodeId).join(", ")} done`,
      evidence: composed.evidence,
      crystallizationId,
      unverified: done.some((child) => child.unverified),
    }),
  ];
}

/** All phases ended and one of them done: the goal is reached. All cancelled: a person decides what it means. */
function completion(tree: GoalTree, moment: Moment): NewEvent[] {
  const phases = tree.nodes.filter((node) => node.parentId === null);
  if (tree.goal.status !== "active" || phases.length === 0 || phases.some(isOpen)) return [];
  if (!phases.some((phase) => phase.status === "done")) return [];
  const { goalId } = tree.goal;
  const composed = composeHandoff("goal", phases, tree.crystallizations ?? []);
  return [
    {
      type: "crystallization.recorded",
      actor: moment.actor,
      goalId,
      because: "all-phases-done",
      data: { crystallizationId: composeHandoffId(goalId), ...composed },
    },
    goalMoveEvent(tree.goal, "completed", moment, "all-phases-done", null),
  ];
}

function childrenByParent(nodes: readonly WorkNode[]): Map<string, WorkNode[]> {
  const map = new Map<string, WorkNode[]>();
  for (const node of nodes) {
    if (node.parentId === null) continue;
    const list = map.get(node.parentId);
    if (list) list.push(node);
    else map.set(node.parentId, [node]);
  }
  return map;
}

function depth(node: WorkNode): number {
  return node.path.split("/").length;
}

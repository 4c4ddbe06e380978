/**
 * How the pool stands: who is busy, what is ready, which of its tasks wait for a person. Counted from what is open, so that
 * nothing has to be kept beside it that could disagree. Pure.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { type AutoCondition, isAutoName, type Worker } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Goal } from "#domain/model/goal.ts";
import { isOpen, nodeKey, type WorkNode } from "#domain/model/work.ts";
import { listPlaces } from "./workers.ts";

export interface OpenWork {
  readonly auto: AutoCondition | undefined;
  readonly workers: readonly Worker[];
  readonly concurrency: number;
  /** Goals that are not over, and their nodes. */
  readonly goals: readonly Pick<Goal, "goalId" | "status">[];
  readonly nodes: readonly WorkNode[];
  readonly conditions: readonly Condition[];
  readonly living: readonly Pick<Attempt, "agent" | "goalId" | "workNodeId">[];
}

export interface PoolCounts {
  readonly places: number;
  readonly busy: number;
  readonly ready: number;
  /** Tasks of the pool on which nobody works and nothing follows by itself. */
  readonly waiting: number;
}

export function countPool({ auto, workers, concurrency, goals, nodes, living, conditions }: OpenWork): PoolCounts {
  const places = listPlaces(concurrency, workers);
  const standing = new Set(places.filter((name) => !isAutoName(name)));
  // One that auto mode had more of before is busy too, until it is done.
  const busy = living.filter(({ agent }) => isAutoName(agent) || standing.has(agent)).length;
  const held = new Set(living.map(({ goalId, workNodeId }) => nodeKey(goalId, workNodeId)));
  const active = new Set(goals.filter(({ status }) => status === "active").map(({ goalId }) => goalId));
  // What has no money is dispatched to nobody, and must not keep the others waiting.
  const spent = new Set(
    conditions.flatMap((one) => (one.kind === "budget" && one.active && one.phase !== "warned" ? [one.scope] : [])),
  );
  const isReady = (node: WorkNode) =>
    node.status === "queued" &&
    node.kind === "task" &&
    active.has(node.goalId) &&
    !spent.has(`goal:${node.goalId}`) &&
    node.hints.suggestedAgentId === undefined &&
    !held.has(nodeKey(node.goalId, node.workNodeId));
  const ready = nodes.filter(isReady);
  const moving = new Set([...living.map(({ goalId }) => goalId), ...ready.map(({ goalId }) => goalId)]);
  const open = new Set(nodes.filter(isOpen).map(({ goalId }) => goalId));
  const waiting = (auto?.open ?? []).filter(({ goalId }) => open.has(goalId) && !moving.has(goalId)).length;
  return { places: places.length, busy, ready: ready.length, waiting };
}

/**
 * A plan as pieces of work: a piece is what one agent is given. Tasks are pieces, with all their subtasks; a subtask is one
 * only by hint, and a task whose subtasks all are needs no agent itself (WORK-7, as dispatch has it). What has ended is none.
 */
import type { NodeDefinition, WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";
import { definePlan, type PlannedNode } from "./plan.ts";

export interface PlanPart {
  readonly id: string;
  readonly definition: NodeDefinition;
  readonly ended: boolean;
}

export function partsOfPlan(phases: readonly PlannedNode[]): PlanPart[] {
  return definePlan(phases).map(({ id, definition }) => ({ id, definition, ended: false }));
}

export function partsOfWork(nodes: readonly WorkNode[]): PlanPart[] {
  return nodes.map((node) => ({ id: node.workNodeId, definition: node, ended: !isOpen(node) }));
}

/** In the order of the plan. */
export function listPieces(parts: readonly PlanPart[]): PlanPart[] {
  const children = new Map<string, { open: number; own: number }>();
  for (const { definition, ended } of parts) {
    if (ended || definition.parentId === null) continue;
    const known = children.get(definition.parentId) ?? { open: 0, own: 0 };
    known.open += 1;
    if (definition.hints.ownAgent) known.own += 1;
    children.set(definition.parentId, known);
  }
  return parts.filter(({ id, definition: { kind, hints }, ended }) => {
    if (ended || kind === "phase") return false;
    if (kind === "subtask") return hints.ownAgent === true;
    const below = children.get(id);
    return below === undefined || below.own < below.open;
  });
}

/** What comes after what, in a plan without circles: each vertex after all that lead to it. */
export interface PieceGraph {
  readonly pieces: readonly PlanPart[];
  /** Where the work of each piece begins and ends. */
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  /** By vertex: those that follow it. The way from the beginning of a piece to its end is not among them. */
  readonly followers: readonly (readonly number[])[];
}

/**
 * Two vertices for each node, its start and its end, so that a phase that waits for another takes one arrow and not one for
 * each pair of tasks. What has no agent of its own has the vertices of the piece that it is done within.
 */
export function graphPieces(parts: readonly PlanPart[]): PieceGraph {
  const pieces = listPieces(parts);
  const isPiece = new Set(pieces.map(({ id }) => id));
  const place = new Map(parts.map(({ id }, index) => [id, 2 * index]));
  for (const { id, definition } of parts) {
    if (definition.kind !== "subtask" || isPiece.has(id) || !isPiece.has(definition.parentId ?? "")) continue;
    place.set(id, place.get(definition.parentId ?? "") ?? 0);
  }
  const followers: number[][] = Array.from({ length: 2 * parts.length }, () => []);
  const draw = (from: number, to: number) => {
    if (from !== to && from !== to + 1) followers[from]?.push(to);
  };
  for (const { id, definition } of parts) {
    const begin = place.get(id) ?? 0;
    const parent = definition.parentId === null ? undefined : place.get(definition.parentId);
    if (parent !== undefined && parent !== begin) {
      draw(parent, begin);
      draw(begin + 1, parent + 1);
    }
    for (const dependency of definition.dependsOn) {
      const before = place.get(dependency);
      if (before !== undefined) draw(before + 1, begin);
    }
    if (!isPiece.has(id)) followers[begin]?.push(begin + 1);
  }
  const begins = pieces.map(({ id }) => place.get(id) ?? 0);
  return { pieces, begins, ends: begins.map((begin) => begin + 1), followers };
}

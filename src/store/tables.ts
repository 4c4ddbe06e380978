/**
 * How an entity lies in its table: the few columns that lists and status are computed from, and the whole thing as
 * one JSON document. Both databases and the rebuild write through this one description.
 */
import type { Entities, Entity, EntityKind } from "#domain/model/fold.ts";
import { recoveryKey } from "#domain/model/ladder-state.ts";
import { listUnjudged } from "#domain/model/learning.ts";
import { nodeKey } from "#domain/model/work.ts";

export type SqlValue = string | number | null;

export interface TableSpec<E> {
  readonly table: string;
  /** Columns beside id, version and doc. */
  readonly columns: readonly string[];
  id(entity: E): string;
  values(entity: E): SqlValue[];
}

export const TABLES: { readonly [K in EntityKind]: TableSpec<Entities[K]> } = {
  goal: {
    table: "goals",
    columns: ["status", "priority", "title", "created_at", "updated_at"],
    id: (goal) => goal.goalId,
    values: (goal) => [goal.status, goal.priority, goal.title, goal.createdAt, goal.updatedAt],
  },
  node: {
    table: "nodes",
    columns: ["goal_id", "node_id", "kind", "position", "leaf", "status", "updated_at"],
    id: (node) => nodeKey(node.goalId, node.workNodeId),
    values: (node) => [
      node.goalId,
      node.workNodeId,
      node.kind,
      node.position,
      node.leaf ? 1 : 0,
      node.status,
      node.updatedAt,
    ],
  },
  assignment: {
    table: "assignments",
    columns: ["goal_id", "node_id", "agent", "status", "updated_at"],
    id: (assignment) => assignment.assignmentId,
    values: (assignment) => [
      assignment.goalId,
      assignment.workNodeId,
      assignment.target.agentId,
      assignment.status,
      assignment.updatedAt,
    ],
  },
  crystallization: {
    table: "crystallizations",
    columns: ["goal_id", "node_id", "created_at"],
    id: (crystallization) => crystallization.crystallizationId,
    values: (crystallization) => [crystallization.goalId, crystallization.workNodeId, crystallization.createdAt],
  },
  attempt: {
    table: "attempts",
    columns: [
      "attempt",
      "agent",
      "goal_id",
      "node_id",
      "status",
      "created_at",
      "parent",
      "announced",
      "ended_at",
      "cost",
    ],
    id: (attempt) => String(attempt.attempt),
    values: (attempt) => [
      attempt.attempt,
      attempt.agent,
      attempt.goalId,
      attempt.workNodeId,
      attempt.status,
      attempt.createdAt,
      attempt.parent?.attempt ?? null,
      attempt.announced ?? 0, // missing in documents of earlier versions
      attempt.endedAt ?? null,
      attempt.end?.usage.costUsd ?? 0,
    ],
  },
  message: {
    table: "messages",
    columns: ["agent", "attempt", "status", "created_at", "kind", "sender", "thread", "rank", "place"],
    id: (message) => message.messageId,
    values: (message) => [
      message.agent,
      message.attempt,
      message.status,
      message.createdAt,
      message.kind,
      message.from,
      message.threadId ?? message.messageId,
      message.rank,
      message.place,
    ],
  },
  action: {
    table: "actions",
    columns: ["kind", "goal_id", "node_id", "attempt", "status", "due_at"],
    id: (action) => action.actionId,
    values: (action) => [action.kind, action.goalId, action.workNodeId, action.attempt, action.status, action.dueAt],
  },
  recovery: {
    table: "recoveries",
    columns: ["goal_id", "node_id", "updated_at"],
    id: recoveryKey,
    values: (recovery) => [recovery.goalId, recovery.workNodeId, recovery.updatedAt],
  },
  condition: {
    table: "conditions",
    columns: ["kind", "active", "updated_at"],
    id: (condition) => condition.conditionId,
    values: (condition) => [condition.kind, condition.active ? 1 : 0, condition.updatedAt],
  },
  question: {
    table: "questions",
    columns: ["goal_id", "status", "asked_at"],
    id: (question) => question.questionId,
    values: (question) => [question.goalId, question.status, question.askedAt],
  },
  fleet: {
    table: "fleet",
    columns: ["status", "since"],
    id: (fleet) => fleet.fleetId,
    values: (fleet) => [fleet.status, fleet.since],
  },
  merge: {
    table: "merges",
    columns: ["target", "status", "goal_id", "node_id", "queued_at"],
    id: (merge) => merge.mergeId,
    values: (merge) => [merge.target, merge.status, merge.goalId, merge.workNodeId, merge.queuedAt],
  },
  resolution: {
    table: "resolutions",
    columns: ["at"],
    id: (resolution) => resolution.resolutionId,
    values: (resolution) => [resolution.at],
  },
  learning: {
    table: "learnings",
    columns: ["status", "kind", "text", "words", "rank", "found_at", "unjudged"],
    id: (learning) => learning.learningId,
    values: (learning) => [
      learning.status,
      learning.kind,
      learning.text,
      [...learning.tags, ...learning.paths].join(" "),
      learning.rank,
      learning.foundAt,
      listUnjudged(learning).length,
    ],
  },
  verdict: {
    table: "verdicts",
    columns: ["tree", "at"],
    id: (verdict) => verdict.verdictId,
    values: (verdict) => [verdict.tree, verdict.at],
  },
};

export const ENTITY_KINDS = Object.keys(TABLES) as EntityKind[];

/** The statement that writes an entity, new or changed; the version counts its changes. */
export function upsertSql(kind: EntityKind, table = TABLES[kind].table): string {
  const { columns } = TABLES[kind];
  const all = ["id", ...columns, "version", "doc"];
  const marks = all.map((_, index) => `?${index + 1}`);
  const sets = [...columns, "version", "doc"].map((column) => `${column} = excluded.${column}`);
  return `insert into ${table} (${all.join(", ")}) values (${marks.join(", ")}) on conflict (id) do update set ${sets.join(", ")}`;
}

export function rowOf(kind: EntityKind, entity: Entity, version: number): SqlValue[] {
  const spec = TABLES[kind] as TableSpec<Entity>;
  return [spec.id(entity), ...spec.values(entity), version, JSON.stringify(entity)];
}

/** Questions about goals. */
import type { Goal, GoalStatus, Priority } from "#domain/model/goal.ts";
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { NO_CHANGES, readNoChanges, readSplit, SPLIT_INTO } from "#domain/model/work.ts";
import { docById } from "./by-id.ts";
import type { Query, Row } from "./query.ts";
import { afterPrefix, compareText, listDocs } from "./query.ts";

export function goalById(id: string): Query<Goal | undefined> {
  return docById("goal", id);
}

/** Those that have not ended, the newest first. */
export function listOpenGoals(): Query<Goal[]> {
  return listDocs(
    "select doc from goals where status in ('active', 'paused') order by created_at desc, id desc",
    [],
    (tables) =>
      [...tables.entities.goal.values()]
        .filter(({ status }) => status === "active" || status === "paused")
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.goalId, a.goalId)),
  );
}

export interface GoalName {
  readonly goalId: string;
  readonly title: string;
}

/** Goals whose id begins so; at most `limit`, for telling an unknown id from an ambiguous one. */
export function goalsWithPrefix(prefix: string, limit = 10): Query<GoalName[]> {
  return {
    sql: "select id, title from goals where id >= ?1 and id < ?2 order by id limit ?3",
    args: [prefix, afterPrefix(prefix), limit],
    read: (rows) => rows.map((row) => ({ goalId: String(row.id), title: String(row.title) })),
    memory: (tables) =>
      [...tables.entities.goal.values()]
        .filter((goal) => goal.goalId.startsWith(prefix))
        .map(({ goalId, title }) => ({ goalId, title }))
        .sort((a, b) => compareText(a.goalId, b.goalId))
        .slice(0, limit),
  };
}

/** A goal as lists and status show it: one row, with its leaves counted in the database. */
export interface GoalOverview {
  readonly goalId: string;
  readonly title: string;
  readonly status: GoalStatus;
  readonly priority: Priority;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly nodes: number;
  readonly leaves: number;
  readonly leavesDone: number;
  readonly queued: number;
  readonly inProgress: number;
  readonly blocked: number;
  /** Leaves that ended because nothing was changed; not among `leaves`. */
  readonly unchanged: number;
  /** The other cancelled leaves but those that were split; not among `leaves` either. */
  readonly cancelled: number;
  /** Of `leavesDone`: those whose landing a person took back. */
  readonly takenBack: number;
}

/**
 * First every goal, then how many nodes of each kind a goal has, counted along the index. Two lists in one answer,
 * because joining them costs the database half as much again as making them.
 */
const OVERVIEW_SQL = `
select id, title, status, priority, created_at, updated_at, null as leaf, 0 as nodes
from goals where (?1 = 1 or status <> 'archived')
union all
select goal_id, null, status, null, null, null, leaf, count(*)
from nodes group by goal_id, leaf, status
union all
select goal_id, null, ?3, null, null, null, 1, count(*)
from nodes where leaf = 1 and status = 'cancelled' and doc like ?2
group by goal_id
union all
select goal_id, null, ?4, null, null, null, 1, count(*)
from nodes where leaf = 1 and status = 'done' and instr(doc, ?5) > 0
group by goal_id
union all
select goal_id, null, ?7, null, null, null, 1, count(*)
from nodes where leaf = 1 and status = 'cancelled' and doc like ?6
group by goal_id`;

/** As a node's document has it, and no other part of it: a claim's own begins with its commits. */
const TAKEN_BACK = '"takenBack":{"by":';

/** How such a row is called, and how a node's document says it. */
const SPLIT = "split";
const SPLIT_ARGS = [`%"statusReason":"${SPLIT_INTO} %`, SPLIT] as const;

type Counting = { -readonly [K in keyof GoalOverview]: GoalOverview[K] };

function overviewsOf(rows: readonly Row[]): GoalOverview[] {
  const goals = new Map<unknown, Counting>();
  for (const row of rows) {
    if (row.leaf === null) {
      goals.set(row.id, {
        goalId: String(row.id),
        title: String(row.title),
        status: row.status as GoalStatus,
        priority: row.priority as Priority,
        createdAt: Number(row.created_at),
        updatedAt: Number(row.updated_at),
        nodes: 0,
        leaves: 0,
        leavesDone: 0,
        queued: 0,
        inProgress: 0,
        blocked: 0,
        unchanged: 0,
        cancelled: 0,
        takenBack: 0,
      });
    } else {
      const goal = goals.get(row.id);
      if (goal && row.status === NO_CHANGES) {
        goal.unchanged += Number(row.nodes);
        goal.cancelled -= Number(row.nodes);
      } else if (goal && row.status === SPLIT) goal.cancelled -= Number(row.nodes);
      else if (goal && row.status === TAKEN_BACK) goal.takenBack += Number(row.nodes);
      else if (goal) count(goal, Number(row.nodes), row.leaf === 1, row.status as WorkStatus);
    }
  }
  return [...goals.values()].sort((a, b) => a.createdAt - b.createdAt || compareText(a.goalId, b.goalId));
}

function count(goal: Counting, nodes: number, leaf: boolean, status: WorkStatus): void {
  goal.nodes += nodes;
  if (!leaf) return;
  if (status === "cancelled") goal.cancelled += nodes;
  else goal.leaves += nodes;
  if (status === "done") goal.leavesDone += nodes;
  if (status === "queued") goal.queued += nodes;
  if (status === "in_progress") goal.inProgress += nodes;
  if (status === "blocked") goal.blocked += nodes;
}

export function goalOverviews(filter: { readonly archived: boolean }): Query<GoalOverview[]> {
  return {
    sql: OVERVIEW_SQL,
    args: [
      filter.archived ? 1 : 0,
      `%"statusReason":"${NO_CHANGES}: %`,
      NO_CHANGES,
      TAKEN_BACK,
      TAKEN_BACK,
      ...SPLIT_ARGS,
    ],
    read: overviewsOf,
    memory: (tables) =>
      [...tables.entities.goal.values()]
        .filter((goal) => filter.archived || goal.status !== "archived")
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.goalId, b.goalId))
        .map((goal) => overviewOf(goal, [...tables.entities.node.values()])),
  };
}

function overviewOf(goal: Goal, all: readonly WorkNode[]): GoalOverview {
  const nodes = all.filter((node) => node.goalId === goal.goalId);
  const leaves = nodes.filter((node) => node.leaf);
  const count = (status: string) => leaves.filter((node) => node.status === status).length;
  const unchanged = leaves.filter(
    (node) => node.status === "cancelled" && readNoChanges(node.statusReason) !== undefined,
  ).length;
  const split = leaves.filter(
    (node) => node.status === "cancelled" && readSplit(node.statusReason) !== undefined,
  ).length;
  const { goalId, title, status, priority, createdAt, updatedAt } = goal;
  return {
    goalId,
    title,
    status,
    priority,
    createdAt,
    updatedAt,
    nodes: nodes.length,
    leaves: leaves.length - count("cancelled"),
    leavesDone: count("done"),
    queued: count("queued"),
    inProgress: count("in_progress"),
    blocked: count("blocked"),
    unchanged,
    cancelled: count("cancelled") - unchanged - split,
    takenBack: leaves.filter((node) => node.status === "done" && node.takenBack !== undefined).length,
  };
}

/** What `status` tells beside goals and agents: what each goal has cost, what is next, and what has landed lately. */
import type { Priority } from "#domain/model/goal.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { listLandedMerges } from "./merges.ts";
import type { MemoryTables, Query } from "./query.ts";
import { compareText } from "./query.ts";

/** In dollars, by goal id: of the sessions that have ended. What living ones cost stands in their rows. */
export function costsOfGoals(): Query<ReadonlyMap<string, number>> {
  return {
    sql: "select goal_id, sum(cost) as cost from attempts group by goal_id",
    args: [],
    read: (rows) => new Map(rows.map(({ goal_id, cost }) => [String(goal_id), Number(cost)])),
    memory: (tables) => {
      const goals = new Map<string, number>();
      for (const { goalId, end } of tables.entities.attempt.values()) {
        goals.set(goalId, (goals.get(goalId) ?? 0) + (end?.usage.costUsd ?? 0));
      }
      return goals;
    },
  };
}

/** A log begins with it; looking further would cost a long log's whole length where there is none. */
const FIRST_EVENTS = 20;

/** The branch that was recorded by `init`. */
export function branchAtInit(): Query<string | null> {
  return {
    sql: "select data from events where seq <= ?1 and type = 'overseer.initialised' order by seq limit 1",
    args: [FIRST_EVENTS],
    read: ([row]) => (row ? (JSON.parse(String(row.data)).targetBranch ?? null) : null),
    memory: ({ events }) => {
      const made = events.slice(0, FIRST_EVENTS).find((one) => one.type === "overseer.initialised");
      return made?.type === "overseer.initialised" ? (made.data.targetBranch ?? null) : null;
    },
  };
}

export interface NamedTask {
  readonly goalId: string;
  readonly workNodeId: string;
  readonly task: string;
}

/** The first tasks that are ready and that nobody works on, about as they will be dispatched. */
export function readyTasks(limit: number): Query<NamedTask[]> {
  return {
    sql: `select n.doc from nodes n join goals g on g.id = n.goal_id
      where n.status = 'queued' and n.kind = 'task' and g.status = 'active' order by case g.priority
      when 'urgent' then 0 when 'high' then 1 when 'normal' then 2 else 3 end, g.created_at, g.id, n.position, n.id limit ?1`,
    args: [limit],
    read: (rows) => rows.map(({ doc }) => nameTask(JSON.parse(String(doc)))),
    memory: ({ entities: { node, goal } }) =>
      [...node.values()]
        .flatMap((one) => {
          const of = goal.get(one.goalId);
          return one.status === "queued" && one.kind === "task" && of?.status === "active" ? [{ one, of }] : [];
        })
        .sort(
          (a, b) =>
            RANK[a.of.priority] - RANK[b.of.priority] ||
            a.of.createdAt - b.of.createdAt ||
            compareText(a.one.goalId, b.one.goalId) ||
            a.one.position - b.one.position ||
            compareText(a.one.workNodeId, b.one.workNodeId),
        )
        .slice(0, limit)
        .map(({ one }) => nameTask(one)),
  };
}

const RANK: Readonly<Record<Priority, number>> = { urgent: 0, high: 1, normal: 2, low: 3 };

function nameTask({ goalId, workNodeId, name }: WorkNode): NamedTask {
  return { goalId, workNodeId, task: name };
}

export interface LandedRow {
  readonly merge: Merge;
  /** What its task is called; null for a branch that a person brought. */
  readonly task: string | null;
  /** What the sessions on its task cost that have ended. */
  readonly costUsd: number;
}

/** The newest first; of one goal, or of all. */
export function lastLandings(limit: number, goalId?: string): Query<LandedRow[]> {
  return {
    sql: `select m.doc, n.doc as node, (select sum(a.cost) from attempts a
        where a.goal_id = m.goal_id and a.node_id = m.node_id) as cost
      from merges m left join nodes n on n.id = m.goal_id || '/' || m.node_id
      where m.status = 'landed'${goalId === undefined ? "" : " and m.goal_id = ?2"}
      order by m.queued_at desc, m.id desc limit ?1`,
    args: goalId === undefined ? [limit] : [limit, goalId],
    read: (rows) =>
      rows.map(({ doc, node, cost }) => ({
        merge: JSON.parse(String(doc)) as Merge,
        task: node === null ? null : (JSON.parse(String(node)) as WorkNode).name,
        costUsd: Number(cost ?? 0),
      })),
    memory: (tables) =>
      listLandedMerges(goalId === undefined ? limit : Number.MAX_SAFE_INTEGER)
        .memory(tables)
        .filter((merge) => goalId === undefined || merge.goalId === goalId)
        .slice(0, limit)
        .map((merge) => ({ merge, ...seeTask(tables, merge) })),
  };
}

function seeTask({ entities }: MemoryTables, { goalId, workNodeId }: Merge): Omit<LandedRow, "merge"> {
  if (goalId === null || workNodeId === null) return { task: null, costUsd: 0 };
  const costs = [...entities.attempt.values()]
    .filter((one) => one.goalId === goalId && one.workNodeId === workNodeId)
    .map(({ end }) => end?.usage.costUsd ?? 0);
  return {
    task: entities.node.get(nodeKey(goalId, workNodeId))?.name ?? null,
    costUsd: costs.reduce((sum, cost) => sum + cost, 0),
  };
}

/** What finished work took, for estimates of what is planned, and what it left behind for whoever comes later. */
import type { FinishedNode } from "#domain/learnings/expertise.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { FinishedTry } from "#domain/plans/estimate.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { MemoryTables, Query } from "./query.ts";
import { attemptsIn, compareText } from "./query.ts";

/** All attempts on the nodes that were done last, so many nodes at most; in the order of their numbers. */
export function listFinishedTries(nodes: number): Query<FinishedTry[]> {
  return {
    sql: `select a.doc, p.doc as pulse from attempts a
      join (select n.goal_id, n.node_id from nodes n where n.status = 'done'
        and exists (select 1 from attempts t where t.goal_id = n.goal_id and t.node_id = n.node_id)
        order by n.updated_at desc, n.id limit ?1) d on d.goal_id = a.goal_id and d.node_id = a.node_id
      left join pulses p on p.attempt = a.attempt order by a.attempt`,
    args: [nodes],
    read: (rows) =>
      rows.map(({ doc, pulse }) =>
        toFinishedTry(JSON.parse(String(doc)), typeof pulse === "string" ? JSON.parse(pulse) : undefined),
      ),
    memory: (tables) => {
      const done = latestDone(tables, nodes);
      return attemptsIn(tables, ({ goalId, workNodeId }) => done.has(nodeKey(goalId, workNodeId))).map((attempt) =>
        toFinishedTry(attempt, tables.pulses.get(attempt.attempt)),
      );
    },
  };
}

/** The newest handoffs of nodes that are done, each with its node; a node names the one that holds now. */
export function listFinishedHandoffs(limit: number): Query<FinishedNode[]> {
  return {
    sql: `select c.doc, n.doc as node from crystallizations c
      join nodes n on n.goal_id = c.goal_id and n.node_id = c.node_id
      where n.status = 'done' order by c.created_at desc, c.id limit ?1`,
    args: [limit],
    read: (rows) => rows.map(({ doc, node }) => ({ left: JSON.parse(String(doc)), node: JSON.parse(String(node)) })),
    memory: (tables) =>
      [...tables.entities.crystallization.values()]
        .flatMap((left): FinishedNode[] => {
          const node = tables.entities.node.get(nodeKey(left.goalId, left.workNodeId ?? ""));
          return node?.status === "done" ? [{ left, node }] : [];
        })
        .sort(
          ({ left: a }, { left: b }) =>
            b.createdAt - a.createdAt || compareText(a.crystallizationId, b.crystallizationId),
        )
        .slice(0, limit),
  };
}

function latestDone(tables: MemoryTables, limit: number): ReadonlySet<string> {
  const tried = new Set([...tables.entities.attempt.values()].map((one) => nodeKey(one.goalId, one.workNodeId)));
  const done = [...tables.entities.node.values()]
    .map((node) => ({ key: nodeKey(node.goalId, node.workNodeId), node }))
    .filter(({ key, node }) => node.status === "done" && tried.has(key))
    .sort((a, b) => b.node.updatedAt - a.node.updatedAt || compareText(a.key, b.key));
  return new Set(done.slice(0, limit).map(({ key }) => key));
}

function toFinishedTry(attempt: Attempt, pulse: Pulse | undefined): FinishedTry {
  return { attempt, lastActAt: pulse?.lastActAt ?? null };
}

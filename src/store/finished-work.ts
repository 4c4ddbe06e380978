/** What finished work took, for estimates of what is planned: the attempts on nodes that are done. */
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

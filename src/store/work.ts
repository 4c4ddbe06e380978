/** Questions about work nodes. */
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Query } from "./query.ts";
import { afterPrefix, compareText, findDoc, listDocs } from "./query.ts";

export function nodeById(goalId: string, nodeId: string): Query<WorkNode | undefined> {
  const key = nodeKey(goalId, nodeId);
  return findDoc("select doc from nodes where id = ?1", [key], (tables) => tables.entities.node.get(key));
}

/** All nodes of a goal in plan order. */
export function nodesOfGoal(goalId: string): Query<WorkNode[]> {
  return listDocs("select doc from nodes where goal_id = ?1 order by position, id", [goalId], (tables) =>
    [...tables.entities.node.values()]
      .filter((node) => node.goalId === goalId)
      .sort((a, b) => a.position - b.position || compareText(a.workNodeId, b.workNodeId)),
  );
}

/** What living agents work on. */
export function nodesOfLiving(): Query<WorkNode[]> {
  return listDocs(
    `select n.doc from nodes n where n.id in
      (select a.goal_id || '/' || a.node_id from attempts a where a.status <> 'ended') order by n.id`,
    [],
    (tables) => {
      const living = [...tables.entities.attempt.values()].filter(({ status }) => status !== "ended");
      const keys = [...new Set(living.map(({ goalId, workNodeId }) => nodeKey(goalId, workNodeId)))];
      return keys.sort(compareText).flatMap((key) => tables.entities.node.get(key) ?? []);
    },
  );
}

/** Nodes that carry this id in any goal: the candidates for an id given without its goal. */
export function nodesNamed(nodeId: string): Query<WorkNode[]> {
  return listDocs("select doc from nodes where node_id = ?1 order by goal_id", [nodeId], (tables) =>
    [...tables.entities.node.values()]
      .filter((node) => node.workNodeId === nodeId)
      .sort((a, b) => compareText(a.goalId, b.goalId)),
  );
}

/** Nodes whose own id begins so, in any goal. */
export function nodesWithPrefix(prefix: string, limit = 50): Query<WorkNode[]> {
  return listDocs(
    "select doc from nodes where node_id >= ?1 and node_id < ?2 order by node_id, goal_id limit ?3",
    [prefix, afterPrefix(prefix), limit],
    (tables) =>
      [...tables.entities.node.values()]
        .filter((node) => node.workNodeId.startsWith(prefix))
        .sort((a, b) => compareText(a.workNodeId, b.workNodeId) || compareText(a.goalId, b.goalId))
        .slice(0, limit),
  );
}

/** Nodes in a status, over all goals that are not archived; newest change first. */
export function nodesInStatus(status: WorkStatus, limit: number): Query<WorkNode[]> {
  return listDocs(
    `select n.doc from nodes n join goals g on g.id = n.goal_id
      where n.status = ?1 and g.status <> 'archived' order by n.updated_at desc, n.id limit ?2`,
    [status, limit],
    (tables) =>
      [...tables.entities.node.values()]
        .filter((node) => node.status === status && tables.entities.goal.get(node.goalId)?.status !== "archived")
        .sort(
          (a, b) =>
            b.updatedAt - a.updatedAt || compareText(nodeKey(a.goalId, a.workNodeId), nodeKey(b.goalId, b.workNodeId)),
        )
        .slice(0, limit),
  );
}

/**
 * Of goals that are not over, the nodes that may stand still: in progress, blocked, and where something was cancelled what
 * waits, with what was cancelled. The rest of a plan, however long, is not read.
 */
export function nodesAtStandstill(): Query<WorkNode[]> {
  const cancelled = "exists (select 1 from nodes c where c.goal_id = n.goal_id and c.status = 'cancelled')";
  return listDocs(
    `select n.doc from nodes n join goals g on g.id = n.goal_id where g.status in ('active', 'paused')
      and (n.status in ('in_progress', 'blocked', 'cancelled') or (n.status = 'todo' and ${cancelled}))
      order by n.goal_id, n.position, n.id`,
    [],
    (tables) => {
      const open = [...tables.entities.node.values()].filter(({ goalId }) =>
        ["active", "paused"].includes(tables.entities.goal.get(goalId)?.status ?? ""),
      );
      const within = new Set(open.filter(({ status }) => status === "cancelled").map(({ goalId }) => goalId));
      return open
        .filter(
          ({ status, goalId }) =>
            ["in_progress", "blocked", "cancelled"].includes(status) || (status === "todo" && within.has(goalId)),
        )
        .sort(
          (a, b) =>
            compareText(a.goalId, b.goalId) || a.position - b.position || compareText(a.workNodeId, b.workNodeId),
        );
    },
  );
}

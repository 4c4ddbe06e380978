/** What a tick asks the store: everything that is open, and what has been said since the last one. */
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Message } from "#domain/model/message.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen, nodeKey } from "#domain/model/work.ts";
import { OUTCOMES } from "#domain/tick/tell.ts";
import { eventOfRow, eventsAfter, LOG_COLUMNS } from "./events.ts";
import type { MemoryTables, Query } from "./query.ts";
import { compareText, docs } from "./query.ts";

const OUTCOME_TYPES = OUTCOMES.map((type) => `'${type}'`).join(", ");
const IS_OUTCOME: ReadonlySet<string> = new Set(OUTCOMES);

/**
 * Active, paused, with agents that still live, or with an outcome in the log after `cursor` that nobody was told of yet.
 * By its place and not by its time: a tick may pass without telling, and clocks are set back.
 */
const WANTED = `g.status in ('active', 'paused')
  or exists (select 1 from attempts a where a.goal_id = g.id and a.status <> 'ended')
  or g.id in (select goal_id from events where seq > ?1 and type in (${OUTCOME_TYPES}))`;

function findWantedGoals(tables: MemoryTables, cursor: number): Goal[] {
  const concerned = new Set<string | undefined>();
  for (const one of tables.entities.attempt.values()) if (one.status !== "ended") concerned.add(one.goalId);
  for (const event of eventsAfter(tables, cursor)) if (IS_OUTCOME.has(event.type)) concerned.add(event.goalId);
  return [...tables.entities.goal.values()].filter(
    ({ goalId, status }) => status === "active" || status === "paused" || concerned.has(goalId),
  );
}

export function goalsForTick(cursor: number): Query<Goal[]> {
  return {
    sql: `select g.doc from goals g where ${WANTED} order by g.id`,
    args: [cursor],
    read: (rows) => docs<Goal>(rows),
    memory: (tables) => findWantedGoals(tables, cursor).sort((a, b) => compareText(a.goalId, b.goalId)),
  };
}

export function nodesForTick(cursor: number): Query<WorkNode[]> {
  return {
    sql: `select n.doc from nodes n join goals g on g.id = n.goal_id where ${WANTED} order by n.goal_id, n.position, n.node_id`,
    args: [cursor],
    read: (rows) => docs<WorkNode>(rows),
    memory: (tables) => {
      const wanted = new Set(findWantedGoals(tables, cursor).map(({ goalId }) => goalId));
      return [...tables.entities.node.values()]
        .filter((node) => wanted.has(node.goalId))
        .sort(
          (a, b) =>
            compareText(a.goalId, b.goalId) || a.position - b.position || compareText(a.workNodeId, b.workNodeId),
        );
    },
  };
}

export function liveAssignments(): Query<Assignment[]> {
  return {
    sql: "select doc from assignments where status not in ('done', 'cancelled') order by id",
    args: [],
    read: (rows) => docs<Assignment>(rows),
    memory: (tables) =>
      [...tables.entities.assignment.values()]
        .filter(isLive)
        .sort((a, b) => compareText(a.assignmentId, b.assignmentId)),
  };
}

/** The last attempt of every node that is ready and that nobody works on. */
export function lastAttemptsOfReady(): Query<Attempt[]> {
  return lastAttemptsOf("n.status = 'queued'", ({ status }) => status === "queued");
}

/** The same of every node that is not over, whatever it waits for. */
export function lastAttemptsOfOpen(): Query<Attempt[]> {
  return lastAttemptsOf("n.status not in ('done', 'cancelled')", isOpen);
}

function lastAttemptsOf(condition: string, holds: (node: WorkNode) => boolean): Query<Attempt[]> {
  return {
    sql: `select a.doc from nodes n join attempts a on a.goal_id = n.goal_id and a.node_id = n.node_id
      where ${condition} and a.status = 'ended' and a.attempt =
        (select max(b.attempt) from attempts b where b.goal_id = n.goal_id and b.node_id = n.node_id)
      order by a.attempt`,
    args: [],
    read: (rows) => docs<Attempt>(rows),
    memory: (tables) => {
      const last = new Map<string, Attempt>();
      for (const attempt of tables.entities.attempt.values()) {
        const key = nodeKey(attempt.goalId, attempt.workNodeId);
        if (attempt.attempt > (last.get(key)?.attempt ?? 0)) last.set(key, attempt);
      }
      return [...last]
        .filter(([key, one]) => {
          const node = tables.entities.node.get(key);
          return one.status === "ended" && node !== undefined && holds(node);
        })
        .map(([, one]) => one)
        .sort((a, b) => a.attempt - b.attempt);
    },
  };
}

/** Those created since then, and all of goals that are not over: what budgets are counted from. */
export function attemptsForBudgets(since: number): Query<Attempt[]> {
  return {
    sql: `select doc from attempts where created_at >= ?1
      or goal_id in (select id from goals where status in ('active', 'paused')) order by attempt`,
    args: [since],
    read: (rows) => docs<Attempt>(rows),
    memory: (tables) =>
      [...tables.entities.attempt.values()]
        .filter((one) => {
          const status = tables.entities.goal.get(one.goalId)?.status;
          return one.createdAt >= since || status === "active" || status === "paused";
        })
        .sort((a, b) => a.attempt - b.attempt),
  };
}

/** How far back deaths are looked for: more than any fleet has at once. */
const LATEST_ATTEMPTS = 200;

/** Attempts that ended since then, also where somebody works on their node again by now; of the newest only. */
export function listEndedSince(since: number): Query<Attempt[]> {
  return {
    sql: `select doc from (select attempt, status, ended_at, doc from attempts order by attempt desc limit ${LATEST_ATTEMPTS}) latest
      where status = 'ended' and ended_at >= ?1 order by attempt`,
    args: [since],
    read: (rows) => docs<Attempt>(rows),
    memory: (tables) =>
      [...tables.entities.attempt.values()]
        .sort((a, b) => b.attempt - a.attempt)
        .slice(0, LATEST_ATTEMPTS)
        .filter((one) => one.status === "ended" && (one.endedAt ?? 0) >= since)
        .reverse(),
  };
}

/** Everything that lies in an inbox, of whomever. */
export function listUndeliveredMessages(): Query<Message[]> {
  return {
    sql: "select doc from messages where status in ('queued', 'handed') order by attempt, id",
    args: [],
    read: (rows) => docs<Message>(rows),
    memory: (tables) =>
      [...tables.entities.message.values()]
        .filter((one) => one.status === "queued" || one.status === "handed")
        .sort((a, b) => a.attempt - b.attempt || compareText(a.messageId, b.messageId)),
  };
}

/** When the node of each living attempt was last reported on, by attempt number. */
export function lastReports(): Query<ReadonlyMap<number, number>> {
  return {
    sql: `select a.attempt, max(c.created_at) as at from attempts a
      join crystallizations c on c.goal_id = a.goal_id and c.node_id = a.node_id
      where a.status <> 'ended' group by a.attempt`,
    args: [],
    read: (rows) => new Map(rows.map(({ attempt, at }) => [Number(attempt), Number(at)])),
    memory: (tables) => {
      const latest = new Map<string, number>();
      for (const { goalId, workNodeId, createdAt } of tables.entities.crystallization.values()) {
        const key = nodeKey(goalId, workNodeId ?? "");
        latest.set(key, Math.max(createdAt, latest.get(key) ?? 0));
      }
      const reported = new Map<number, number>();
      for (const { attempt, status, goalId, workNodeId } of tables.entities.attempt.values()) {
        const at = status === "ended" ? undefined : latest.get(nodeKey(goalId, workNodeId));
        if (at !== undefined) reported.set(attempt, at);
      }
      return reported;
    },
  };
}

/** Outcomes in the log after `cursor`, at most so many; with where the looking ended. */
export function outcomesAfter(cursor: number, limit: number): Query<EventOf[]> {
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where seq > ?1 and type in (${OUTCOME_TYPES}) order by seq limit ?2`,
    args: [cursor, limit],
    read: (rows) => rows.map(eventOfRow),
    memory: (tables) =>
      eventsAfter(tables, cursor)
        .filter((event) => IS_OUTCOME.has(event.type))
        .slice(0, limit),
  };
}

export function endOfLog(): Query<number> {
  return {
    sql: "select coalesce(max(seq), 0) as last from events",
    args: [],
    read: (rows) => Number(rows[0]?.last ?? 0),
    memory: (tables) => tables.events.at(-1)?.seq ?? 0,
  };
}

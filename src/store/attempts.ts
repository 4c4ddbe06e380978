/** Questions about attempts; their inbox is in messages.ts. */
import type { Attempt, AttemptStatus } from "#domain/model/attempt.ts";
import type { Query } from "./query.ts";
import { attemptsIn, docs, findDoc, listDocs } from "./query.ts";

export function attemptByNumber(attempt: number): Query<Attempt | undefined> {
  return findDoc("select doc from attempts where attempt = ?1", [attempt], (tables) =>
    tables.entities.attempt.get(String(attempt)),
  );
}

export function attemptStatus(attempt: number): Query<AttemptStatus | undefined> {
  return {
    sql: "select status from attempts where attempt = ?1",
    args: [attempt],
    read: ([row]) => row?.status as AttemptStatus | undefined,
    memory: (tables) => tables.entities.attempt.get(String(attempt))?.status,
  };
}

export function livingAttempts(): Query<Attempt[]> {
  return listDocs("select doc from attempts where status <> 'ended' order by attempt", [], (tables) =>
    attemptsIn(tables, (attempt) => attempt.status !== "ended"),
  );
}

/** Only who lives, and how far it is: without a document to be read. */
export function listLivingBriefly(): Query<{ readonly attempt: number; readonly status: AttemptStatus }[]> {
  return {
    sql: "select attempt, status from attempts where status <> 'ended' order by attempt",
    args: [],
    read: (rows) => rows.map((row) => ({ attempt: Number(row.attempt), status: row.status as AttemptStatus })),
    memory: (tables) =>
      attemptsIn(tables, ({ status }) => status !== "ended").map(({ attempt, status }) => ({ attempt, status })),
  };
}

export function attemptsSince(time: number): Query<Attempt[]> {
  return listDocs("select doc from attempts where created_at >= ?1 order by attempt", [time], (tables) =>
    attemptsIn(tables, (attempt) => attempt.createdAt >= time),
  );
}

export function attemptsOfNode(goalId: string, nodeId: string): Query<Attempt[]> {
  return listDocs(
    "select doc from attempts where goal_id = ?1 and node_id = ?2 order by attempt",
    [goalId, nodeId],
    (tables) => attemptsIn(tables, (attempt) => attempt.goalId === goalId && attempt.workNodeId === nodeId),
  );
}

/** Those of a goal with higher numbers. */
export function attemptsOfGoalAfter(goalId: string, attempt: number): Query<Attempt[]> {
  return listDocs(
    "select doc from attempts where attempt > ?2 and goal_id = ?1 order by attempt",
    [goalId, attempt],
    (tables) => attemptsIn(tables, (one) => one.goalId === goalId && one.attempt > attempt),
  );
}

/** Those of the node, and those of the same agent on a node of the same name in another goal: they share a branch name. */
export function attemptsNamedLike(goalId: string, nodeId: string, agent: string): Query<Attempt[]> {
  return listDocs(
    "select doc from attempts where node_id = ?2 and (goal_id = ?1 or agent = ?3) order by attempt",
    [goalId, nodeId, agent],
    (tables) =>
      attemptsIn(tables, (one) => one.workNodeId === nodeId && (one.goalId === goalId || one.agent === agent)),
  );
}

/** The newest first; `agent` narrows it to one name. */
export function latestAttempts(limit: number, agent?: string): Query<Attempt[]> {
  return {
    sql: `select doc from attempts ${agent === undefined ? "" : "where agent = ?2"} order by attempt desc limit ?1`,
    args: agent === undefined ? [limit] : [limit, agent],
    read: (rows) => docs<Attempt>(rows),
    memory: (tables) =>
      [...tables.entities.attempt.values()]
        .filter((attempt) => agent === undefined || attempt.agent === agent)
        .sort((a, b) => b.attempt - a.attempt)
        .slice(0, limit),
  };
}

export function lastAttemptNumber(): Query<number> {
  return {
    // The counter is set where an older log came back: numbers continue above everything that was ever seen.
    sql: `select max(number) as last from
          (select max(attempt) as number from attempts union all select value from counters where name = 'attempt') seen`,
    args: [],
    read: (rows) => Number(rows[0]?.last ?? 0),
    memory: (tables) => Math.max(0, ...[...tables.entities.attempt.values()].map((one) => one.attempt)),
  };
}

/** Whoever asked for this attempt, as it stands now; undefined when a person did. */
export function parentAttemptOf(attempt: number): Query<Attempt | undefined> {
  return findDoc(
    `select p.doc from attempts a join attempts p on p.attempt = a.parent where a.attempt = ?1`,
    [attempt],
    (tables) => {
      const parent = tables.entities.attempt.get(String(attempt))?.parent;
      return parent ? tables.entities.attempt.get(String(parent.attempt)) : undefined;
    },
  );
}

/** Questions about the outbox, what was tried to recover nodes, and conditions of the fleet. */
import type { Action } from "#domain/model/action.ts";
import { isOpenAction } from "#domain/model/action.ts";
import type { Condition } from "#domain/model/condition.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { recoveryKey } from "#domain/model/ladder-state.ts";
import { docById } from "./by-id.ts";
import type { Query } from "./query.ts";
import { compareText, listDocs } from "./query.ts";

/** An action by its id, which is its idempotency key. */
export function actionByKey(actionId: string): Query<Action | undefined> {
  return docById("action", actionId);
}

/** What is not over, the earliest due first. */
export function openActions(): Query<Action[]> {
  return listDocs(
    "select doc from actions where status in ('pending', 'taken', 'failed') order by due_at, id",
    [],
    (tables) => [...tables.entities.action.values()].filter(isOpenAction).sort(earliestFirst),
  );
}

/** What may be done now; a lease that still runs is looked at when it is taken. */
export function dueActions(now: number, limit: number): Query<Action[]> {
  return listDocs(
    "select doc from actions where status in ('pending', 'taken', 'failed') and due_at <= ?1 order by due_at, id limit ?2",
    [now, limit],
    (tables) =>
      [...tables.entities.action.values()]
        .filter((action) => isOpenAction(action) && action.dueAt <= now)
        .sort(earliestFirst)
        .slice(0, limit),
  );
}

function earliestFirst(a: Action, b: Action): number {
  return a.dueAt - b.dueAt || compareText(a.actionId, b.actionId);
}

/** Of nodes of goals that are active or paused. */
export function openRecoveries(): Query<Recovery[]> {
  return listDocs(
    `select r.doc from recoveries r join goals g on g.id = r.goal_id
      where g.status in ('active', 'paused') order by r.id`,
    [],
    (tables) =>
      [...tables.entities.recovery.values()]
        .filter(({ goalId }) => ["active", "paused"].includes(tables.entities.goal.get(goalId)?.status ?? ""))
        .sort((a, b) => compareText(recoveryKey(a), recoveryKey(b))),
  );
}

/** What was tried for that node; undefined while nothing was. */
export function recoveryOf(goalId: string, workNodeId: string): Query<Recovery | undefined> {
  return docById("recovery", recoveryKey({ goalId, workNodeId }));
}

/** Ids of actions that ended, of those that were due since. */
export function actionsOverSince(time: number): Query<string[]> {
  return {
    sql: "select id from actions where status in ('done', 'dropped') and due_at >= ?1 order by id",
    args: [time],
    read: (rows) => rows.map((row) => String(row.id)),
    memory: (tables) =>
      [...tables.entities.action.values()]
        .filter((action) => !isOpenAction(action) && action.dueAt >= time)
        .map((action) => action.actionId)
        .sort(compareText),
  };
}

/** Those of them that were given up or dropped, each with why. */
export function actionsGivenUpSince(time: number): Query<Action[]> {
  return listDocs("select doc from actions where status = 'dropped' and due_at >= ?1 order by id", [time], (tables) =>
    [...tables.entities.action.values()]
      .filter(({ status, dueAt }) => status === "dropped" && dueAt >= time)
      .sort((a, b) => compareText(a.actionId, b.actionId)),
  );
}

export function conditionById(conditionId: string): Query<Condition | undefined> {
  return docById("condition", conditionId);
}

const REMEMBERED: ReadonlySet<Condition["kind"]> = new Set(["quota", "provider", "mass-death"]);

/** What holds now, what is only remembered, and whom it was about where that must not be counted twice. */
export function presentConditions(): Query<Condition[]> {
  return listDocs(
    "select doc from conditions where active = 1 or kind in ('quota', 'provider', 'mass-death') order by id",
    [],
    (tables) =>
      [...tables.entities.condition.values()]
        .filter(({ active, kind }) => active || REMEMBERED.has(kind))
        .sort((a, b) => compareText(a.conditionId, b.conditionId)),
  );
}

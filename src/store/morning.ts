/** What is read for a report of what happened since a moment. */

import { MORNING_TYPES } from "#domain/explain/morning.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { EventOf } from "#domain/model/event.ts";
import { nodeKey } from "#domain/model/work.ts";
import { eventOfRow, LOG_COLUMNS } from "./events.ts";
import type { Query } from "./query.ts";
import { attemptsIn, listDocs } from "./query.ts";

const TYPES = MORNING_TYPES.map((type) => `'${type}'`).join(", ");
const IS_TOLD: ReadonlySet<string> = new Set(MORNING_TYPES);

/** In log order; of more than `limit` the newest. */
export function morningEvents(sinceAt: number, limit: number): Query<EventOf[]> {
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where at >= ?1 and type in (${TYPES}) order by seq desc limit ?2`,
    args: [sinceAt, limit],
    read: (rows) => rows.map(eventOfRow).reverse(),
    memory: (tables) => tables.events.filter(({ at, type }) => at >= sinceAt && IS_TOLD.has(type)).slice(-limit),
  };
}

/** Those that live, and those that ended since then. */
export function attemptsLivedSince(sinceAt: number): Query<Attempt[]> {
  return listDocs(
    "select doc from attempts where status <> 'ended' or ended_at >= ?1 order by attempt",
    [sinceAt],
    (tables) => attemptsIn(tables, (one) => one.status !== "ended" || (one.endedAt ?? 0) >= sinceAt),
  );
}

/** What every node is called, by `goal/node`. */
export function nodeNames(): Query<ReadonlyMap<string, string>> {
  return {
    sql: "select doc from nodes",
    args: [],
    read: (rows) =>
      new Map(
        rows.map(({ doc }) => {
          const { goalId, workNodeId, name } = JSON.parse(String(doc)) as Record<string, string>;
          return [nodeKey(goalId ?? "", workNodeId ?? ""), name ?? ""];
        }),
      ),
    memory: (tables) => new Map([...tables.entities.node].map(([key, { name }]) => [key, name])),
  };
}

/** What is read to tell people the news: the log past a place, and how far each of them has been told. */
import type { EventOf } from "#domain/model/event.ts";
import type { NewsCondition } from "#domain/model/news.ts";
import { NEWS_TYPES } from "#domain/reports/news.ts";
import { eventOfRow, eventsAfter, LOG_COLUMNS } from "./events.ts";
import type { Query } from "./query.ts";
import { compareText, listDocs } from "./query.ts";

const TYPES = NEWS_TYPES.map((type) => `'${type}'`).join(", ");
const IS_NEWS: ReadonlySet<string> = new Set(NEWS_TYPES);

export function newsAfter(cursor: number, limit: number): Query<EventOf[]> {
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where seq > ?1 and type in (${TYPES}) order by seq limit ?2`,
    args: [cursor, limit],
    read: (rows) => rows.map(eventOfRow),
    memory: (tables) =>
      eventsAfter(tables, cursor)
        .filter(({ type }) => IS_NEWS.has(type))
        .slice(0, limit),
  };
}

/** So many changes of the settings are looked through for the one that names somebody. */
const CHANGES_READ = 20;

/** The last changes of the settings, oldest first. */
export function configChanges(): Query<EventOf<"config.changed">[]> {
  const ofChange = (event: EventOf) => (event.type === "config.changed" ? [event] : []);
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where type = 'config.changed' order by seq desc limit ?1`,
    args: [CHANGES_READ],
    read: (rows) => rows.map(eventOfRow).flatMap(ofChange).reverse(),
    memory: (tables) => eventsAfter(tables, 0).flatMap(ofChange).slice(-CHANGES_READ),
  };
}

export function newsConditions(): Query<NewsCondition[]> {
  return listDocs("select doc from conditions where kind = 'news' order by id", [], (tables) =>
    [...tables.entities.condition.values()]
      .flatMap((one) => (one.kind === "news" ? [one] : []))
      .sort((a, b) => compareText(a.conditionId, b.conditionId)),
  );
}

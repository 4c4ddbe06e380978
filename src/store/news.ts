/** What is read to tell people the news: the log past a place, and how far each of them has been told. */
import type { EventOf } from "#domain/model/event.ts";
import type { NewsCondition } from "#domain/model/news.ts";
import { NEWS_TYPES } from "#domain/reports/news.ts";
import { eventOfRow, eventsAfter, eventsOfTypesAfter, LOG_COLUMNS } from "./events.ts";
import type { Query } from "./query.ts";
import { compareText, listDocs } from "./query.ts";

export function newsAfter(cursor: number, limit: number): Query<EventOf[]> {
  return eventsOfTypesAfter(NEWS_TYPES, cursor, limit);
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

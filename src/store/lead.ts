/** What is read for the session that leads: who that is, and what of the log is news to it. */
import type { EventOf } from "#domain/model/event.ts";
import { LEAD, type LeadCondition } from "#domain/model/lead.ts";
import { LETTER_TYPES } from "#domain/reports/lead-letter.ts";
import { docById } from "./by-id.ts";
import { eventOfRow, eventsAfter, LOG_COLUMNS } from "./events.ts";
import type { Query } from "./query.ts";

/** Undefined while nobody has ever said that sessions may lead here. */
export function theLead(): Query<LeadCondition | undefined> {
  return docById("condition", LEAD) as Query<LeadCondition | undefined>;
}

const TYPES = LETTER_TYPES.map((type) => `'${type}'`).join(", ");
const IS_LETTER: ReadonlySet<string> = new Set(LETTER_TYPES);

export function lettersAfter(cursor: number, limit: number): Query<EventOf[]> {
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where seq > ?1 and type in (${TYPES}) order by seq limit ?2`,
    args: [cursor, limit],
    read: (rows) => rows.map(eventOfRow),
    memory: (tables) =>
      eventsAfter(tables, cursor)
        .filter(({ type }) => IS_LETTER.has(type))
        .slice(0, limit),
  };
}

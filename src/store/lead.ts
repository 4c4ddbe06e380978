/** What is read for the session that leads: who that is, and what of the log is news to it. */
import type { EventOf } from "#domain/model/event.ts";
import { LEAD, type LeadCondition } from "#domain/model/lead.ts";
import { LETTER_TYPES } from "#domain/reports/lead-letter.ts";
import { docById } from "./by-id.ts";
import { eventsOfTypesAfter } from "./events.ts";
import type { Query } from "./query.ts";

/** Undefined while nobody has ever said that sessions may lead here. */
export function theLead(): Query<LeadCondition | undefined> {
  return docById("condition", LEAD) as Query<LeadCondition | undefined>;
}

export function lettersAfter(cursor: number, limit: number): Query<EventOf[]> {
  return eventsOfTypesAfter(LETTER_TYPES, cursor, limit);
}

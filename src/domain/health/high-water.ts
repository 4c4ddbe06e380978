/**
 * Whether a store continues from where it was last seen. The mark is the furthest place of its log that a copy of that log
 * has reached, with the running checksum there: a store that does not have that very event was put back, is another
 * one's, or has taken another course, and must not continue by itself (STORE-5).
 */

import { isoTime } from "#domain/core/iso-time.ts";
import type { EventType, NewEvent } from "#domain/model/event.ts";

export interface HighWater {
  readonly identity: string;
  readonly seq: number;
  /** The running checksum of the log at that place. */
  readonly sum: number;
  /** The highest number any attempt ever had, also in histories that were given up since. */
  readonly attempt: number;
  /** When the event at that place was written; ms. */
  readonly at: number;
}

/** What the store says of itself beside that mark. */
export interface StoreSeen {
  readonly identity: string;
  readonly seq: number;
  /** When its last event was written; null of an empty log. */
  readonly at: number | null;
  /** Its checksum at the mark's place; undefined when its log does not reach that far. */
  readonly sumAtMark: number | undefined;
}

export type Continuity =
  | { readonly kind: "follows" }
  /** Its log ends before what was seen of it. */
  | { readonly kind: "went-back"; readonly lost: number; readonly mark: HighWater; readonly seen: StoreSeen }
  /** Its log is as long, but another: it went back, and was written to since. */
  | { readonly kind: "another-course"; readonly mark: HighWater; readonly seen: StoreSeen }
  /** Another repository's store lies under this one's name. */
  | { readonly kind: "another-store"; readonly mark: HighWater; readonly seen: StoreSeen };

export type Doubt = Exclude<Continuity, { readonly kind: "follows" }>;

/** A store of which nothing was ever seen follows; so does everything that holds the event at the mark. */
export function standingOf(mark: HighWater | undefined, seen: StoreSeen): Continuity {
  if (mark === undefined) return { kind: "follows" };
  if (mark.identity !== seen.identity) return { kind: "another-store", mark, seen };
  if (mark.seq === 0 || seen.sumAtMark === mark.sum) return { kind: "follows" };
  if (seen.sumAtMark === undefined) return { kind: "went-back", lost: mark.seq - seen.seq, mark, seen };
  return { kind: "another-course", mark, seen };
}

/** For a person who finds the fleet standing still: how far back, since when, and what can be done. */
export function sentenceOf(doubt: Doubt): string {
  const { mark, seen } = doubt;
  const until = seen.at === null ? "It holds nothing" : `It ends at ${isoTime(seen.at)}`;
  const known = `${mark.seq} were seen, the last of ${isoTime(mark.at)}`;
  switch (doubt.kind) {
    case "went-back":
      return `The database went back by ${doubt.lost} ${doubt.lost === 1 ? "event" : "events"}: it holds ${seen.seq}, ${known}. ${until}. ${WAYS_OUT}`;
    case "another-course":
      return `The database went back and was written to since: it holds ${seen.seq} events that are not the ones seen before (${known}). ${WAYS_OUT}`;
    case "another-store":
      return `The database is another store (${seen.identity}, ${seen.seq} events) than the one that was here (${mark.identity}: ${known}). ${WAYS_OUT}`;
  }
}

const WAYS_OUT =
  "'overseer doctor --fix', with the daemon down, brings back what was seen and keeps this one aside; 'overseer thaw' continues with what is here.";

/** What must not be a minute behind: who is at work, what was claimed, what has landed. */
const KEPT_AT_ONCE: ReadonlySet<EventType> = new Set<EventType>([
  "agent.slung",
  "agent.started",
  "agent.ended",
  "work.claimed",
  "work.done",
  "landing.landed",
  "merge.landed",
]);

/** Whether the copy of the log is brought up to date at once for this event; what a person says is never many. */
export function isKeptAtOnce({ type, actor }: Pick<NewEvent, "type" | "actor">): boolean {
  return KEPT_AT_ONCE.has(type) || actor.startsWith("human:");
}

/**
 * What a person may say to a store in doubt: what holds the fleet back or stops an agent, since that must never wait and
 * is done at once; `thaw`, which ends the doubt; and having read something, which may be forgotten. All else would be
 * set aside with the store by the `doctor --fix` that is recommended then, so it is refused before it is taken.
 */
const TAKEN_IN_DOUBT: ReadonlySet<EventType> = new Set<EventType>([
  "fleet.frozen",
  "fleet.thawed",
  "agent.stop_requested",
  "message.seen",
  "overseer.initialised",
]);

/** Overseer and its agents keep recording what happens: that can be found out again, or is in a transcript. */
export function isRefusedInDoubt({ type, actor }: Pick<NewEvent, "type" | "actor">): boolean {
  return actor.startsWith("human:") && !TAKEN_IN_DOUBT.has(type);
}

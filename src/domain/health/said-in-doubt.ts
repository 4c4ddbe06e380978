/**
 * What a database that is set aside holds and the one that takes its place does not: the words of people in it are named,
 * because nobody else could say them again, and a fleet that was frozen in it stays so (STORE-5).
 */

import { isoTime } from "#domain/core/iso-time.ts";
import type { EventOf } from "#domain/model/event.ts";

/** A log and the store that it is of. */
export interface StoreLog {
  readonly identity?: string | undefined;
  readonly events: readonly EventOf[];
}

/** What people said that only the one set aside knows, in its order. */
export function findSaidOnlyIn(aside: StoreLog, instead: StoreLog): EventOf[] {
  return findOnlyIn(aside, instead).filter(
    ({ actor, type }) => actor.startsWith("human:") && type !== "overseer.initialised",
  );
}

/** Of the same store, what follows after the two part; of another's, what is younger than all that was seen of this one. */
function findOnlyIn(aside: StoreLog, instead: StoreLog): readonly EventOf[] {
  if (aside.identity !== instead.identity) {
    const last = instead.events.reduce((latest, { at }) => Math.max(latest, at), 0);
    return aside.events.filter(({ at }) => at > last);
  }
  const parting = aside.events.findIndex((event, index) => !isSame(event, instead.events[index]));
  return parting < 0 ? [] : aside.events.slice(parting);
}

function isSame(one: EventOf, other: EventOf | undefined): boolean {
  return other !== undefined && one.at === other.at && JSON.stringify(one) === JSON.stringify(other);
}

/** The freeze that holds at the end of a log; undefined where the fleet moves. */
export function freezeIn({ events }: StoreLog): EventOf<"fleet.frozen"> | undefined {
  const last = events.findLast(({ type }) => type === "fleet.frozen" || type === "fleet.thawed");
  return last?.type === "fleet.frozen" ? last : undefined;
}

const LINES = 20;
const WORDS = 100;

/** For a person: the newest of it, one line each, and where the whole is. Empty when nothing was said. */
export function describeSaid(said: readonly EventOf[], path: string): string[] {
  if (said.length === 0) return [];
  const things = said.length === 1 ? "1 thing was" : `${said.length} things were`;
  const older = said.length - LINES;
  return [
    `${things} said while the database was in doubt and can only be found in ${path}; say again what still counts:`,
    ...said.slice(-LINES).map((event) => `  ${lineOf(event)}`),
    ...(older > 0 ? [`  and ${older} more before these`] : []),
  ];
}

function lineOf(event: EventOf): string {
  const subject = [event.nodeId ?? event.goalId, event.agent].filter((one) => one !== undefined && one !== null);
  const about = subject.length > 0 ? ` about ${subject.join(", ")}` : "";
  const words = wordsIn(event.data);
  return `${event.type} by ${event.actor} at ${isoTime(event.at)}${about}${words === undefined ? "" : `: ${words}`}`;
}

/** What stands for the whole of it, the most telling first. */
const TELLING = ["title", "subject", "text", "body", "answer", "summary", "reason", "detail"];

function wordsIn(data: object): string | undefined {
  const fields = new Map(Object.entries(data));
  const found = TELLING.map((name) => fields.get(name)).find((value) => typeof value === "string" && value !== "");
  if (typeof found !== "string") return undefined;
  const line = found.replace(/\s+/g, " ").trim();
  return line.length > WORDS ? `${line.slice(0, WORDS)}…` : line;
}

/**
 * Taking the state out and bringing it back. An export is one JSON document that holds the log and, for readers, the
 * tables folded from it; an import reads only the log, folds it, and then proves that it got the same tables.
 */

import { enterSafeMode } from "#act/safe-mode.ts";
import { withIsoTimes } from "#control/present.ts";
import type { World } from "#control/world.ts";
import { isActor } from "#domain/core/actor.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import type { EventOf, EventType } from "#domain/model/event.ts";
import { EVENT_TYPES } from "#domain/model/event.ts";
import type { Entity, EntityKind } from "#domain/model/fold.ts";
import { currentVersion } from "#domain/model/upcast.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { acceptStore, backupDir, furthestSeen } from "./store-rescue.ts";

/** The version of the document, not of the database. */
export const EXPORT_VERSION = 1;

const PAGE = 5_000;

/** What each table is called in the document. */
const SECTIONS: Readonly<Record<EntityKind, string>> = {
  goal: "goals",
  node: "work",
  assignment: "assignments",
  crystallization: "crystallizations",
  question: "questions",
  attempt: "attempts",
  message: "messages",
  action: "actions",
  recovery: "recoveries",
  condition: "conditions",
  merge: "merges",
  verdict: "verdicts",
  resolution: "resolutions",
  fleet: "fleet",
  learning: "learnings",
};

/** The document in pieces, so that a long log never lies in memory as one string. */
export async function* exportDocument(store: Store): AsyncGenerator<string> {
  const rows = await store.dump();
  const table = (kind: string) =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.id, withIsoTimes(row.doc)]));
  const assignments = rows.filter((row) => row.kind === "assignment").map((row) => row.doc as Assignment);
  const head = {
    version: EXPORT_VERSION,
    ...Object.fromEntries(Object.entries(SECTIONS).map(([kind, section]) => [section, table(kind)])),
    dispatchIndex: dispatchIndex(assignments),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"events":[`;
  let first = true;
  for (let after = 0; ; ) {
    const page = await store.log({ after, limit: PAGE });
    for (const event of page) {
      yield `${first ? "" : ","}\n${JSON.stringify(exportEvent(event))}`;
      first = false;
    }
    const last = page.at(-1);
    if (!last) break;
    after = last.seq;
  }
  yield "\n]}\n";
}

/** Every dispatch by its id: where it went and what became of it. */
function dispatchIndex(assignments: readonly Assignment[]): Record<string, unknown> {
  return Object.fromEntries(
    assignments.flatMap((assignment) =>
      assignment.dispatches.map((dispatch) => [
        dispatch.dispatchId,
        withIsoTimes({ ...dispatch, assignmentId: assignment.assignmentId }),
      ]),
    ),
  );
}

function exportEvent({ at, ...event }: EventOf): Record<string, unknown> {
  return { ts: new Date(at).toISOString(), ...event };
}

/**
 * Imports into this repository, by a person's word. Where more was seen here before than the document holds, that is a
 * step back in time, and a person looks once more before anything continues.
 */
export async function importInto(world: World, text: string): Promise<{ readonly events: number }> {
  const seen = furthestSeen(world);
  const { events } = await importDocument(await world.writer(), text);
  await acceptStore(world);
  if (seen > events) {
    await enterSafeMode(
      world,
      `${events} events were imported where ${seen} had been seen before: this store went back by ${seen - events}. ` +
        `What was there is kept in ${backupDir(world)}; 'overseer thaw' continues with what was imported.`,
    );
  }
  return { events };
}

/**
 * Reads a document back into a store without a history. The log is folded in memory first and held against the tables
 * of the document, so nothing is written unless the whole of it is sound.
 */
export async function importDocument(store: Store, text: string): Promise<{ readonly events: number }> {
  const document = parseDocument(text);
  const events = document.events.map(importEvent);
  events.forEach((event, index) => {
    if (event.seq !== index + 1) throw unsound(`event ${index + 1} of the document has the number ${event.seq}`);
  });
  const rehearsal = memoryStore();
  try {
    await rehearsal.restore(events);
  } catch (error) {
    if (error instanceof OverseerError && error.code === "ILLEGAL_MOVE")
      throw unsound(`its events contradict each other (${error.message})`);
    throw error;
  }
  await proveSame(rehearsal, document);
  await store.restore(events);
  return { events: events.length };
}

interface ExportDocument {
  readonly goals: Record<string, unknown>;
  readonly events: readonly Record<string, unknown>[];
  readonly [table: string]: unknown;
}

function parseDocument(text: string): ExportDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unsound(`it is not JSON (${messageOf(error)})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unsound("it is not an object");
  const document = value as Record<string, unknown>;
  if (document.version !== EXPORT_VERSION) {
    throw unsound(
      `its version is ${JSON.stringify(document.version) ?? "missing"}; this Overseer reads ${EXPORT_VERSION}`,
    );
  }
  if (!Array.isArray(document.events)) throw unsound("it has no list of events");
  return document as unknown as ExportDocument;
}

function importEvent(raw: Record<string, unknown>, index: number): EventOf {
  const where = `event ${index + 1}`;
  if (typeof raw !== "object" || raw === null) throw unsound(`${where} is not an object`);
  const { ts, ...rest } = raw;
  const at = typeof ts === "string" ? Date.parse(ts) : Number.NaN;
  if (!Number.isFinite(at)) throw unsound(`${where} has no time`);
  if (!EVENT_TYPES.includes(rest.type as EventType)) {
    throw unsound(`${where} is of the unknown type ${JSON.stringify(rest.type) ?? "(none)"}`);
  }
  if (typeof rest.v !== "number" || rest.v > currentVersion(rest.type as EventType)) {
    throw unsound(`${where} was written by a newer Overseer`);
  }
  if (typeof rest.actor !== "string" || !isActor(rest.actor)) throw unsound(`${where} has no actor`);
  if (typeof rest.because !== "string" || typeof rest.data !== "object" || rest.data === null) {
    throw unsound(`${where} has no reason or no data`);
  }
  if (!Number.isInteger(rest.seq)) throw unsound(`${where} has no number`);
  for (const id of ["goalId", "nodeId", "assignmentId", "agent"]) {
    if (rest[id] !== undefined && typeof rest[id] !== "string") throw unsound(`${where} has an invalid ${id}`);
  }
  return { ...rest, at } as unknown as EventOf;
}

/** The tables in the document were folded from its events; if ours differ, one of the two was tampered with. */
async function proveSame(store: Store, document: ExportDocument): Promise<void> {
  for (const row of await store.dump()) {
    const table = document[SECTIONS[row.kind]];
    if (typeof table !== "object" || table === null) continue;
    const told = (table as Record<string, Entity>)[row.id];
    if (JSON.stringify(told) !== JSON.stringify(withIsoTimes(row.doc))) {
      throw new OverseerError(
        "conflict",
        "IMPORT_DIFFERS",
        `The document contradicts its own events about ${row.id}; nothing was imported.`,
        "Use an unchanged file from 'overseer store export'; an edited one cannot be trusted.",
      );
    }
  }
}

function unsound(what: string): OverseerError {
  return new OverseerError(
    "usage",
    "IMPORT_INVALID",
    `This is not an Overseer export: ${what}.`,
    "Use a file made by 'overseer store export'; nothing was imported.",
  );
}

/** Questions about what was learned, and to whom it was told. By words they are asked by way of `search` (search.ts). */
import type { EarlierSync } from "#domain/learnings/relay.ts";
import type { Learning } from "#domain/model/learning.ts";
import { listUnjudged } from "#domain/model/learning.ts";
import type { Message, SyncUrgency } from "#domain/model/message.ts";
import { docById, docsWithPrefix } from "./by-id.ts";
import type { MemoryTables, Query } from "./query.ts";
import { compareText, docs, listDocs } from "./query.ts";

export function learningById(id: string): Query<Learning | undefined> {
  return docById("learning", id);
}

export function learningsWithPrefix(prefix: string, limit = 10): Query<Learning[]> {
  return docsWithPrefix("learning", prefix, limit);
}

/** In the order of their ids. */
export function learningsByIds(ids: readonly string[]): Query<Learning[]> {
  return listDocs(
    `select doc from learnings where id in (${ids.map((_, index) => `?${index + 1}`).join(", ")}) order by id`,
    [...ids],
    (tables) =>
      [...new Set(ids)]
        .flatMap((id) => tables.entities.learning.get(id) ?? [])
        .sort((a, b) => compareText(a.learningId, b.learningId)),
  );
}

/** The best first; `all`: also those that were forgotten. */
export function listLearnings(filter: { readonly all: boolean; readonly limit: number }): Query<Learning[]> {
  return listDocs(
    `select doc from learnings ${filter.all ? "" : "where status = 'kept'"} order by rank desc, found_at desc, id limit ?1`,
    [filter.limit],
    (tables) =>
      learningsIn(tables, ({ status }) => filter.all || status === "kept")
        .sort((a, b) => b.rank - a.rank || b.foundAt - a.foundAt || compareText(a.learningId, b.learningId))
        .slice(0, filter.limit),
  );
}

/** Kept ones that were found since then, the oldest first. */
export function learningsSince(time: number): Query<Learning[]> {
  return listDocs(
    "select doc from learnings where status = 'kept' and found_at >= ?1 order by found_at, id",
    [time],
    (tables) => sortByTime(learningsIn(tables, ({ status, foundAt }) => status === "kept" && foundAt >= time)),
  );
}

/** Kept ones that were found before then, the oldest first. */
export function learningsBefore(time: number, limit: number): Query<Learning[]> {
  return listDocs(
    "select doc from learnings where status = 'kept' and found_at < ?1 order by found_at, id limit ?2",
    [time, limit],
    (tables) =>
      sortByTime(learningsIn(tables, ({ status, foundAt }) => status === "kept" && foundAt < time)).slice(0, limit),
  );
}

/** Those of which somebody was told, and nobody knows yet what came of it. */
export function listUnjudgedLearnings(): Query<Learning[]> {
  return listDocs("select doc from learnings where unjudged > 0 order by id", [], (tables) =>
    learningsIn(tables, (learning) => listUnjudged(learning).length > 0).sort((a, b) =>
      compareText(a.learningId, b.learningId),
    ),
  );
}

/** The messages by which those were told of whom nobody knows yet what came of it, and of others that heard the same. */
export function syncsUnjudged(): Query<Message[]> {
  return listDocs(
    `select m.doc from learnings l join messages m on m.thread = l.id
      where l.unjudged > 0 and m.kind = 'sync' order by m.id`,
    [],
    (tables) =>
      [...tables.entities.message.values()]
        .filter(({ kind, threadId }) => {
          const learning = kind === "sync" ? tables.entities.learning.get(threadId ?? "") : undefined;
          return learning !== undefined && listUnjudged(learning).length > 0;
        })
        .sort((a, b) => compareText(a.messageId, b.messageId)),
  );
}

/** Which learnings an attempt was not told yet have been forgotten since. */
export function listForgottenInBox(attempt: number): Query<ReadonlySet<string>> {
  return {
    sql: `select l.id from messages m join learnings l on l.id = m.thread
      where m.attempt = ?1 and m.status = 'queued' and m.kind = 'sync' and l.status = 'forgotten' order by l.id`,
    args: [attempt],
    read: (rows) => new Set(rows.map(({ id }) => String(id))),
    memory: (tables) =>
      new Set(
        [...tables.entities.message.values()]
          .filter((one) => one.attempt === attempt && one.status === "queued" && one.kind === "sync")
          .map(({ threadId }) => threadId ?? "")
          .filter((id) => tables.entities.learning.get(id)?.status === "forgotten")
          .sort(compareText),
      ),
  };
}

/** Which messages were seen, among those of learnings of which somebody's part is not judged; `of`: of these learnings. */
export function listSeenSyncs(of?: readonly string[]): Query<ReadonlySet<string>> {
  const some = of === undefined ? "" : `and l.id in (${of.map((_, index) => `?${index + 1}`).join(", ")})`;
  const wanted = of && new Set(of);
  return {
    sql: `select m.id from learnings l join messages m on m.thread = l.id
      where l.unjudged > 0 ${some} and m.kind = 'sync' and m.status = 'seen'`,
    args: [...(of ?? [])],
    read: (rows) => new Set(rows.map((row) => String(row.id))),
    memory: (tables) =>
      new Set(
        [...tables.entities.message.values()]
          .filter(({ kind, status, threadId }) => {
            const learning = kind === "sync" && status === "seen" && tables.entities.learning.get(threadId ?? "");
            if (!learning || (wanted && !wanted.has(learning.learningId))) return false;
            return listUnjudged(learning).length > 0;
          })
          .map(({ messageId }) => messageId),
      ),
  };
}

/** The syncs that were put before those at work. */
export function syncsBeforeLiving(): Query<Message[]> {
  return listDocs(
    `select m.doc from messages m join attempts a on a.attempt = m.attempt
      where m.kind = 'sync' and m.status in ('handed', 'seen') and a.status <> 'ended' order by m.id`,
    [],
    (tables) =>
      [...tables.entities.message.values()]
        .filter(({ kind, status }) => kind === "sync" && (status === "handed" || status === "seen"))
        .filter(({ attempt }) => isAtWork(tables, attempt))
        .sort((a, b) => compareText(a.messageId, b.messageId)),
  );
}

/** What was ever offered to anybody with their context. */
export function learningsOffered(): Query<Learning[]> {
  const isOffered = ({ recipients }: Learning) => recipients.some(({ how }) => how === "offered");
  return {
    sql: "select doc from learnings order by id",
    args: [],
    read: (rows) => docs<Learning>(rows).filter(isOffered),
    memory: (tables) => learningsIn(tables, isOffered).sort((a, b) => compareText(a.learningId, b.learningId)),
  };
}

function isAtWork(tables: MemoryTables, attempt: number): boolean {
  return (tables.entities.attempt.get(String(attempt))?.status ?? "ended") !== "ended";
}

/** What each agent was told since then, by its name; the oldest first. */
export function syncsSince(time: number): Query<ReadonlyMap<string, readonly EarlierSync[]>> {
  return {
    sql: "select doc from messages where kind = 'sync' and created_at > ?1 order by agent, created_at, id",
    args: [time],
    read: (rows) => groupEarlier(docs<Message>(rows).map(toEarlier)),
    memory: (tables) =>
      groupEarlier(
        [...tables.entities.message.values()]
          .filter((one) => one.kind === "sync" && one.createdAt > time)
          .sort(
            (a, b) =>
              compareText(a.agent, b.agent) || a.createdAt - b.createdAt || compareText(a.messageId, b.messageId),
          )
          .map(toEarlier),
      ),
  };
}

function toEarlier({ agent, from, tone, createdAt }: Message) {
  return { agent, from, urgency: tone as SyncUrgency, at: createdAt };
}

function groupEarlier(
  all: readonly (EarlierSync & { readonly agent: string })[],
): ReadonlyMap<string, readonly EarlierSync[]> {
  const byAgent = new Map<string, EarlierSync[]>();
  for (const { agent, ...one } of all) {
    const others = byAgent.get(agent);
    if (others) others.push(one);
    else byAgent.set(agent, [one]);
  }
  return byAgent;
}

function learningsIn(tables: MemoryTables, holds: (learning: Learning) => boolean): Learning[] {
  return [...tables.entities.learning.values()].filter(holds);
}

function sortByTime(learnings: Learning[]): Learning[] {
  return learnings.sort((a, b) => a.foundAt - b.foundAt || compareText(a.learningId, b.learningId));
}

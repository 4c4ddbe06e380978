/**
 * Questions about messages: what waits for an attempt or in a box, in the order in which it is handed over, and what
 * there was. Waiting ones have an index of their own, so a look into an inbox costs the same however much was ever
 * written.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { Message } from "#domain/model/message.ts";
import { isUnseen, isWorthTurn } from "#domain/model/message.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { docById, docsWithPrefix } from "./by-id.ts";
import type { MemoryTables, Query } from "./query.ts";
import { attemptsIn, compareText, docs, findDoc, listDocs } from "./query.ts";

/** More than anybody has; PostgreSQL knows no negative limit. */
const ALL = 1_000_000_000;

/** What waits for an attempt, in the order it is handed over: queued, or handed and not yet seen. */
export function waitingMessages(attempt: number, limit = ALL): Query<Message[]> {
  return listDocs(
    `select doc from messages where attempt = ?1 and status in ('queued', 'handed') order by rank, place limit ?2`,
    [attempt, limit],
    (tables) => unseenIn(tables, (one) => one.attempt === attempt).slice(0, limit),
  );
}

/** In the order they are handed over, those not handed yet. `fresh`: only what the attempt was not told of already. */
export function listQueuedMessages(
  attempt: number,
  wish: { readonly fresh: boolean; readonly limit: number },
): Query<Message[]> {
  return listDocs(
    `select doc from messages where attempt = ?1 and status = 'queued' ${wish.fresh ? UNANNOUNCED : ""} order by rank, place limit ?2`,
    [attempt, wish.limit],
    (tables) => findQueuedIn(tables, attempt, wish.fresh).slice(0, wish.limit),
  );
}

export function countQueuedMessages(attempt: number, wish: { readonly fresh: boolean }): Query<number> {
  return {
    sql: `select count(*) as many from messages where attempt = ?1 and status = 'queued' ${wish.fresh ? UNANNOUNCED : ""}`,
    args: [attempt],
    read: ([row]) => Number(row?.many ?? 0),
    memory: (tables) => findQueuedIn(tables, attempt, wish.fresh).length,
  };
}

/** `worthTurn`: only what an agent begins or continues a turn for. */
export function isAnythingQueued(attempt: number, worthTurn = false): Query<boolean> {
  return {
    sql: `select 1 from messages where attempt = ?1 and status = 'queued' ${worthTurn ? "and kind <> 'sync'" : ""} limit 1`,
    args: [attempt],
    read: (rows) => rows.length > 0,
    memory: (tables) => findQueuedIn(tables, attempt, false).some((one) => !worthTurn || isWorthTurn(one)),
  };
}

const UNANNOUNCED = "and place > (select announced from attempts where attempt = ?1)";

function findQueuedIn(tables: MemoryTables, attempt: number, fresh: boolean): Message[] {
  const after = fresh ? (tables.entities.attempt.get(String(attempt))?.announced ?? 0) : -1;
  return unseenIn(tables, (one) => one.attempt === attempt && one.status === "queued" && one.place > after);
}

/** What waits in a box, whichever attempt of that name it was meant for. */
export function unseenInBox(agent: string, limit = ALL): Query<Message[]> {
  return listDocs(
    `select doc from messages where agent = ?1 and status in ('queued', 'handed') order by rank, place limit ?2`,
    [agent, limit],
    (tables) => unseenIn(tables, (one) => one.agent === agent).slice(0, limit),
  );
}

export interface WaitingCount {
  readonly queued: number;
  readonly handed: number;
}

export function waitingCount(box: { readonly attempt: number } | { readonly agent: string }): Query<WaitingCount> {
  const [column, value] = "attempt" in box ? (["attempt", box.attempt] as const) : (["agent", box.agent] as const);
  return {
    sql: `select status, count(*) as many from messages where ${column} = ?1 and status in ('queued', 'handed') group by status`,
    args: [value],
    read: (rows) => ({
      queued: Number(rows.find((row) => row.status === "queued")?.many ?? 0),
      handed: Number(rows.find((row) => row.status === "handed")?.many ?? 0),
    }),
    memory: (tables) => {
      const all = unseenIn(tables, (one) => one[column] === value);
      const queued = all.filter((one) => one.status === "queued").length;
      return { queued, handed: all.length - queued };
    },
  };
}

/** Unseen messages for attempts that have ended, at the node that somebody takes up again. */
export function unseenAtNode(goalId: string, nodeId: string): Query<Message[]> {
  return listDocs(
    `select m.doc from attempts a join messages m on m.attempt = a.attempt
      where a.goal_id = ?1 and a.node_id = ?2 and a.status = 'ended' and m.status in ('queued', 'handed')
      order by m.rank, m.place`,
    [goalId, nodeId],
    (tables) =>
      unseenIn(tables, (one) => {
        const attempt = tables.entities.attempt.get(String(one.attempt));
        return attempt?.goalId === goalId && attempt.workNodeId === nodeId && attempt.status === "ended";
      }),
  );
}

/** What an attempt was told and never saw, oldest first. */
export function listExpiredMessages(attempt: number): Query<Message[]> {
  return listDocs(
    "select doc from messages where attempt = ?1 and status = 'expired' order by created_at, id",
    [attempt],
    (tables) =>
      [...tables.entities.message.values()]
        .filter((one) => one.attempt === attempt && one.status === "expired")
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.messageId, b.messageId)),
  );
}

/** What an attempt saw last, newest first. */
export function listLastSeenMessages(attempt: number, limit: number): Query<Message[]> {
  return listDocs(
    "select doc from messages where attempt = ?1 and status = 'seen' order by created_at desc, id desc limit ?2",
    [attempt, limit],
    (tables) =>
      [...tables.entities.message.values()]
        .filter((one) => one.attempt === attempt && one.status === "seen")
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.messageId, a.messageId))
        .slice(0, limit),
  );
}

export function messageById(id: string): Query<Message | undefined> {
  return docById("message", id);
}

export function messagesWithPrefix(prefix: string, limit = 10): Query<Message[]> {
  return docsWithPrefix("message", prefix, limit);
}

export function messagesByIds(ids: readonly string[]): Query<Message[]> {
  return {
    sql: `select doc from messages where id in (${ids.map((_, index) => `?${index + 1}`).join(", ")}) order by id`,
    args: [...ids],
    read: (rows) => docs<Message>(rows),
    memory: (tables) =>
      ids.flatMap((id) => tables.entities.message.get(id) ?? []).sort((a, b) => compareText(a.messageId, b.messageId)),
  };
}

export interface MessageFilter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly thread?: string | undefined;
  readonly unread?: boolean;
  readonly kind?: string | undefined;
  readonly limit: number;
}

/** The newest first. */
export function messagesLike(filter: MessageFilter): Query<Message[]> {
  const wanted = [
    ["sender = ?", filter.from],
    ["agent = ?", filter.to],
    ["thread = ?", filter.thread],
    ["kind = ?", filter.kind],
  ].filter((pair): pair is [string, string] => pair[1] !== undefined);
  const where = [
    ...wanted.map(([sql], index) => `${sql}${index + 1}`),
    ...(filter.unread ? ["status in ('queued', 'handed')"] : []),
  ];
  return {
    sql: `select doc from messages ${where.length > 0 ? `where ${where.join(" and ")}` : ""} order by created_at desc, id desc limit ?${wanted.length + 1}`,
    args: [...wanted.map(([, value]) => value), filter.limit],
    read: (rows) => docs<Message>(rows),
    memory: (tables) =>
      [...tables.entities.message.values()]
        .filter(
          (one) =>
            (filter.from === undefined || one.from === filter.from) &&
            (filter.to === undefined || one.agent === filter.to) &&
            (filter.thread === undefined || (one.threadId ?? one.messageId) === filter.thread) &&
            (filter.kind === undefined || one.kind === filter.kind) &&
            (!filter.unread || isUnseen(one)),
        )
        .sort((a, b) => b.createdAt - a.createdAt || compareText(b.messageId, a.messageId))
        .slice(0, filter.limit),
  };
}

export interface BoxCount {
  readonly agent: string;
  readonly unread: number;
}

/** How much mail waits, box by box. */
export function unreadMail(): Query<BoxCount[]> {
  return {
    sql: `select agent, count(*) as unread from messages
      where status in ('queued', 'handed') and kind = 'mail' group by agent order by agent`,
    args: [],
    read: (rows) => rows.map((row) => ({ agent: String(row.agent), unread: Number(row.unread) })),
    memory: (tables) => {
      const counts = new Map<string, number>();
      for (const one of unseenIn(tables, (message) => message.kind === "mail")) {
        counts.set(one.agent, (counts.get(one.agent) ?? 0) + 1);
      }
      return [...counts].map(([agent, unread]) => ({ agent, unread })).sort((a, b) => compareText(a.agent, b.agent));
    },
  };
}

/** The newest attempt under a name, living or not. */
export function lastByName(agent: string): Query<Attempt | undefined> {
  return findDoc("select doc from attempts where agent = ?1 order by attempt desc limit 1", [agent], (tables) =>
    newest(tables, agent),
  );
}

const LAST = "(select attempt from attempts where agent = ?1 order by attempt desc limit 1)";

/** Who is at work now on the node that the newest attempt under this name had. */
export function holderOfLast(agent: string): Query<Attempt | undefined> {
  return findDoc(
    `select h.doc from attempts a join attempts h on h.goal_id = a.goal_id and h.node_id = a.node_id
      where a.attempt = ${LAST} and h.status <> 'ended'`,
    [agent],
    (tables) => {
      const last = newest(tables, agent);
      return [...tables.entities.attempt.values()].find(
        (one) => last && one.goalId === last.goalId && one.workNodeId === last.workNodeId && one.status !== "ended",
      );
    },
  );
}

/** Who asked for the newest attempt under this name, if that one lives. */
export function livingParentOfLast(agent: string): Query<Attempt | undefined> {
  return findDoc(
    `select p.doc from attempts a join attempts p on p.attempt = a.parent
      where a.attempt = ${LAST} and p.status <> 'ended'`,
    [agent],
    (tables) => {
      const parent = tables.entities.attempt.get(String(newest(tables, agent)?.parent?.attempt));
      return parent?.status === "ended" ? undefined : parent;
    },
  );
}

/** How the node of the newest attempt under this name stands. */
export function nodeOfLast(agent: string): Query<{ readonly status: string } | undefined> {
  return {
    sql: `select n.status from attempts a join nodes n on n.goal_id = a.goal_id and n.node_id = a.node_id where a.attempt = ${LAST}`,
    args: [agent],
    read: ([row]) => (row ? { status: String(row.status) } : undefined),
    memory: (tables) => {
      const last = newest(tables, agent);
      const node: WorkNode | undefined = last && tables.entities.node.get(nodeKey(last.goalId, last.workNodeId));
      return node && { status: node.status };
    },
  };
}

export function livingNames(): Query<string[]> {
  return {
    sql: "select agent from attempts where status <> 'ended' order by attempt",
    args: [],
    read: (rows) => rows.map((row) => String(row.agent)),
    memory: (tables) => attemptsIn(tables, (one) => one.status !== "ended").map((one) => one.agent),
  };
}

function newest(tables: MemoryTables, agent: string): Attempt | undefined {
  return [...tables.entities.attempt.values()]
    .filter((one) => one.agent === agent)
    .sort((a, b) => b.attempt - a.attempt)[0];
}

function unseenIn(tables: MemoryTables, wanted: (message: Message) => boolean): Message[] {
  return [...tables.entities.message.values()]
    .filter((one) => isUnseen(one) && wanted(one))
    .sort((a, b) => a.rank - b.rank || a.place - b.place);
}

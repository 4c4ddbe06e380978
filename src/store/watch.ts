/**
 * What the watch asks the store: first only which documents there are and in which version, because most of them are as
 * they were at the last look and parsing them costs most; then those that changed. And, for when documents cannot be
 * trusted, what columns alone say.
 */
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt, AttemptStatus } from "#domain/model/attempt.ts";
import type { Recovery } from "#domain/model/ladder-state.ts";
import { recoveryKey } from "#domain/model/ladder-state.ts";
import { isWorthTurn } from "#domain/model/message.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { SignalKind } from "#domain/signals/signal.ts";
import type { WaitingMessages } from "#domain/tick/snapshot.ts";
import type { MemoryTables, Query, Row } from "./query.ts";
import { attemptsIn, compareText, docs } from "./query.ts";
import { usablePulses } from "./signals.ts";

/** A document, and what grows whenever it changes. */
export interface DocVersion {
  readonly id: string;
  readonly version: number;
}

/** One kind of document that the watch looks at: which there are, and some of them by their ids. */
export interface WatchedKind<E> {
  versions(): Query<DocVersion[]>;
  some(ids: readonly string[]): Query<E[]>;
  idOf(doc: E): string;
}

/** The memory store hands out the documents themselves; what is not the same object is another version. */
const identities = new WeakMap<object, number>();
let lastIdentity = 0;

function identityOf(doc: object): number {
  let known = identities.get(doc);
  if (known === undefined) {
    lastIdentity += 1;
    known = lastIdentity;
    identities.set(doc, known);
  }
  return known;
}

interface KindSpec<E> {
  readonly table: string;
  readonly key: string;
  readonly version: string;
  /** Which of them are looked at: joins and a condition, on the table named `t`. */
  readonly wanted: string;
  idOf(doc: E): string;
  inMemory(tables: MemoryTables): E[];
  /** The documents in rows of the key and `doc`, where not all of them can be trusted. */
  read?(rows: readonly Row[]): E[];
}

function defineKind<E extends object>(spec: KindSpec<E>): WatchedKind<E> {
  const { table, key, version, wanted, idOf, inMemory, read = docs<E> } = spec;
  return {
    idOf,
    versions: () => ({
      sql: `select t.${key} as id, t.${version} as version from ${table} t ${wanted}`,
      args: [],
      read: (rows) => rows.map((row) => ({ id: String(row.id), version: Number(row.version) })),
      memory: (tables) => inMemory(tables).map((doc) => ({ id: idOf(doc), version: identityOf(doc) })),
    }),
    some: (ids) => ({
      sql: `select ${key}, doc from ${table} where ${key} in (${ids.map((_, index) => `?${index + 1}`).join(", ")})`,
      args: key === "attempt" ? ids.map(Number) : ids,
      read,
      memory: (tables) => {
        const among = new Set(ids);
        return inMemory(tables).filter((doc) => among.has(idOf(doc)));
      },
    }),
  };
}

const livingIn = (tables: MemoryTables) => attemptsIn(tables, ({ status }) => status !== "ended");

export const WATCHED_ATTEMPTS: WatchedKind<Attempt> = defineKind({
  ...{ table: "attempts", key: "id", version: "version", wanted: "where t.status <> 'ended' order by t.attempt" },
  idOf: ({ attempt }) => String(attempt),
  inMemory: livingIn,
});

/** Of those that are there and not among the documents the pulse cannot be used. */
export const WATCHED_PULSES: WatchedKind<Pulse> = defineKind({
  ...{ table: "pulses", key: "attempt", version: "beats" },
  wanted: "join attempts a on a.attempt = t.attempt where a.status <> 'ended' order by t.attempt",
  idOf: ({ attempt }) => String(attempt),
  inMemory: (tables) => livingIn(tables).flatMap(({ attempt }) => tables.pulses.get(attempt) ?? []),
  read: usablePulses,
});

export const WATCHED_ASSIGNMENTS: WatchedKind<Assignment> = defineKind({
  ...{ table: "assignments", key: "id", version: "version" },
  wanted: "where t.status not in ('done', 'cancelled') order by t.id",
  idOf: ({ assignmentId }) => assignmentId,
  inMemory: (tables) =>
    [...tables.entities.assignment.values()].filter(isLive).sort((a, b) => compareText(a.assignmentId, b.assignmentId)),
});

/** By their ids, which are looked up; by goal and node the database would look through all of them for each agent. */
const OF_LIVING_NODES =
  "join attempts a on t.id = a.goal_id || '/' || a.node_id where a.status <> 'ended' order by a.attempt";

/** Those of nodes somebody works on. */
export const WATCHED_RECOVERIES: WatchedKind<Recovery> = defineKind<Recovery>({
  ...{ table: "recoveries", key: "id", version: "version" },
  wanted: OF_LIVING_NODES,
  idOf: (recovery) => recoveryKey(recovery),
  inMemory: (tables) =>
    livingIn(tables).flatMap(
      ({ goalId, workNodeId }) => tables.entities.recovery.get(nodeKey(goalId, workNodeId)) ?? [],
    ),
});

export const WATCHED_NODES: WatchedKind<WorkNode> = defineKind({
  ...{ table: "nodes", key: "id", version: "version" },
  wanted: OF_LIVING_NODES,
  idOf: ({ goalId, workNodeId }) => nodeKey(goalId, workNodeId),
  inMemory: (tables) =>
    livingIn(tables).flatMap(({ goalId, workNodeId }) => tables.entities.node.get(nodeKey(goalId, workNodeId)) ?? []),
});

/** What is on its way to each, in numbers, without what waits for a turn by itself; which dispatches are unseen only their documents say. */
export function countWaitingMessages(): Query<ReadonlyMap<number, WaitingMessages>> {
  return {
    sql: `select attempt, sum(status = 'queued') as queued, sum(status = 'handed') as handed, min(created_at) as since
      from messages where status in ('queued', 'handed') and (status = 'handed' or kind <> 'sync') group by attempt`,
    args: [],
    read: (rows) => new Map(rows.map((row) => [Number(row.attempt), waitingOfRow(row)])),
    memory: (tables) => {
      const counted = new Map<number, WaitingMessages>();
      for (const { attempt, status, kind, createdAt } of tables.entities.message.values()) {
        if (status !== "queued" && status !== "handed") continue;
        if (status === "queued" && !isWorthTurn({ kind })) continue;
        const known = counted.get(attempt) ?? { queued: 0, handed: 0, unseen: [], since: createdAt };
        counted.set(attempt, {
          ...known,
          [status]: known[status] + 1,
          since: Math.min(known.since ?? createdAt, createdAt),
        });
      }
      return counted;
    },
  };
}

function waitingOfRow({ queued, handed, since }: Row): WaitingMessages {
  return { queued: Number(queued), handed: Number(handed), unseen: [], since: Number(since) };
}

/** One living agent as far as columns tell: no document is read for it. */
export interface AgentInColumns {
  readonly attempt: number;
  readonly agent: string;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly status: AttemptStatus;
  /** Counts every signal of it. */
  readonly beats: number;
  readonly inTurn: boolean;
  /** There is one, whether or not it can be used. */
  readonly hasPulse: boolean;
}

export function listLivingInColumns(): Query<AgentInColumns[]> {
  return {
    sql: `select a.attempt, a.agent, a.goal_id, a.node_id, a.status, coalesce(p.beats, 0) as beats,
      coalesce(p.in_turn, 0) as in_turn, p.attempt is not null as has_pulse from attempts a left join pulses p on p.attempt = a.attempt
      where a.status <> 'ended' order by a.attempt`,
    args: [],
    read: (rows) =>
      rows.map((row) => ({
        attempt: Number(row.attempt),
        agent: String(row.agent),
        goalId: String(row.goal_id),
        workNodeId: String(row.node_id),
        status: row.status as AttemptStatus,
        beats: Number(row.beats),
        inTurn: Number(row.in_turn) === 1,
        hasPulse: Number(row.has_pulse) === 1,
      })),
    memory: (tables) =>
      livingIn(tables).map(({ attempt, agent, goalId, workNodeId, status }) => {
        const pulse = tables.pulses.get(attempt);
        const { beats = 0, inTurn = false } = pulse ?? {};
        return { attempt, agent, goalId, workNodeId, status, beats, inTurn, hasPulse: pulse !== undefined };
      }),
  };
}

/**
 * Whether a call of it is running, its provider failed its last turn, its CLI tries again by itself, or a dialog waits for a
 * person, as its signals tell without their contents: since the last turn began a call that has no end, or that its provider
 * failed; or what was heard last.
 */
export function isBusyOrAsking(attempt: number): Query<boolean> {
  return {
    sql: `select exists (select 1 from signals s where s.attempt = ?1 and s.kind in ('tool.started', 'api.failed')
        and s.id > coalesce((select max(id) from signals where attempt = ?1 and kind = 'turn.started'), 0)
        and not exists (select 1 from signals e where e.attempt = ?1 and e.source = s.source and e.kind = 'tool.ended'))
      or coalesce((select kind from signals where attempt = ?1 order by id desc limit 1), '')
        in (${EXPLAINED_BY.map((kind) => `'${kind}'`).join(", ")}) as busy`,
    args: [attempt],
    read: ([row]) => Number(row?.busy) === 1,
    memory: (tables) => {
      const signals = tables.signals.get(attempt) ?? [];
      const ended = new Set(signals.flatMap(({ kind, source }) => (kind === "tool.ended" ? [source] : [])));
      const turn = signals.findLastIndex(({ kind }) => kind === "turn.started");
      const last = signals.at(-1)?.kind;
      const sinceTurn = signals.slice(turn + 1);
      return (
        sinceTurn.some(
          ({ kind, source }) => (kind === "tool.started" || kind === "api.failed") && !ended.has(source),
        ) ||
        (last !== undefined && EXPLAINED_BY.includes(last))
      );
    },
  };
}

/** After these a silence is no surprise. */
const EXPLAINED_BY: readonly SignalKind[] = ["api.retry", "permission.asked"];

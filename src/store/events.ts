/** Questions to the log. */
import type { EventOf } from "#domain/model/event.ts";
import { upcast } from "#domain/model/upcast.ts";
import type { MemoryTables, Query, Row } from "./query.ts";
import { afterPrefix } from "./query.ts";
import type { SqlValue } from "./tables.ts";

export interface EventFilter {
  /** Only what came after this place in the log. */
  readonly after?: number;
  readonly goalId?: string;
  readonly nodeId?: string;
  readonly assignmentId?: string;
  readonly agent?: string;
  readonly type?: string;
  readonly limit: number;
  /** The newest ones instead of the oldest; the answer is in log order either way. */
  readonly newest?: boolean;
}

const COLUMN_OF = { goalId: "goal_id", nodeId: "node_id", assignmentId: "assignment_id", agent: "agent" } as const;

/** Only the conditions that were given stand in the text, so that the right index is used on a long log. */
function conditions(filter: EventFilter): { readonly where: string; readonly args: SqlValue[] } {
  const parts = ["seq > ?1"];
  const args: SqlValue[] = [filter.after ?? 0];
  for (const [key, column] of Object.entries(COLUMN_OF) as [keyof typeof COLUMN_OF, string][]) {
    const wanted = filter[key];
    if (wanted === undefined) continue;
    args.push(wanted);
    parts.push(`${column} = ?${args.length}`);
  }
  if (filter.type !== undefined) {
    args.push(filter.type, `${filter.type}.`, afterPrefix(`${filter.type}.`));
    const [exact, low, high] = [args.length - 2, args.length - 1, args.length];
    parts.push(`(type = ?${exact} or (type >= ?${low} and type < ?${high}))`);
  }
  return { where: parts.join(" and "), args };
}

export function eventsMatching(filter: EventFilter): Query<EventOf[]> {
  const { where, args } = conditions(filter);
  const direction = filter.newest ? "desc" : "asc";
  return {
    sql: `select * from events where ${where} order by seq ${direction} limit ?${args.length + 1}`,
    args: [...args, filter.limit],
    read: (rows) => inLogOrder(rows.map(eventOfRow)),
    memory: (tables) => {
      const below = `${filter.type}.`;
      const matches = (event: EventOf) =>
        (filter.goalId === undefined || event.goalId === filter.goalId) &&
        (filter.nodeId === undefined || event.nodeId === filter.nodeId) &&
        (filter.assignmentId === undefined || event.assignmentId === filter.assignmentId) &&
        (filter.agent === undefined || event.agent === filter.agent) &&
        (filter.type === undefined || event.type === filter.type || event.type.startsWith(below));
      const log = eventsAfter(tables, filter.after ?? 0);
      const found: EventOf[] = [];
      for (let at = 0; at < log.length && found.length < filter.limit; at += 1) {
        const event = log[filter.newest ? log.length - 1 - at : at];
        if (event && matches(event)) found.push(event);
      }
      return filter.newest ? found.reverse() : found;
    },
  };
}

/** The log of the memory store begins at 1 and has no gaps, so the place of an event follows from its number. */
export function eventsAfter({ events }: MemoryTables, seq: number): readonly EventOf[] {
  return seq <= 0 ? events : events.slice(seq);
}

/** Is it in the log already what became of that request of the attempt: a report that was taken, or refused? */
export function isRequestKnown(attempt: number, request: string): Query<boolean> {
  return {
    // By its agent, as below.
    sql: `select 1 from events where agent = (select agent from attempts where attempt = ?1)
          and attempt = ?1 and type in ('update.taken', 'update.refused') and instr(data, ?2) > 0 limit 1`,
    args: [attempt, JSON.stringify({ request }).slice(1, -1)],
    read: (rows) => rows.length > 0,
    memory: (tables) =>
      tables.events.some(
        (event) =>
          event.attempt === attempt &&
          (event.type === "update.taken" || event.type === "update.refused") &&
          event.data.request === request,
      ),
  };
}

/** Is it in the log already that somebody spoke for this attempt who may not, for that reason? */
export function wasFencedBefore(attempt: number, because: string): Query<boolean> {
  return {
    // By its agent, because the log has no index by attempt.
    sql: `select 1 from events where agent = (select agent from attempts where attempt = ?1)
          and attempt = ?1 and type = 'agent.fenced' and because = ?2 limit 1`,
    args: [attempt, because],
    read: (rows) => rows.length > 0,
    memory: (tables) =>
      tables.events.some(
        (event) => event.type === "agent.fenced" && event.attempt === attempt && event.because === because,
      ),
  };
}

/** How many events there are, and the place of the last. */
export function logSize(): Query<{ readonly events: number; readonly last: number }> {
  return {
    sql: "select count(*) as events, coalesce(max(seq), 0) as last from events",
    args: [],
    read: (rows) => ({ events: Number(rows[0]?.events ?? 0), last: Number(rows[0]?.last ?? 0) }),
    memory: (tables) => ({ events: tables.events.length, last: tables.events.at(-1)?.seq ?? 0 }),
  };
}

function inLogOrder(events: EventOf[]): EventOf[] {
  return events.sort((a, b) => a.seq - b.seq);
}

/** The columns of an event, in the order in which they are written and summed. */
export const LOG_COLUMNS = [
  "seq",
  "at",
  "type",
  "v",
  "actor",
  "goal_id",
  "node_id",
  "assignment_id",
  "agent",
  "attempt",
  "because",
  "data",
] as const;

/** A row of the log as an event in its present version. One shape for all, because a rebuild makes a million of them. */
export function eventOfRow(row: Row): EventOf {
  const { goal_id, node_id, assignment_id, agent, attempt } = row;
  return upcast({
    seq: row.seq,
    at: row.at,
    v: row.v,
    type: row.type,
    actor: row.actor,
    because: row.because,
    data: JSON.parse(row.data as string),
    goalId: goal_id ?? undefined,
    nodeId: node_id ?? undefined,
    assignmentId: assignment_id ?? undefined,
    agent: agent ?? undefined,
    attempt: attempt ?? undefined,
  } as EventOf);
}

/** How many events of these types there are, by why they came about. */
export function countByReason(type: string): Query<Readonly<Record<string, number>>> {
  return {
    sql: "select because, count(*) as number from events where type = ?1 group by because",
    args: [type],
    read: (rows) => Object.fromEntries(rows.map(({ because, number }) => [String(because), Number(number)])),
    memory: ({ events }) => {
      const counts: Record<string, number> = {};
      for (const event of events) if (event.type === type) counts[event.because] = (counts[event.because] ?? 0) + 1;
      return counts;
    },
  };
}

/** How often each of these types stands in the log; those that do not are left out. */
export function countEvents(types: readonly EventOf["type"][]): Query<ReadonlyMap<string, number>> {
  const wanted = new Set<string>(types);
  return {
    sql: `select type, count(*) as n from events where type in (${types.map((_, at) => `?${at + 1}`).join(", ")}) group by type`,
    args: types,
    read: (rows) => new Map(rows.map(({ type, n }) => [String(type), Number(n)])),
    memory: ({ events }) => {
      const counts = new Map<string, number>();
      for (const { type } of events) if (wanted.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
      return counts;
    },
  };
}

/** How many agents people have stopped themselves; those that were put aside to continue later are not among them. */
export function countStopsByPeople(): Query<number> {
  return {
    sql: `select data from events where type = 'agent.stop_requested' and because = 'asked-for'
      and actor like 'human:%'`,
    args: [],
    read: (rows) =>
      rows.filter(({ data }) => (JSON.parse(String(data)) as { resume?: boolean }).resume === undefined).length,
    memory: ({ events }) =>
      events.filter(
        (one) =>
          one.type === "agent.stop_requested" &&
          one.because === "asked-for" &&
          one.actor.startsWith("human:") &&
          one.data.resume === undefined,
      ).length,
  };
}

/** What the log says past that place, of these types only; the oldest first. */
export function eventsOfTypesAfter(types: readonly EventOf["type"][], cursor: number, limit: number): Query<EventOf[]> {
  const wanted: ReadonlySet<string> = new Set(types);
  const names = types.map((type) => `'${type}'`).join(", ");
  return {
    sql: `select ${LOG_COLUMNS.join(", ")} from events where seq > ?1 and type in (${names}) order by seq limit ?2`,
    args: [cursor, limit],
    read: (rows) => rows.map(eventOfRow),
    memory: (tables) =>
      eventsAfter(tables, cursor)
        .filter(({ type }) => wanted.has(type))
        .slice(0, limit),
  };
}

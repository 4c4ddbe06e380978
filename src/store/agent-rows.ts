/**
 * The agents that are at work, a few fields of each, for `status`: it runs again and again, so nothing is parsed that is
 * not shown. Whoever needs the whole of an attempt asks attempts.ts.
 */
import type { AttemptStatus, ProcessMark } from "#domain/model/attempt.ts";
import type { Query, Row } from "./query.ts";

export interface AgentRow {
  readonly agent: string;
  readonly attempt: number;
  readonly goalId: string;
  readonly workNodeId: string;
  readonly status: AttemptStatus;
  readonly capability: string;
  readonly runtime: string;
  readonly parent: string | null;
  readonly depth: number;
  /** Who has to be alive for it to be: its runner, or before that the process that starts it. */
  readonly owner: ProcessMark;
  /** Within a turn, or waiting for the next. */
  readonly inTurn: boolean;
  readonly turns: number;
  /** What it waits for: names, or "a message"; null when it waits for nothing. */
  readonly waitingOn: string | null;
  /** When something was last heard of it. */
  readonly lastAt: number;
}

const ANYBODY = "a message";

const SQL = `
select a.agent, a.attempt, a.goal_id, a.node_id, a.status,
  a.doc ->> '$.capability' as capability, a.doc ->> '$.runtime' as runtime, a.doc ->> '$.parent.agent' as parent,
  a.doc ->> '$.depth' as depth, a.doc -> '$.waiting.on' as waiting_on, a.doc ->> '$.updatedAt' as updated,
  coalesce(a.doc ->> '$.runner.pid', a.doc ->> '$.slinger.pid') as pid,
  coalesce(a.doc ->> '$.runner.start', a.doc ->> '$.slinger.start') as start,
  p.doc ->> '$.inTurn' as in_turn, p.doc ->> '$.turns' as turns, p.doc ->> '$.lastAt' as last
from attempts a left join pulses p on p.attempt = a.attempt
where a.status <> 'ended' order by a.attempt`;

export function agentsAtWork(): Query<AgentRow[]> {
  return {
    sql: SQL,
    args: [],
    read: (rows) => rows.map(agentRow),
    memory: (tables) =>
      [...tables.entities.attempt.values()]
        .filter((one) => one.status !== "ended")
        .sort((a, b) => a.attempt - b.attempt)
        .map(
          ({
            agent,
            attempt,
            goalId,
            workNodeId,
            status,
            capability,
            runtime,
            parent,
            depth,
            runner,
            slinger,
            waiting,
            updatedAt,
          }) => ({
            ...{ agent, attempt, goalId, workNodeId, status, capability, runtime, depth },
            parent: parent?.agent ?? null,
            owner: runner ?? slinger,
            inTurn: false,
            turns: 0,
            waitingOn: waiting && (waiting.on.join(", ") || ANYBODY),
            lastAt: updatedAt,
          }),
        ),
  };
}

function agentRow(row: Row): AgentRow {
  return {
    agent: String(row.agent),
    attempt: Number(row.attempt),
    goalId: String(row.goal_id),
    workNodeId: String(row.node_id),
    status: row.status as AttemptStatus,
    capability: String(row.capability),
    runtime: String(row.runtime),
    parent: row.parent === null ? null : String(row.parent),
    depth: Number(row.depth),
    owner: { pid: Number(row.pid), start: String(row.start) },
    inTurn: row.in_turn === 1,
    turns: Number(row.turns ?? 0),
    waitingOn: row.waiting_on === null ? null : (JSON.parse(String(row.waiting_on)) as string[]).join(", ") || ANYBODY,
    lastAt: Number(row.last ?? row.updated),
  };
}

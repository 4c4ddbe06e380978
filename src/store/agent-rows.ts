/** The agents that are at work, a few fields of each, for `status`. Whoever needs the whole of an attempt asks attempts.ts. */
import type { Attempt, AttemptStatus, ProcessMark } from "#domain/model/attempt.ts";
import type { Exemptions } from "#domain/model/supervision.ts";
import type { Query } from "./query.ts";
import { attemptsIn } from "./query.ts";

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
  /** Why it is paused; null while it is not. */
  readonly pausedBecause: string | null;
  /** What of its supervision is switched off; null where nothing is. */
  readonly exempt: Exemptions | null;
  /** When something was last heard of it. */
  readonly lastAt: number;
  /** Since when it is within its turn; null where it never had one. */
  readonly turnAt: number | null;
  /** So far, in this life. */
  readonly costUsd: number;
  readonly contextTokens: number;
  /** Null where its CLI has not said how much fits. */
  readonly contextWindow: number | null;
}

const ANYBODY = "a message";

/** Of its pulse only the columns: the document is long, and `status` runs again and again. */
export function agentsAtWork(): Query<AgentRow[]> {
  return {
    sql: `select a.doc, p.in_turn, p.turns, p.updated_at as last, p.cost, p.context_tokens, p.context_window, p.turn_since
      from attempts a left join pulses p on p.attempt = a.attempt where a.status <> 'ended' order by a.attempt`,
    args: [],
    read: (rows) =>
      rows.map(({ doc, in_turn, turns, last, cost, context_tokens, context_window, turn_since }) =>
        agentRow(JSON.parse(String(doc)), {
          ...{ inTurn: in_turn === 1, turns: Number(turns ?? 0), lastAt: Number(last) },
          ...{ costUsd: Number(cost ?? 0), contextTokens: Number(context_tokens ?? 0) },
          ...{ contextWindow: numberOrNull(context_window), turnAt: numberOrNull(turn_since) },
        }),
      ),
    memory: (tables) =>
      attemptsIn(tables, (one) => one.status !== "ended").map((one) => {
        const pulse = tables.pulses.get(one.attempt);
        const { inTurn = false, turns = 0, lastAt = null, contextTokens = 0, contextWindow = null } = pulse ?? {};
        const { turnSince: turnAt = null, usage } = pulse ?? {};
        const costUsd = usage?.costUsd ?? 0;
        return agentRow(one, { inTurn, turns, lastAt, contextTokens, contextWindow, turnAt, costUsd });
      }),
  };
}

const numberOrNull = (value: unknown) => (value === null || value === undefined ? null : Number(value));

/** Whom it waits for, in words; null when it waits for nobody. */
export function nameAwaited(waiting: Attempt["waiting"]): string | null {
  return waiting && (waiting.on.join(", ") || ANYBODY);
}

type SeenInPulse = Pick<AgentRow, "inTurn" | "turns" | "turnAt" | "costUsd" | "contextTokens" | "contextWindow">;

function agentRow(attempt: Attempt, { lastAt, ...pulse }: SeenInPulse & { readonly lastAt: number | null }): AgentRow {
  const { agent, goalId, workNodeId, status, capability, runtime, parent, depth, waiting, pausedBecause } = attempt;
  return {
    ...{ agent, attempt: attempt.attempt, goalId, workNodeId, status, capability, runtime, depth },
    ...pulse,
    parent: parent?.agent ?? null,
    pausedBecause: status === "paused" ? pausedBecause : null,
    exempt: attempt.exempt ?? null,
    owner: attempt.runner ?? attempt.slinger,
    waitingOn: nameAwaited(waiting),
    lastAt: lastAt || attempt.updatedAt,
  };
}

/**
 * How an assignment is doing, by name (OBS-1): whether it is stalled and why, what became of the last instruction,
 * which backoff is active, and what shows that the agent makes progress. Gathered from what others recorded; it judges nothing
 * itself.
 */

import { evidenceLines } from "#domain/briefing/handoff.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import type { Assignment, DispatchMode, DispatchResult } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Pulse } from "#domain/signals/pulse.ts";

export interface Observed {
  readonly assignmentId: string;
  readonly agent: string;
  readonly attempt: number | null;
  readonly stalled: boolean;
  /** Why it is stalled or blocked. */
  readonly why: string | null;
  readonly lastDispatch: {
    readonly dispatchId: string;
    readonly mode: DispatchMode;
    readonly at: number;
    readonly result: DispatchResult | null;
    /** Null while nobody knows. */
    readonly accepted: boolean | null;
  } | null;
  /** Set while nothing is tried because of it. */
  readonly backoffUntil: number | null;
  readonly retryCount: number;
  readonly expectedNextUpdateAt: number | null;
  readonly progress: {
    readonly lastActivityAt: number | null;
    readonly lastProgressAt: number | null;
    readonly lastReportAt: number | null;
    readonly turns: number;
    readonly toolCalls: number;
    readonly evidence: readonly string[];
  };
}

export interface ObservedFrom {
  readonly assignment: Assignment;
  readonly attempt?: Attempt | undefined;
  readonly pulse?: Pulse | undefined;
  readonly left?: Crystallization | undefined;
}

export function toObserved({ assignment, attempt, pulse, left }: ObservedFrom, now: number): Observed {
  const last = assignment.dispatches.at(-1);
  const isWaiting = assignment.status === "stalled" || assignment.status === "blocked";
  return {
    assignmentId: assignment.assignmentId,
    agent: assignment.target.agentId,
    attempt: attempt?.attempt ?? null,
    stalled: assignment.status === "stalled",
    why: isWaiting ? assignment.statusReason : null,
    lastDispatch: last
      ? {
          dispatchId: last.dispatchId,
          mode: last.mode,
          at: last.at,
          result: last.result,
          accepted: last.result === null ? null : last.result === "accepted" || last.result === "ok",
        }
      : null,
    backoffUntil: assignment.backoffUntil !== null && assignment.backoffUntil > now ? assignment.backoffUntil : null,
    retryCount: assignment.retryCount,
    expectedNextUpdateAt: assignment.expectedNextUpdateAt,
    progress: {
      lastActivityAt: pulse?.lastAt ?? assignment.lastObservedActivityAt,
      lastProgressAt: pulse?.lastProgressAt ?? null,
      lastReportAt: left?.createdAt ?? null,
      turns: pulse?.turns ?? 0,
      toolCalls: pulse?.usage.toolCalls ?? 0,
      evidence: left ? evidenceLines(left.evidence) : [],
    },
  };
}

const EVIDENCE_SHOWN = 5;

/** The same as sentences; what became of the last instruction is told by `why` already. */
export function describeObserved(observed: Observed, attempt: Attempt | undefined): string[] {
  const { progress, backoffUntil, retryCount } = observed;
  const worker = attempt ? attemptLabel(attempt) : observed.agent;
  const times = [
    describeTime("was last heard of", progress.lastActivityAt),
    describeTime("last completed something", progress.lastProgressAt),
    describeTime("last reported", progress.lastReportAt),
  ].filter((part) => part !== "");
  const shown = progress.evidence.slice(0, EVIDENCE_SHOWN);
  return [
    observed.stalled ? `It is stalled: ${observed.why ?? "no reason was kept"}.` : "It is not stalled.",
    backoffUntil === null
      ? `No backoff is active${retryCount > 0 ? `; recovery was tried ${count(retryCount, "time")}` : ""}.`
      : `A backoff is active until ${isoTime(backoffUntil)}; recovery was tried ${count(retryCount, "time")}.`,
    times.length === 0 ? `Nothing was heard of ${worker} yet.` : `${worker} ${times.join(", ")}.`,
    `It has made ${count(progress.turns, "turn")} and ${count(progress.toolCalls, "tool call")}.`,
    ...(shown.length > 0 ? [`Evidence: ${shown.join("; ")}.`] : []),
  ];
}

function describeTime(what: string, at: number | null): string {
  return at === null ? "" : `${what} at ${isoTime(at)}`;
}

function count(number: number, one: string): string {
  return `${number} ${one}${number === 1 ? "" : "s"}`;
}

/**
 * What has begun and not ended, as far as spans are concerned: kept beside the cursor, so that an exporter that was
 * restarted continues where it was. Everything in it is bounded: what is oldest goes, and its end then makes no span.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { SpanEvent } from "./span.ts";

/** Whose attempt it is; what its signals do not say themselves. */
export interface TracedAttempt {
  readonly goalId: string;
  readonly nodeId: string;
  readonly attempt: number;
  readonly agent: string;
  readonly role: string;
  readonly runtime: string;
  readonly model: string | null;
  readonly startAt: number;
}

export interface TokenCount {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What an agent is in the middle of. */
export interface Talk {
  readonly session: string | null;
  readonly model: string | null;
  readonly turn: { readonly id: string; readonly startAt: number; readonly tokens: TokenCount } | null;
  /** The model's answer that is being counted; it ends with the next one, or with the turn. */
  readonly chat: {
    readonly id: string;
    readonly startAt: number;
    readonly endAt: number;
    readonly tokens: TokenCount;
  } | null;
  readonly calls: Readonly<Record<string, { readonly tool: string; readonly startAt: number }>>;
  /** When the model last got something to answer to. */
  readonly askedAt: number | null;
}

export const SILENT: Talk = { session: null, model: null, turn: null, chat: null, calls: {}, askedAt: null };

export interface TraceState {
  readonly goals: Readonly<Record<string, { readonly title: string; readonly startAt: number }>>;
  readonly attempts: Readonly<Record<string, TracedAttempt>>;
  readonly checks: Readonly<Record<string, { readonly startAt: number }>>;
  readonly merges: Readonly<
    Record<string, { readonly branch: string; readonly startAt: number; readonly events: readonly SpanEvent[] }>
  >;
  readonly talks: Readonly<Record<string, Talk>>;
}

export const NOTHING_OPEN: TraceState = { goals: {}, attempts: {}, checks: {}, merges: {}, talks: {} };

/** More at once is no fleet any more, but something that never ends. */
export const MOST_OPEN = 2_000;

/** With one more in it; the oldest goes where there are too many. */
export function withOpen<T>(open: Readonly<Record<string, T>>, id: string, one: T): Readonly<Record<string, T>> {
  const { [id]: _before, ...rest } = open;
  const keys = Object.keys(rest);
  const [oldest] = keys;
  if (keys.length < MOST_OPEN || oldest === undefined) return { ...rest, [id]: one };
  return { ...withoutOpen(rest, oldest), [id]: one };
}

export function withoutOpen<T>(open: Readonly<Record<string, T>>, id: string): Readonly<Record<string, T>> {
  const { [id]: _gone, ...rest } = open;
  return rest;
}

export function toTracedAttempt(attempt: Attempt): TracedAttempt {
  const { goalId, workNodeId, agent, role, runtime, model } = attempt;
  return {
    goalId,
    nodeId: workNodeId,
    attempt: attempt.attempt,
    agent,
    role,
    runtime,
    model,
    startAt: attempt.createdAt,
  };
}

/** What is open where nothing was followed before: the spans of that have a beginning, too. */
export function openAt(goals: readonly Goal[], living: readonly Attempt[]): TraceState {
  return {
    ...NOTHING_OPEN,
    goals: Object.fromEntries(goals.map(({ goalId, title, createdAt }) => [goalId, { title, startAt: createdAt }])),
    attempts: Object.fromEntries(living.map((attempt) => [String(attempt.attempt), toTracedAttempt(attempt)])),
  };
}

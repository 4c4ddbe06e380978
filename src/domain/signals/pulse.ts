/**
 * The pulse: one small row per attempt that says how the agent is doing, folded from its signals one at a time. Hooks
 * and watchers decide from it in constant time; nothing here grows without bound.
 */
import type { Usage } from "#domain/model/attempt.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { ProviderCause } from "#domain/model/provider-cause.ts";
import { PROVIDER_CAUSES } from "#domain/model/provider-cause.ts";
import type { Course } from "./reflex-course.ts";
import { follow, NEW_COURSE } from "./reflex-course.ts";
import type { Signal } from "./signal.ts";
import { CANCELLED } from "./signal.ts";

export interface ToolCall {
  readonly tool: string;
  readonly argsHash: string;
  readonly ok: boolean | null;
  readonly errorClass: string | null;
  readonly ms: number | null;
  readonly id: string;
  /** What came of it, as a short hash; older ones do not say. */
  readonly result?: string;
  /** It waits for a job that runs. */
  readonly waits?: boolean;
}

export interface ProviderFailure {
  readonly cause: ProviderCause;
  readonly detail: string;
  readonly at: number;
}

export interface Retrying {
  /** Null where a retry does not say whose fault it is. */
  readonly cause: ProviderCause | "quota" | null;
  readonly detail: string;
  /** When it had to try again for the first time. */
  readonly since: number;
  /** How many times it has tried, as it counts them. */
  readonly attempt: number;
  /** When it will have tried the next time. */
  readonly nextAt: number;
}

const SHORT = 6;

/** How many calls are remembered. */
export const RECENT_CALLS = 20;

export interface Pulse {
  readonly attempt: number;
  readonly agent: string;
  /** Counts every signal: whoever sees it move knows that the agent lives. */
  readonly beats: number;
  /** Within a turn, or waiting for the next. */
  readonly inTurn: boolean;
  readonly turns: number;
  readonly calls: readonly ToolCall[];
  readonly failures: number;
  readonly usage: Usage;
  readonly contextTokens: number;
  readonly contextWindow: number | null;
  /** So many tokens its CLI leaves free before it replaces the context by a summary, as far as that is known. */
  readonly compactReserve?: number;
  /** The last reading of the CLI's own meter, which begins again with each of its processes. */
  readonly meterUsd?: number;
  readonly model: string | null;
  /** What it last said; as long as its signal was let be. */
  readonly lastText: string;
  readonly lastKind: string;
  readonly noise: number;
  readonly quotaUntil: number | null;
  /** When a turn was given up because a quota was used up; null again once a turn works. */
  readonly quotaAt: number | null;
  /** The turn that was given up last because the provider failed; null once the model has answered again. */
  readonly providerFailure?: ProviderFailure | null;
  /** Its CLI tries again and again by itself; null once the model has answered, or the turn has ended. */
  readonly retrying?: Retrying | null;
  /** When the model last answered it. */
  readonly answeredAt?: number | null;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  /** When it last did something itself; being handed our words, or a process that comes and goes, is no doing. */
  readonly lastActAt: number | null;
  /** How often the agent itself did something: it continues when the wall clock is set back. Missing in older ones. */
  readonly acts?: number;
  /** When its last turn began. */
  readonly turnSince: number | null;
  /** When it last changed a file, as far as its tools show it. */
  readonly lastChangeAt: number | null;
  /** When something was completed: a tool that worked, a turn that ended well. */
  readonly lastProgressAt: number | null;
  /** When it last committed on its branch. */
  readonly lastCommitAt?: number;
  /** When it last read something that it had not seen before, or told somebody something new. */
  readonly lastFoundAt?: number;
  /** What the reflex judges by; a pulse written before there was one begins again. */
  readonly course?: Course;
}

export function newPulse(attempt: number, agent: string): Pulse {
  return {
    attempt,
    agent,
    beats: 0,
    inTurn: false,
    turns: 0,
    calls: [],
    failures: 0,
    usage: NO_USAGE,
    contextTokens: 0,
    contextWindow: null,
    model: null,
    lastText: "",
    lastKind: "",
    noise: 0,
    quotaUntil: null,
    quotaAt: null,
    firstAt: null,
    lastAt: null,
    lastActAt: null,
    turnSince: null,
    lastChangeAt: null,
    lastProgressAt: null,
    course: NEW_COURSE,
  };
}

/** Signals that only a working agent makes. A CLI that tries again what did not work is not among them. */
const ACTS: readonly Signal["kind"][] = [
  "said",
  "usage",
  "tool.started",
  "tool.ended",
  "turn.ended",
  "sub.started",
  "sub.ended",
  "compacted",
  "compaction.started",
  "compaction.ended",
  "api.failed",
  "permission.asked",
];

/** The pulse after one more signal. */
export function beat(pulse: Pulse, signal: Signal): Pulse {
  const acted = ACTS.includes(signal.kind);
  const base: Pulse = {
    ...pulse,
    beats: pulse.beats + 1,
    firstAt: pulse.firstAt ?? signal.at,
    lastAt: Math.max(pulse.lastAt ?? 0, signal.at),
    lastActAt: acted ? Math.max(pulse.lastActAt ?? 0, signal.at) : (pulse.lastActAt ?? null),
    acts: (pulse.acts ?? 0) + (acted ? 1 : 0),
    lastKind: signal.kind,
    course: follow(pulse.course ?? NEW_COURSE, signal),
  };
  switch (signal.kind) {
    case "session.started":
      return {
        ...base,
        model: signal.data.model ?? pulse.model,
        ...(signal.data.compactReserve === undefined ? {} : { compactReserve: signal.data.compactReserve }),
      };
    case "turn.started":
      return { ...base, inTurn: true, turnSince: signal.at, retrying: null };
    case "turn.ended":
      return {
        ...(signal.data.ok ? noteAnswer(base, signal.at) : base),
        inTurn: false,
        retrying: null,
        turns: pulse.turns + 1,
        failures: signal.data.ok ? 0 : pulse.failures + 1,
        lastText: signal.data.text || pulse.lastText,
        lastProgressAt: signal.data.ok ? signal.at : pulse.lastProgressAt,
        usage: {
          ...pulse.usage,
          turns: pulse.usage.turns + 1,
          costUsd: pulse.usage.costUsd + (signal.data.costUsd ?? 0),
        },
        // A turn that worked proves that the quota is back, whatever was said about its reset.
        quotaUntil: signal.data.ok ? null : pulse.quotaUntil,
        quotaAt: signal.data.ok ? null : pulse.quotaAt,
      };
    case "tool.started":
      return {
        ...noteAnswer(base, signal.at),
        inTurn: true,
        calls: [...pulse.calls, newCall(signal, base.course)].slice(-RECENT_CALLS),
        usage: { ...pulse.usage, toolCalls: pulse.usage.toolCalls + 1 },
      };
    case "tool.ended":
      return {
        ...base,
        calls: withEnded(pulse.calls, signal, hasWaited(base.course, signal.source)),
        failures: signal.data.ok ? 0 : pulse.failures + (signal.data.errorClass === CANCELLED ? 0 : 1),
        lastProgressAt: signal.data.ok ? signal.at : pulse.lastProgressAt,
        lastChangeAt: signal.data.ok && signal.data.does === "edit" ? signal.at : (pulse.lastChangeAt ?? null),
        ...(signal.data.ok && hasFound(pulse.course, base.course, signal.source) ? { lastFoundAt: signal.at } : {}),
      };
    case "committed": {
      // An agent that hung after its commit has not moved on because we interrupted its turn and looked.
      const madeAt = Math.min(signal.at, signal.data.madeAt ?? signal.at);
      return { ...base, lastProgressAt: Math.max(pulse.lastProgressAt ?? 0, madeAt), lastCommitAt: madeAt };
    }
    case "said":
      return { ...noteAnswer(base, signal.at), inTurn: true, lastText: signal.data.text };
    case "usage":
      return {
        ...base,
        contextTokens: signal.data.contextTokens,
        contextWindow: signal.data.contextWindow ?? pulse.contextWindow,
        usage: {
          ...pulse.usage,
          inputTokens: pulse.usage.inputTokens + signal.data.inputTokens,
          outputTokens: pulse.usage.outputTokens + signal.data.outputTokens,
          cacheReadTokens: pulse.usage.cacheReadTokens + signal.data.cacheReadTokens,
          cacheWriteTokens: pulse.usage.cacheWriteTokens + signal.data.cacheWriteTokens,
        },
      };
    case "meter": {
      const { costUsd, contextWindow } = signal.data;
      const before = pulse.meterUsd ?? signal.data.before ?? 0;
      const spent = costUsd >= before ? costUsd - before : costUsd;
      return {
        ...base,
        meterUsd: costUsd,
        contextWindow: contextWindow ?? pulse.contextWindow,
        usage: { ...pulse.usage, costUsd: pulse.usage.costUsd + spent },
      };
    }
    case "compacted":
      return {
        ...base,
        contextTokens: signal.data.afterTokens ?? pulse.contextTokens,
        compactReserve: reserveAfter(pulse, signal.data),
      };
    case "api.retry": {
      const { attempt, cause, delayMs } = signal.data;
      const since = pulse.retrying?.since ?? signal.at;
      const detail = cause === "unknown" ? "" : cause;
      const retrying = { cause: causeOfRetry(cause), detail, since, attempt, nextAt: signal.at + delayMs };
      return { ...base, inTurn: true, retrying };
    }
    case "api.failed": {
      const { cause, detail, resetsAt } = signal.data;
      if (cause === "quota") {
        // Told twice, it is told once with the time of its reset.
        const known = pulse.quotaUntil !== null && pulse.quotaUntil > signal.at ? pulse.quotaUntil : null;
        return { ...base, quotaUntil: resetsAt ?? known, quotaAt: signal.at };
      }
      return isProviderCause(cause) ? { ...base, providerFailure: { cause, detail, at: signal.at } } : base;
    }
    case "process.exited":
      return { ...base, inTurn: false };
    case "noise":
      return { ...base, noise: pulse.noise + 1 };
    default:
      return base;
  }
}

/** What was seen counts more than what is known of a version, unless a person asked for it. */
function reserveAfter(pulse: Pulse, { trigger, beforeTokens }: Signal<"compacted">["data"]): number | undefined {
  const window = pulse.contextWindow ?? 0;
  // Less than half of it: then the window is another than was thought.
  const isPlausible = trigger === "auto" && beforeTokens > window / 2 && beforeTokens < window;
  return isPlausible ? window - beforeTokens : pulse.compactReserve;
}

/** The model has answered: whatever its provider failed in is past. */
function noteAnswer(pulse: Pulse, at: number): Pulse {
  return { ...pulse, providerFailure: null, retrying: null, answeredAt: at };
}

function isProviderCause(cause: string): cause is ProviderCause {
  return PROVIDER_CAUSES.some((one) => one === cause);
}

/** CLIs name what they try again for in words of their own. */
function causeOfRetry(cause: string): Retrying["cause"] {
  if (/rate.?limit|usage.?limit/i.test(cause)) return "quota";
  if (/auth|api.?key|oauth/i.test(cause)) return "auth";
  if (/billing|credit/i.test(cause)) return "billing";
  if (/overload|server.?error/i.test(cause)) return "overloaded";
  return /invalid.?request|too.?long/i.test(cause) ? null : "network";
}

/** What kind of call it is the course has found out already. */
function newCall(signal: Signal<"tool.started">, course: Course | undefined): ToolCall {
  const { tool, argsHash } = signal.data;
  const known = course?.calls.at(-1);
  const call = { tool, argsHash, ok: null, errorClass: null, ms: null, id: signal.source };
  return known?.id === signal.source && known.kind === "wait" ? { ...call, waits: true } : call;
}

/** A loop, because hooks fold a single signal, and the first `map` of a process costs as much as the rest of it. */
function withEnded(calls: readonly ToolCall[], signal: Signal<"tool.ended">, waits: boolean): readonly ToolCall[] {
  const now: ToolCall[] = [];
  for (const call of calls) now.push(call.id === signal.source ? endCall(call, signal, waits) : call);
  return now;
}

function endCall(call: ToolCall, { data }: Signal<"tool.ended">, waits: boolean): ToolCall {
  const { ok, errorClass, ms, resultHash } = data;
  const result = resultHash?.slice(0, SHORT);
  const ended = { ...call, ok, errorClass, ms };
  if (result === undefined) return waits ? { ...ended, waits } : ended;
  return waits ? { ...ended, result, waits } : { ...ended, result };
}

/** The call was a look or a word that there had not been before. */
function hasFound(before: Course | undefined, after: Course | undefined, id: string): boolean {
  if (!after || after.looked.at(-1) === before?.looked.at(-1)) return false;
  for (const call of after.calls) if (call.id === id) return call.kind === "read" || call.kind === "report";
  return false;
}

/** The course does not keep a call that only waited. */
function hasWaited(course: Course | undefined, id: string): boolean {
  if (!course?.polled || course.polled.step !== course.steps) return false;
  for (const call of course.calls) if (call.id === id) return false;
  return true;
}

/**
 * What an agent does, in one language. A runtime adapter turns hook payloads and stream lines into these; everything
 * above knows only them. Each has a source id and a phase that make it unique within its attempt, so the same fact
 * told twice (replayed, spooled, re-read) is counted once. What Overseer itself writes is never a signal.
 */
import type { FailureSketch } from "#domain/core/similarity.ts";
import type { ToolUse } from "#domain/core/tools.ts";
import type { Usage } from "#domain/model/attempt.ts";
import type { ProviderCause } from "#domain/model/provider-cause.ts";

export interface SignalData {
  "session.started": {
    readonly session: string;
    readonly model: string | null;
    readonly version: string | null;
    /** So many tokens its CLI leaves free in a window of the usual size: it replaces its context by a summary before. */
    readonly compactReserve?: number;
  };
  "turn.started": { readonly by: string };
  "turn.ended": {
    readonly ok: boolean;
    /** completed, aborted, api_error, max_turns … as the runtime says it. */
    readonly reason: string;
    readonly text: string;
    /** What this turn cost, where the runtime says so. */
    readonly costUsd: number | null;
  };
  "tool.started": {
    readonly tool: string;
    /** What the tool is for, as its runtime knows it; older records do not say. */
    readonly does?: ToolUse;
    readonly argsHash: string;
    readonly args: string;
    readonly sub: string | null;
    /** A sketch of all the arguments, of which `args` may be only the beginning (similarity.ts). */
    readonly shape?: string;
    /** The message of the model this call belongs to, where the runtime names it: one message is one step. */
    readonly step?: string;
  };
  "tool.ended": {
    readonly tool: string;
    readonly does?: ToolUse;
    readonly ok: boolean;
    readonly errorClass: string | null;
    readonly ms: number | null;
    readonly result: string;
    /** A hash of the whole result, of which `result` may be only the beginning (similarity.ts). */
    readonly resultHash?: string;
    /** What the whole result says of a failure. */
    readonly failure?: FailureSketch;
  };
  /** A tool has written this file, as it named it. */
  "file.changed": { readonly path: string; readonly tool: string; readonly sub: string | null };
  /** A command has run git in a way that moves a branch or the checkout. */
  "git.ran": { readonly verb: string; readonly sub: string | null };
  /** The agent's branch has new commits, seen when its turn ended; the newest first, and not all of very many. */
  committed: {
    readonly from: string;
    readonly to: string;
    readonly count: number;
    readonly commits: readonly { readonly commit: string; readonly subject: string }[];
    /** When the newest was made, which may be long before the turn ended. */
    readonly madeAt?: number;
  };
  said: { readonly text: string };
  usage: Omit<Usage, "turns" | "toolCalls" | "costUsd"> & {
    readonly contextTokens: number;
    readonly contextWindow: number | null;
  };
  /** What the CLI's own meters show: the cost of this process so far, and how much its context can hold. */
  meter: {
    readonly costUsd: number;
    readonly contextWindow: number | null;
    /** What it showed at the end of an earlier attempt, where its session was taken over from one. */
    readonly before?: number;
  };
  "api.retry": { readonly attempt: number; readonly cause: string; readonly delayMs: number };
  "api.failed": {
    readonly cause: "quota" | ProviderCause | "too_long" | "unknown";
    readonly detail: string;
    readonly resetsAt: number | null;
  };
  /** The conversation was replaced by a summary; what the agent was told before is gone unless told again. */
  compacted: { readonly trigger: string; readonly beforeTokens: number; readonly afterTokens: number | null };
  "message.taken": { readonly handedAs: string };
  /** The CLI opened its session for whatever reason: startup, resume, clear, compact … */
  "session.opened": { readonly session: string; readonly source: string };
  "session.closed": { readonly reason: string };
  "compaction.started": { readonly trigger: string };
  "compaction.ended": { readonly trigger: string; readonly summary: string };
  "sub.started": { readonly sub: string; readonly type: string };
  "sub.ended": { readonly sub: string; readonly type: string; readonly text: string };
  /** The CLI asks a person whether it may. */
  "permission.asked": { readonly tool: string; readonly args: string };
  notified: { readonly type: string; readonly text: string };
  "process.exited": { readonly code: number | null; readonly signal: string | null; readonly asked: boolean };
  /** A line that is not the protocol; counted, shown, never interpreted. */
  noise: { readonly text: string };
}

/** The class of a call that was never made, because another one beside it failed: neither a call nor a failure. */
export const CANCELLED = "cancelled";

export type SignalKind = keyof SignalData;

export type Signal<K extends SignalKind = SignalKind> = {
  [T in K]: {
    readonly kind: T;
    /** Unique within the attempt together with `phase`: a message id, a tool use id, a counter of the runner's own. */
    readonly source: string;
    readonly phase: string;
    readonly at: number;
    readonly data: SignalData[T];
  };
}[K];

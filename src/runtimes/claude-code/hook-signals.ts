/**
 * What a command hook was told, as signals. The payloads are Claude Code's; other CLIs with hooks of the same shape use
 * them too. One source per fact: of a driven agent the stream tells turns, tool calls and usage, so hooks add only what
 * the stream does not say (sessions, compaction, permissions, notifications, sub-agents); of an interactive one they
 * tell turns and tool calls as well. Both the hook and whoever folds its spool later come through here, with the same
 * id, so that a fact recorded twice is one fact. Never throws: a payload that makes no sense is no signal.
 */

import { resultHash, shapeOf } from "#domain/core/similarity.ts";
import type { HookEventName } from "#domain/permit/hook-settings.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import type { ToolEffect } from "#domain/signals/tool-effects.ts";
import { toolEffects } from "#domain/signals/tool-effects.ts";
import { effectSignals } from "#runtimes/effect-signals.ts";
import { redact } from "#telemetry/redact.ts";
import { errorClass } from "./error-class.ts";

export type HookPayload = Readonly<Record<string, unknown>>;

export interface HookFact {
  readonly event: HookEventName;
  readonly payload: HookPayload;
  readonly at: number;
  /** Names this one call of the hook; used where the payload names nothing. */
  readonly id: string;
  readonly interactive: boolean;
}

export function hookSignals(fact: HookFact): readonly Signal[] {
  return fact.interactive ? [...always(fact), ...whenInteractive(fact)] : always(fact);
}

function always({ event, payload, at, id }: HookFact): Signal[] {
  const trigger = word(payload.trigger);
  const sub = word(payload.agent_id);
  const type = word(payload.agent_type);
  switch (event) {
    case "SessionStart": {
      const session = word(payload.session_id);
      return [signal("session.opened", id, at, { session, source: word(payload.source) })];
    }
    case "SessionEnd":
      return [signal("session.closed", id, at, { reason: word(payload.reason) })];
    case "PreCompact":
      return [signal("compaction.started", id, at, { trigger })];
    case "PostCompact":
      return [signal("compaction.ended", id, at, { trigger, summary: brief(payload.compact_summary, 2000) })];
    case "SubagentStart":
      return [signal("sub.started", sub || id, at, { sub, type })];
    case "SubagentStop":
      return [signal("sub.ended", sub || id, at, { sub, type, text: brief(payload.last_assistant_message, 1000) })];
    case "PermissionRequest":
      return [
        signal("permission.asked", id, at, { tool: word(payload.tool_name), args: brief(payload.tool_input, 1000) }),
      ];
    case "Notification":
      return [signal("notified", id, at, { type: word(payload.notification_type), text: brief(payload.message, 500) })];
    default:
      return [];
  }
}

/** The calls of a step as its end tells them: begun together, and each with what came of it. */
export function batchSignals(payload: HookPayload, at: number): readonly Signal[] {
  const calls = Array.isArray(payload.tool_calls) ? (payload.tool_calls as readonly HookPayload[]) : [];
  const facts = calls.map((call): HookFact => {
    const failure = failureIn(call.tool_response);
    const outcome = failure === undefined ? {} : { error: failure };
    const event = failure === undefined ? "PostToolUse" : "PostToolUseFailure";
    return { event, payload: { ...call, ...outcome }, at, id: word(call.tool_use_id), interactive: true };
  });
  const begun = facts.flatMap((fact) => whenInteractive({ ...fact, event: "PreToolUse" }));
  return [...begun, ...facts.flatMap(whenInteractive)];
}

/** A batch does not say which calls failed; what the model reads of them does. */
function failureIn(response: unknown): string | undefined {
  const text = typeof response === "string" ? response : Array.isArray(response) ? JSON.stringify(response) : "";
  const failed =
    /^\s*(?:Error: |Exit code [1-9]|<tool_use_error>|[A-Z]\w*Error\b|InputValidationError|\w+:\w+ hook error)/.test(
      text,
    );
  return failed ? text : undefined;
}

function whenInteractive(fact: HookFact): Signal[] {
  const { event, payload, at, id } = fact;
  const turn = word(payload.prompt_id) || id;
  const call = word(payload.tool_use_id) || id;
  const tool = word(payload.tool_name);
  const sub = word(payload.agent_id) || null;
  switch (event) {
    case "UserPromptSubmit": {
      const by = brief(payload.prompt, 100).startsWith("<task-notification>") ? "task" : "message";
      return [signal("turn.started", turn, at, { by })];
    }
    case "PreToolUse": {
      const whole = JSON.stringify(payload.tool_input ?? {});
      const argsHash = Bun.hash(whole).toString(36);
      const args = brief(payload.tool_input ?? {}, 1000);
      return [signal("tool.started", call, at, { tool, argsHash, args, sub, shape: shapeOf(whole) }, "start")];
    }
    case "PostToolUse":
      return [
        toToolEnded(fact, call, tool, null, payload.tool_response),
        ...effects(payload.tool_input, { id: call, tool, sub, at }),
      ];
    case "PostToolUseFailure": {
      const failed = payload.is_interrupt === true ? "interrupted" : errorClass(brief(payload.error, 1000));
      return [toToolEnded(fact, call, tool, failed, payload.error)];
    }
    case "Stop": {
      // It waits for agents of its own and is woken by them: that is work, and another Stop comes.
      if (hasBackgroundAgents(payload)) return [];
      const text = brief(payload.last_assistant_message, 2000);
      return [signal("turn.ended", turn, at, { ok: true, reason: "completed", text, costUsd: null })];
    }
    case "StopFailure": {
      const text = brief(payload.last_assistant_message, 500);
      const cause = causeOf(word(payload.error), `${text} ${brief(payload.error_details, 500)}`);
      return [
        signal("api.failed", turn, at, { cause, detail: text, resetsAt: null }),
        signal("turn.ended", turn, at, { ok: false, reason: "api_error", text, costUsd: null }),
      ];
    }
    default:
      return [];
  }
}

function effects(input: unknown, call: Parameters<typeof effectSignals>[1]): Signal[] {
  if (typeof input !== "object" || input === null) return [];
  return effectSignals(toolEffects(call.tool, input as HookPayload, gitIn), call);
}

/** Reading a command line as a shell does is loaded only for those that speak of git. */
function gitIn(command: string): readonly ToolEffect[] {
  const { gitEffects } = require("#domain/signals/git-effects.ts") as typeof import("#domain/signals/git-effects.ts");
  return gitEffects(command);
}

function hasBackgroundAgents(payload: HookPayload): boolean {
  const tasks = Array.isArray(payload.background_tasks) ? payload.background_tasks : [];
  return tasks.some((task) => task?.type === "subagent" && task?.status === "running");
}

/** What the status line is told: the only live word about cost and the size of the context on a screen. */
export function meterSignal(payload: HookPayload, at: number, before?: number): Signal | undefined {
  const cost = (payload.cost as { readonly total_cost_usd?: unknown } | undefined)?.total_cost_usd;
  const window = (payload.context_window as { readonly context_window_size?: unknown } | undefined)
    ?.context_window_size;
  if (typeof cost !== "number" || !Number.isFinite(cost) || cost < 0) return undefined;
  const contextWindow = typeof window === "number" && window > 0 ? window : null;
  // The same reading twice is one fact.
  const data = { costUsd: cost, contextWindow, ...(before === undefined ? {} : { before }) };
  return signal("meter", `meter-${word(payload.session_id)}`, at, data, `${cost}`);
}

function toToolEnded(
  { payload, at }: HookFact,
  call: string,
  tool: string,
  failed: string | null,
  value: unknown,
): Signal {
  const ms = typeof payload.duration_ms === "number" ? payload.duration_ms : null;
  const result = brief(value, 1000);
  const whole = resultHash(typeof value === "string" ? value : JSON.stringify(value ?? ""));
  const data = { tool, ok: failed === null, errorClass: failed, ms, result, resultHash: whole };
  return signal("tool.ended", call, at, data, "end");
}

/** What StopFailure calls the failure, in our words. */
function causeOf(error: string, text: string): SignalData["api.failed"]["cause"] {
  if (/prompt is too long|prompt_too_long/i.test(text)) return "too_long";
  if (error === "rate_limit") return "quota";
  if (error === "authentication_failed" || error === "oauth_org_not_allowed") return "auth";
  if (error === "billing_error") return "billing";
  if (error === "server_error" || error === "overloaded") return "overloaded";
  return "unknown";
}

function signal<K extends SignalKind>(
  kind: K,
  source: string,
  at: number,
  data: SignalData[K],
  phase: string = kind,
): Signal {
  return { kind, source, phase, at, data } as Signal;
}

/** Longer texts are cut here before they are looked through; what is kept of them is far shorter. */
const LOOKED_AT = 64 * 1024;

/** A text or value, redacted while whole and only then cut: half a secret would not be recognised. */
function brief(value: unknown, length: number): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return redact(text.slice(0, LOOKED_AT)).slice(0, length);
}

function word(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 200) : "";
}

/**
 * What a command hook was told, as signals. One source per fact: of a driven agent the stream tells turns, tool calls
 * and usage, so hooks add only what the stream does not say (sessions, compaction, permissions, notifications,
 * sub-agents); of an interactive one they tell turns and tool calls as well. Both the hook and whoever folds its spool
 * later come through here, with the same id, so that a fact recorded twice is one fact. Never throws.
 */

import { failureIn, resultHash, shapeOf } from "#domain/core/similarity.ts";
import { argumentsOf, interpretCall, useOf } from "#domain/core/tools.ts";
import type { HookMoment } from "#domain/permit/hook-moments.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import type { ToolEffect } from "#domain/signals/tool-effects.ts";
import { toolEffects } from "#domain/signals/tool-effects.ts";
import { redact } from "#telemetry/redact.ts";
import { effectSignals } from "./effect-signals.ts";
import type { HookCall, HookDialect, HookFact, HookPayload, MeterFact } from "./hook-dialect.ts";

/** One call of a hook. */
export interface HookEvent {
  readonly moment: HookMoment;
  readonly payload: HookPayload;
  readonly at: number;
  /** Names this one call of the hook; used where the payload names nothing. */
  readonly id: string;
  readonly interactive: boolean;
}

export function hookSignals(dialect: HookDialect, event: HookEvent): readonly Signal[] {
  const { moment, at, id } = event;
  const fact = dialect.read(event.payload);
  const told = sessionSignals(moment, fact, id, at);
  if (!event.interactive) return told;
  const call = { ...fact.call, id: fact.call.id || id };
  told.push(...turnSignals(dialect, moment, fact, fact.turn || id, at));
  if (moment === "PreToolUse") told.push(toToolStarted(dialect, call, fact.sub, at));
  if (moment === "PostToolUse") told.push(...toToolEnded(dialect, { ...call, failed: null }, fact.sub, at));
  if (moment === "PostToolUseFailure")
    told.push(...toToolEnded(dialect, { ...call, failed: call.failed ?? "error" }, fact.sub, at));
  return told;
}

/** The calls of a step as its end tells them: begun together, and each with what came of it. */
export function stepSignals(dialect: HookDialect, { calls, sub }: HookFact, at: number): readonly Signal[] {
  const begun = calls.map((call) => toToolStarted(dialect, call, sub, at));
  return [...begun, ...calls.flatMap((call) => toToolEnded(dialect, call, sub, at))];
}

function sessionSignals(moment: HookMoment, fact: HookFact, id: string, at: number): Signal[] {
  const { sub, subType: type, reason } = fact;
  switch (moment) {
    case "SessionStart":
      return [signal("session.opened", id, at, { session: fact.session, source: fact.source })];
    case "SessionEnd":
      return [signal("session.closed", id, at, { reason })];
    case "PreCompact":
      return [signal("compaction.started", id, at, { trigger: reason })];
    case "PostCompact":
      return [signal("compaction.ended", id, at, { trigger: reason, summary: brief(fact.text, 2000) })];
    case "SubagentStart":
      return [signal("sub.started", sub || id, at, { sub, type })];
    case "SubagentStop":
      return [signal("sub.ended", sub || id, at, { sub, type, text: brief(fact.text, 1000) })];
    case "PermissionRequest":
      return [signal("permission.asked", id, at, { tool: fact.call.tool, args: brief(fact.call.input, 1000) })];
    case "Notification":
      return [signal("notified", id, at, { type: reason, text: brief(fact.text, 500) })];
    default:
      return [];
  }
}

function turnSignals(dialect: HookDialect, moment: HookMoment, fact: HookFact, turn: string, at: number): Signal[] {
  switch (moment === "Stop" && fact.gaveUp ? "StopFailure" : moment) {
    case "UserPromptSubmit":
      return [signal("turn.started", turn, at, { by: fact.byTask ? "task" : "message" })];
    case "Stop": {
      if (fact.goesOn) return [];
      const text = brief(fact.text, 2000);
      return [signal("turn.ended", turn, at, { ok: true, reason: "completed", text, costUsd: null })];
    }
    case "StopFailure": {
      const text = brief(fact.text, 500);
      return [
        signal("api.failed", turn, at, {
          cause: fact.cause,
          detail: text,
          resetsAt: fact.cause === "quota" ? (dialect.readReset?.(text, at) ?? null) : null,
        }),
        signal("turn.ended", turn, at, { ok: false, reason: "api_error", text, costUsd: null }),
      ];
    }
    default:
      return [];
  }
}

function toToolStarted({ tools }: HookDialect, { id, tool, input }: HookCall, sub: string, at: number): Signal {
  const meaning = interpretCall(tools, tool, input);
  const whole = JSON.stringify(argumentsOf(tools, meaning, input));
  const data = {
    tool,
    does: meaning.use,
    argsHash: Bun.hash(whole).toString(36),
    args: brief(whole, 1000),
    sub: sub || null,
    shape: shapeOf(whole),
  };
  return signal("tool.started", id, at, data, "start");
}

/** The end of a call, and what it changed. */
function toToolEnded({ tools }: HookDialect, call: HookCall, sub: string, at: number): Signal[] {
  const { id, tool, input, result: value, failed, ms } = call;
  const result = brief(value, 1000);
  const text = typeof value === "string" ? value : JSON.stringify(value ?? "");
  const whole = resultHash(text);
  const does = useOf(tools, tool);
  const failure = failureIn(text, failed === null, does === "shell");
  const told = { tool, does, ok: failed === null, errorClass: failed, ms, result, resultHash: whole };
  const data = failure === undefined ? told : { ...told, failure };
  const ended = signal("tool.ended", id, at, data, "end");
  if (failed !== null) return [ended];
  return [
    ended,
    ...effectSignals(toolEffects(interpretCall(tools, tool, input), gitIn), { id, tool, sub: sub || null, at }),
  ];
}

/** Reading a command line as a shell does is loaded only for those that speak of git. */
function gitIn(command: string): readonly ToolEffect[] {
  const { gitEffects } = require("#domain/signals/git-effects.ts") as typeof import("#domain/signals/git-effects.ts");
  return gitEffects(command);
}

/** What the status line was told: the only live word about cost and the size of the context on a screen. */
export function meterSignal({ session, costUsd, contextWindow }: MeterFact, at: number, before?: number): Signal {
  // The same reading twice is one fact.
  const data = { costUsd, contextWindow, ...(before === undefined ? {} : { before }) };
  return signal("meter", `meter-${session}`, at, data, `${costUsd}`);
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

/**
 * Which spans and measures a signal of an agent completes: turns, the tool calls in them, and the model's answers. When
 * the model was asked is not told by its CLI; it is taken from when it last got something to answer to.
 */
import { deriveHex } from "#domain/core/derived-id.ts";
import type { Signal } from "#domain/signals/signal.ts";
import type { Measure, ProviderOf, SpanAttributes, TraceSpan } from "./span.ts";
import { attemptSpanId, measureTokens, spanTimes, traceIdOf } from "./span.ts";
import { NO_TOKENS, SILENT, type Talk, type TokenCount, type TracedAttempt } from "./trace-state.ts";

/** What came of it for one agent's talk. */
export interface TracedTalk {
  readonly talk: Talk;
  readonly spans: readonly TraceSpan[];
  readonly measures: readonly Measure[];
}

/** Calls that never end stay until the turn does; an agent that has more open has none that is of interest. */
const MOST_CALLS = 200;

export function traceSignal(
  before: Talk | undefined,
  speaker: TracedAttempt,
  signal: Signal,
  providerOf: ProviderOf,
): TracedTalk {
  const talk = before ?? SILENT;
  switch (signal.kind) {
    case "session.started":
      return only({ ...talk, session: signal.data.session, model: signal.data.model ?? talk.model });
    case "turn.started": {
      if (talk.turn !== null) return only(talk);
      const turn = { id: signal.source, startAt: signal.at, tokens: NO_TOKENS };
      return only({ ...talk, turn, askedAt: signal.at });
    }
    case "usage":
      return countAnswer(talk, speaker, signal, providerOf);
    case "tool.started": {
      if (Object.keys(talk.calls).length >= MOST_CALLS) return only(talk);
      const call = { tool: signal.data.tool, startAt: signal.at };
      return only({ ...talk, calls: { ...talk.calls, [signal.source]: call } });
    }
    case "tool.ended":
      return endCall(talk, speaker, signal);
    case "turn.ended": {
      const { ok, reason, costUsd } = signal.data;
      const end = { at: signal.at, error: ok ? null : reason || "failed", reason, costUsd };
      return endTurn(talk, speaker, end, providerOf);
    }
    case "process.exited":
      return endTurn(talk, speaker, { at: signal.at, error: "process_exited", reason: "process_exited" }, providerOf);
    default:
      return only(talk);
  }
}

/** Its attempt has ended: whatever was under way was cut off. */
export function endTalk(
  talk: Talk | undefined,
  speaker: TracedAttempt,
  at: number,
  providerOf: ProviderOf,
): TracedTalk {
  return endTurn(talk ?? SILENT, speaker, { at, error: "cut_off", reason: "cut_off" }, providerOf);
}

function only(talk: Talk): TracedTalk {
  return { talk, spans: [], measures: [] };
}

/** One answer of the model may be counted in several steps, under one id. */
function countAnswer(
  talk: Talk,
  speaker: TracedAttempt,
  { source, at, data }: Signal<"usage">,
  providerOf: ProviderOf,
): TracedTalk {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = data;
  const told = { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens };
  if (inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens === 0) return only(talk);
  const turn = talk.turn && { ...talk.turn, tokens: addTokens(talk.turn.tokens, told) };
  if (talk.chat?.id === source) {
    const chat = { ...talk.chat, endAt: at, tokens: addTokens(talk.chat.tokens, told) };
    return only({ ...talk, turn, chat });
  }
  const ended = endChat(talk, speaker, providerOf);
  const chat = { id: source, startAt: Math.min(ended.talk.askedAt ?? at, at), endAt: at, tokens: told };
  return { ...ended, talk: { ...ended.talk, turn, chat, askedAt: at } };
}

function endChat(talk: Talk, speaker: TracedAttempt, providerOf: ProviderOf): TracedTalk {
  const { chat } = talk;
  if (chat === null) return only(talk);
  const model = talk.model ?? speaker.model;
  const named = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerOf(speaker.runtime),
    ...(model === null ? {} : { "gen_ai.request.model": model }),
  };
  const { input, output, cacheRead, cacheWrite } = chat.tokens;
  const span: TraceSpan = {
    ...placeInTurn(talk, speaker, "chat", chat.id),
    name: model === null ? "chat" : `chat ${model}`,
    kind: "client",
    ...spanTimes(chat.startAt, chat.endAt),
    error: null,
    attributes: { ...named, ...tokenAttributes(chat.tokens), ...subjectOf(speaker, talk) },
    events: [],
  };
  const seconds = (span.endAt - span.startAt) / 1_000;
  return {
    talk: { ...talk, chat: null },
    spans: [span],
    measures: [
      { name: "gen_ai.client.operation.duration", value: seconds, attributes: named },
      ...measureTokens({ input: input + cacheRead + cacheWrite, output }, named),
    ],
  };
}

function endCall(talk: Talk, speaker: TracedAttempt, { source, at, data }: Signal<"tool.ended">): TracedTalk {
  const { [source]: begun, ...calls } = talk.calls;
  const startAt = Math.min(begun?.startAt ?? at - (data.ms ?? 0), at);
  const error = data.ok ? null : (data.errorClass ?? "failed");
  const span = callSpan(talk, speaker, { id: source, tool: data.tool, startAt, endAt: at, error });
  const attributes = { "gen_ai.tool.name": data.tool, ...(error === null ? {} : { "error.type": error }) };
  return {
    talk: { ...talk, calls, askedAt: at },
    spans: [span],
    measures: [{ name: "gen_ai.execute_tool.duration", value: (at - startAt) / 1_000, attributes }],
  };
}

interface EndedCall extends Pick<TraceSpan, "startAt" | "endAt" | "error"> {
  readonly id: string;
  readonly tool: string;
}

function callSpan(talk: Talk, speaker: TracedAttempt, { id, tool, ...times }: EndedCall): TraceSpan {
  return {
    ...placeInTurn(talk, speaker, "call", id),
    name: `execute_tool ${tool}`,
    kind: "internal",
    ...times,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.call.id": id,
      "gen_ai.tool.type": "function",
      ...subjectOf(speaker, talk),
    },
    events: [],
  };
}

interface TurnEnd {
  readonly at: number;
  readonly error: string | null;
  readonly reason: string;
  readonly costUsd?: number | null;
}

function endTurn(
  before: Talk,
  speaker: TracedAttempt,
  { at, error, reason, costUsd = null }: TurnEnd,
  providerOf: ProviderOf,
): TracedTalk {
  const { talk, spans, measures } = endChat(before, speaker, providerOf);
  const { turn, calls } = talk;
  const left = Object.entries(calls).map(([id, { tool, startAt }]) =>
    callSpan(talk, speaker, { id, tool, ...spanTimes(startAt, at), error: "not_ended" }),
  );
  const silent: Talk = { ...SILENT, session: talk.session, model: talk.model };
  if (turn === null) return { talk: silent, spans: [...spans, ...left], measures };
  const model = talk.model ?? speaker.model;
  const span: TraceSpan = {
    ...{ traceId: traceIdOf(speaker.goalId), spanId: turnSpanId(speaker, turn.id) },
    parentId: attemptSpanId(speaker.goalId, speaker.attempt),
    name: "turn",
    kind: "internal",
    ...spanTimes(turn.startAt, at),
    error,
    attributes: {
      "gen_ai.provider.name": providerOf(speaker.runtime),
      ...(model === null ? {} : { "gen_ai.request.model": model }),
      "gen_ai.response.finish_reasons": [reason],
      ...tokenAttributes(turn.tokens),
      ...(costUsd === null ? {} : { "overseer.cost_usd": costUsd }),
      ...subjectOf(speaker, talk),
    },
    events: [],
  };
  const attributes = { "overseer.role": speaker.role, "overseer.outcome": error === null ? "ok" : "failed" };
  return {
    talk: silent,
    spans: [...spans, ...left, span],
    measures: [...measures, { name: "overseer.turns", value: 1, attributes }],
  };
}

/** In the turn that is under way; one that began before anybody followed it has none. */
function placeInTurn(
  { turn }: Talk,
  speaker: TracedAttempt,
  kind: string,
  id: string,
): Pick<TraceSpan, "traceId" | "spanId" | "parentId"> {
  const { goalId, attempt } = speaker;
  return {
    traceId: traceIdOf(goalId),
    spanId: deriveHex(16, kind, goalId, attempt, id),
    parentId: turn === null ? attemptSpanId(goalId, attempt) : turnSpanId(speaker, turn.id),
  };
}

function turnSpanId({ goalId, attempt }: TracedAttempt, source: string): string {
  return deriveHex(16, "turn", goalId, attempt, source);
}

function tokenAttributes({ input, output, cacheRead, cacheWrite }: TokenCount): SpanAttributes {
  return {
    "gen_ai.usage.input_tokens": input + cacheRead + cacheWrite,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.cache_read.input_tokens": cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": cacheWrite,
  };
}

function subjectOf({ goalId, nodeId, agent, attempt }: TracedAttempt, { session }: Talk): SpanAttributes {
  return {
    "gen_ai.agent.name": agent,
    ...(session === null ? {} : { "gen_ai.conversation.id": session }),
    ...{ "overseer.goal.id": goalId, "overseer.node.id": nodeId, "overseer.attempt": attempt },
  };
}

function addTokens(one: TokenCount, other: TokenCount): TokenCount {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

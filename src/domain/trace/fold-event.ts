/** Which spans and measures an event of the log completes: goal, attempt, check, landing, and a model that we asked. */
import { deriveHex } from "#domain/core/derived-id.ts";
import type { EventOf, EventSubject } from "#domain/model/event.ts";
import { endTalk } from "./fold-signal.ts";
import type { Measure, ProviderOf, SpanAttributes, TraceSpan } from "./span.ts";
import { attemptSpanId, goalSpanId, measureTokens, spanTimes, traceIdOf } from "./span.ts";
import { type TracedAttempt, type TraceState, withOpen, withoutOpen } from "./trace-state.ts";

/** What came of it. */
export interface Traced {
  readonly state: TraceState;
  readonly spans: readonly TraceSpan[];
  readonly measures: readonly Measure[];
}

/** What happens to a branch on its way is told in its span, up to so many. */
const MOST_EVENTS = 32;

export function traceEvent(state: TraceState, event: EventOf, providerOf: ProviderOf): Traced {
  switch (event.type) {
    case "goal.created": {
      const goals = withOpen(state.goals, event.goalId ?? "", { title: event.data.title, startAt: event.at });
      return only({ ...state, goals });
    }
    case "goal.completed":
    case "goal.cancelled":
      return endGoal(state, event);
    case "agent.slung": {
      const attempts = withOpen(state.attempts, String(event.attempt), beginAttempt(event));
      return only({ ...state, attempts });
    }
    case "agent.ended":
      return endAttempt(state, event, providerOf);
    case "check.started":
      return only({ ...state, checks: withOpen(state.checks, event.data.checkId, { startAt: event.at }) });
    case "check.finished":
      return endCheck(state, event);
    case "merge.queued": {
      const { mergeId, branch, since } = event.data;
      return only({ ...state, merges: withOpen(state.merges, mergeId, { branch, startAt: since, events: [] }) });
    }
    case "merge.testing":
    case "merge.waiting":
    case "merge.parked":
      return only(noteOnTheWay(state, event));
    case "merge.landed":
    case "merge.ended":
      return endLanding(state, event);
    case "model.asked":
      return { state, ...traceModelCall(event) };
    default:
      return only(state);
  }
}

function only(state: TraceState): Traced {
  return { state, spans: [], measures: [] };
}

function endGoal(state: TraceState, event: EventOf<"goal.completed" | "goal.cancelled">): Traced {
  const goalId = event.goalId ?? "";
  const outcome = event.type.slice("goal.".length);
  const measures: Measure[] = [{ name: "overseer.goals", value: 1, attributes: { "overseer.outcome": outcome } }];
  const goal = state.goals[goalId];
  if (goal === undefined) return { state, spans: [], measures };
  const span: TraceSpan = {
    ...{ traceId: traceIdOf(goalId), spanId: goalSpanId(goalId), parentId: null },
    name: `invoke_workflow ${goal.title}`,
    kind: "internal",
    ...spanTimes(goal.startAt, event.at),
    error: null,
    attributes: {
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": goal.title,
      "overseer.goal.id": goalId,
      "overseer.outcome": outcome,
    },
    events: [],
  };
  return { state: { ...state, goals: withoutOpen(state.goals, goalId) }, spans: [span], measures };
}

function beginAttempt({ data, at, goalId = "", nodeId = "", attempt = 0 }: EventOf<"agent.slung">): TracedAttempt {
  const { agent, role, runtime, model } = data;
  return { goalId, nodeId, attempt, agent, role, runtime, model, startAt: at };
}

function endAttempt(state: TraceState, event: EventOf<"agent.ended">, providerOf: ProviderOf): Traced {
  const { cause, usage } = event.data;
  const key = String(event.attempt);
  const speaker = state.attempts[key];
  if (speaker === undefined) return only({ ...state, talks: withoutOpen(state.talks, key) });
  const { goalId, nodeId, attempt, agent, role, model, runtime } = speaker;
  const talk = endTalk(state.talks[key], speaker, event.at, providerOf);
  const usedModel = state.talks[key]?.model ?? model;
  const span: TraceSpan = {
    ...{ traceId: traceIdOf(goalId), spanId: attemptSpanId(goalId, attempt), parentId: goalSpanId(goalId) },
    name: `invoke_agent ${agent}`,
    kind: "internal",
    ...spanTimes(speaker.startAt, event.at),
    error: cause === "finished" || cause === "stopped" ? null : cause,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": providerOf(runtime),
      "gen_ai.agent.name": agent,
      "gen_ai.agent.id": key,
      ...(usedModel === null ? {} : { "gen_ai.request.model": usedModel }),
      "gen_ai.usage.input_tokens": usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
      ...{ "overseer.goal.id": goalId, "overseer.node.id": nodeId, "overseer.attempt": attempt },
      ...{ "overseer.role": role, "overseer.runtime": runtime, "overseer.outcome": cause },
      ...{ "overseer.cost_usd": usage.costUsd, "overseer.turns": usage.turns },
    },
    events: [],
  };
  const attributes = { "overseer.role": role, "overseer.runtime": runtime };
  return {
    state: { ...state, attempts: withoutOpen(state.attempts, key), talks: withoutOpen(state.talks, key) },
    spans: [...talk.spans, span],
    measures: [
      ...talk.measures,
      { name: "overseer.attempts", value: 1, attributes: { ...attributes, "overseer.outcome": cause } },
      ...(usage.costUsd > 0 ? [{ name: "overseer.cost", value: usage.costUsd, attributes } as const] : []),
    ],
  };
}

function endCheck(state: TraceState, event: EventOf<"check.finished">): Traced {
  const { checkId, name, on, verdict, why, commit, durationMs, exit, flaky } = event.data;
  const startAt = state.checks[checkId]?.startAt ?? event.at - durationMs;
  const span: TraceSpan = {
    ...placeBelowGoal("check", checkId, event),
    name: `check ${name}`,
    kind: "internal",
    ...spanTimes(startAt, event.at),
    error: verdict === "pass" ? null : verdict,
    attributes: {
      "overseer.check.name": name,
      "overseer.check.moment": on,
      "overseer.check.verdict": verdict,
      "overseer.commit": commit,
      ...(why === null ? {} : { "overseer.check.why": why }),
      ...(exit === null ? {} : { "process.exit.code": exit }),
      ...(flaky ? { "overseer.check.flaky": true } : {}),
      ...subjectOf(event),
    },
    events: [],
  };
  const attributes = { "overseer.check.name": name, "overseer.check.verdict": verdict };
  return {
    state: { ...state, checks: withoutOpen(state.checks, checkId) },
    spans: [span],
    measures: [
      { name: "overseer.checks", value: 1, attributes },
      { name: "overseer.check.duration", value: durationMs / 1_000, attributes },
    ],
  };
}

function noteOnTheWay(
  state: TraceState,
  { type, at, data }: EventOf<"merge.testing" | "merge.waiting" | "merge.parked">,
): TraceState {
  const merge = state.merges[data.mergeId];
  if (merge === undefined || merge.events.length >= MOST_EVENTS) return state;
  const events = [...merge.events, { at, name: type.slice("merge.".length) }];
  return { ...state, merges: { ...state.merges, [data.mergeId]: { ...merge, events } } };
}

function endLanding(state: TraceState, event: EventOf<"merge.landed" | "merge.ended">): Traced {
  const { mergeId } = event.data;
  const outcome = event.type === "merge.landed" ? "landed" : event.data.to;
  const attributes: SpanAttributes = {
    "overseer.outcome": outcome,
    ...(event.type === "merge.landed" ? { "overseer.landing.tier": event.data.tier } : {}),
  };
  const merge = state.merges[mergeId];
  const measures: Measure[] = [{ name: "overseer.landings", value: 1, attributes }];
  if (merge === undefined) return { state, spans: [], measures };
  const span: TraceSpan = {
    ...placeBelowGoal("landing", mergeId, event),
    name: "landing",
    kind: "internal",
    ...spanTimes(merge.startAt, event.at),
    error: outcome === "refused" ? "refused" : null,
    attributes: {
      ...attributes,
      "overseer.branch": merge.branch,
      ...(event.type === "merge.landed" ? { "overseer.commit": event.data.to } : {}),
      ...subjectOf(event),
    },
    events: merge.events,
  };
  if (outcome === "landed") {
    const seconds = (span.endAt - span.startAt) / 1_000;
    measures.push({ name: "overseer.landing.duration", value: seconds, attributes });
  }
  return { state: { ...state, merges: withoutOpen(state.merges, mergeId) }, spans: [span], measures };
}

/** A model that we asked ourselves: for a plan, a conflict, a stall. */
function traceModelCall(event: EventOf<"model.asked">): Pick<Traced, "spans" | "measures"> {
  const { callId, purpose, prompt, model, ok, tries, durationMs, tokens, costUsd } = event.data;
  const named = { "gen_ai.operation.name": "chat", ...(model === null ? {} : { "gen_ai.request.model": model }) };
  const input = tokens ? tokens.inputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens : 0;
  const span: TraceSpan = {
    ...placeBelowGoal("model", callId, event),
    name: model === null ? "chat" : `chat ${model}`,
    kind: "client",
    ...spanTimes(event.at - durationMs, event.at),
    error: ok ? null : "no_valid_answer",
    attributes: {
      ...named,
      ...(tokens ? { "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": tokens.outputTokens } : {}),
      ...{ "overseer.model.purpose": purpose, "overseer.model.prompt": prompt, "overseer.model.tries": tries },
      ...(costUsd === null ? {} : { "overseer.cost_usd": costUsd }),
      ...subjectOf(event),
    },
    events: [],
  };
  return {
    spans: [span],
    measures: [
      { name: "gen_ai.client.operation.duration", value: durationMs / 1_000, attributes: named },
      ...(tokens ? measureTokens({ input, output: tokens.outputTokens }, named) : []),
      ...(costUsd
        ? [{ name: "overseer.cost", value: costUsd, attributes: { "overseer.role": "overseer" } } as const]
        : []),
    ],
  };
}

/** Below its goal; what belongs to none is a trace of its own. */
function placeBelowGoal(
  kind: string,
  id: string,
  { goalId }: EventSubject,
): Pick<TraceSpan, "traceId" | "spanId" | "parentId"> {
  const spanId = deriveHex(16, kind, id);
  if (goalId === undefined) return { traceId: deriveHex(32, "trace", kind, id), spanId, parentId: null };
  return { traceId: traceIdOf(goalId), spanId, parentId: goalSpanId(goalId) };
}

function subjectOf({ goalId, nodeId, agent, attempt }: EventSubject): SpanAttributes {
  return {
    ...(goalId === undefined ? {} : { "overseer.goal.id": goalId }),
    ...(nodeId === undefined ? {} : { "overseer.node.id": nodeId }),
    ...(agent === undefined ? {} : { "gen_ai.agent.name": agent }),
    ...(attempt === undefined ? {} : { "overseer.attempt": attempt }),
  };
}

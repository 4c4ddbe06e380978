import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Signal } from "#domain/signals/signal.ts";
import { scaled } from "../../../test/support/scale.ts";
import { endTalk, traceSignal } from "./fold-signal.ts";
import { attemptSpanId, type TraceSpan, traceIdOf } from "./span.ts";
import type { Talk, TracedAttempt } from "./trace-state.ts";

const WHO: TracedAttempt = {
  ...{
    goalId: "goal_1",
    nodeId: "T1",
    attempt: 7,
    agent: "ann",
    role: "builder",
    runtime: "r",
    model: null,
    startAt: 0,
  },
};
const provider = () => "them";
const signal = (kind: Signal["kind"], source: string, at: number, data: object): Signal =>
  ({ kind, source, phase: kind, at, data }) as unknown as Signal;
const usage = (source: string, at: number, inputTokens: number, outputTokens: number) =>
  signal("usage", source, at, { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, contextTokens: 0 });

function fold(signals: readonly Signal[], endAt?: number): { spans: TraceSpan[]; talk: Talk | undefined } {
  const spans: TraceSpan[] = [];
  let talk: Talk | undefined;
  for (const one of signals) {
    const traced = traceSignal(talk, WHO, one, provider);
    talk = traced.talk;
    spans.push(...traced.spans);
  }
  if (endAt !== undefined) spans.push(...endTalk(talk, WHO, endAt, provider).spans);
  return { spans, talk };
}

test("OTEL-1: a turn has the model's answers and the tool calls in it, by their own ids and times", () => {
  const { spans } = fold([
    signal("session.started", "s", 0, { session: "ses", model: "m-1", version: null }),
    signal("turn.started", "t1", 10, { by: "us" }),
    usage("msg1", 30, 100, 5),
    usage("msg1", 31, 0, 2),
    signal("tool.started", "c1", 32, { tool: "Edit" }),
    signal("tool.ended", "c1", 50, { tool: "Edit", ok: false, errorClass: "denied", ms: 18 }),
    usage("msg2", 70, 50, 1),
    signal("turn.ended", "t1e", 80, { ok: true, reason: "completed", text: "", costUsd: 0.25 }),
  ]);
  expect(spans.map(({ name, startAt, endAt, error }) => [name, startAt, endAt, error])).toEqual([
    ["execute_tool Edit", 32, 50, "denied"],
    ["chat m-1", 10, 31, null],
    ["chat m-1", 50, 70, null],
    ["turn", 10, 80, null],
  ]);
  const turn = spans[3];
  expect(new Set(spans.slice(0, 3).map(({ parentId }) => parentId))).toEqual(new Set([turn?.spanId ?? ""]));
  expect(turn?.parentId).toBe(attemptSpanId("goal_1", 7));
  expect(turn?.attributes).toMatchObject({
    "gen_ai.usage.input_tokens": 150,
    "gen_ai.usage.output_tokens": 8,
    "overseer.cost_usd": 0.25,
    "gen_ai.conversation.id": "ses",
  });
  expect(spans[1]?.attributes).toMatchObject({ "gen_ai.provider.name": "them", "gen_ai.usage.output_tokens": 7 });
});

test("OTEL-1: what an attempt leaves behind when it ends is cut off with it", () => {
  const { spans } = fold(
    [signal("turn.started", "t1", 10, { by: "us" }), signal("tool.started", "c1", 20, { tool: "Bash" })],
    90,
  );
  expect(spans.map(({ name, endAt, error }) => [name, endAt, error])).toEqual([
    ["execute_tool Bash", 90, "not_ended"],
    ["turn", 90, "cut_off"],
  ]);
});

test("OTEL-1: whatever an agent does, spans are whole: ids of their shape and once each, parents that exist, times in order", () => {
  const source = fc.constantFrom("a", "b", "c", "d");
  const step = fc.oneof(
    source.map((id) => ["turn.started", id, { by: "us" }] as const),
    source.map((id) => ["tool.started", id, { tool: "Bash" }] as const),
    source.map((id) => ["tool.ended", id, { tool: "Bash", ok: true, errorClass: null, ms: null }] as const),
    fc.constant(["turn.ended", "e", { ok: true, reason: "completed", text: "", costUsd: null }] as const),
    fc.constant(["process.exited", "x", { code: 0, signal: null, asked: true }] as const),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: -5, max: 20 })), { maxLength: 40 }), (steps) => {
      // As the store has them: each source once per kind, and a clock that may be set back.
      let at = 1_000;
      const signals = steps.map(([[kind, id, data], later], index) => {
        at += later;
        return signal(kind, kind.startsWith("tool") ? `${id}${Math.floor(index / 4)}` : `${id}${index}`, at, data);
      });
      const once = [...new Map(signals.map((one) => [`${one.kind} ${one.source}`, one])).values()];
      const { spans } = fold(once, at + 1);
      const ids = new Set(spans.map(({ spanId }) => spanId));
      for (const { traceId, spanId, parentId, startAt, endAt } of spans) {
        expect(traceId).toBe(traceIdOf("goal_1"));
        expect(spanId).toMatch(/^[0-9a-f]{16}$/);
        expect(parentId === attemptSpanId("goal_1", 7) || ids.has(parentId ?? "")).toBe(true);
        expect(endAt).toBeGreaterThanOrEqual(startAt);
      }
      const turns = spans.filter(({ name }) => name === "turn");
      expect(new Set(turns.map(({ spanId }) => spanId)).size).toBe(turns.length);
    }),
    { numRuns: scaled(300) },
  );
});

/** The SDK against a real receiver: whatever that does, each request ends with an outcome. */
import { afterEach, expect, test } from "bun:test";
import type { TraceSpan } from "#domain/trace/span.ts";
import { type Manner, OtlpReceiver } from "../../test/support/otlp-receiver.ts";
import { makeOtlpSink } from "./otlp-sink.ts";
import type { Sink } from "./sink.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

function scene(): { receiver: OtlpReceiver; sink: Sink } {
  const receiver = new OtlpReceiver();
  const gauges = async () => ({ "overseer.agents": 0, "overseer.questions": 0 });
  const target = { endpoint: receiver.url, version: "1", project: "p", gauges };
  const sink = makeOtlpSink(target, { OTEL_EXPORTER_OTLP_TIMEOUT: "200" });
  ends.push(() => receiver.end());
  return { receiver, sink };
}

const SPAN: TraceSpan = {
  ...{ traceId: "1".repeat(32), spanId: "2".repeat(16), parentId: null, name: "x", kind: "internal" },
  ...{ startAt: 1, endAt: 2, attributes: {}, events: [], error: null },
};

test.each<[Manner, string, string]>([
  ["drips", "failed", "did not end its answer"],
  ["hangs", "failed", ""],
  ["moved", "failed", "302"],
  ["refuses", "refused", "403"],
])("OTEL-1: a receiver that %s is %s, and gets what comes once it takes", async (manner, kind, words) => {
  const { receiver, sink } = scene();
  receiver.manner = manner;
  const outcome = await sink.send([SPAN]);
  expect(outcome.kind).toBe(kind as typeof outcome.kind);
  expect(outcome.kind === "sent" ? "" : outcome.problem).toContain(words);
  receiver.manner = "takes";
  expect(await sink.send([SPAN])).toEqual({ kind: "sent" });
  expect(receiver.spans.map(({ name }) => name)).toEqual(["x"]);
});

const nowhere = {
  ...{ endpoint: "http://127.0.0.1:9", version: "1", project: "p" },
  gauges: async () => ({ "overseer.agents": 0, "overseer.questions": 0 }),
};

test.each([
  ["below the time that a request has", { OTEL_METRIC_EXPORT_INTERVAL: "2000" }],
  ["below a time that was given", { OTEL_METRIC_EXPORT_INTERVAL: "200", OTEL_EXPORTER_OTLP_TIMEOUT: "90000" }],
  ["below zero", { OTEL_METRIC_EXPORT_INTERVAL: "-5" }],
  ["without end", { OTEL_METRIC_EXPORT_INTERVAL: "Infinity", OTEL_EXPORTER_OTLP_TIMEOUT: "Infinity" }],
])("OTEL-1: metrics may be wanted at an interval %s", (_what, env) => {
  expect(() => makeOtlpSink(nowhere, env)).not.toThrow();
});

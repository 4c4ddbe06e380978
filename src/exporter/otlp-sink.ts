/**
 * Sends by OTLP/HTTP through the official SDK. Spans are handed to its exporter as they are, because they have ended long
 * ago and their ids are ours; measures go through its meters, which add them up and send them every so often.
 */
import { SpanKind, SpanStatusCode, TraceFlags } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { MEASURES, type Measure, type MeasureName, type TraceSpan } from "#domain/trace/span.ts";
import { messageOf } from "#errors.ts";
import type { ExportOutcome, Sink } from "./sink.ts";

export interface OtlpTarget {
  /** The base, as OTEL_EXPORTER_OTLP_ENDPOINT has it; null leaves it to the variables of the environment. */
  readonly endpoint: string | null;
  readonly version: string;
  readonly project: string;
  /** What is going on at the moment, asked whenever metrics are sent. */
  gauges(): Promise<Readonly<Record<GaugeName, number>>>;
}

const GAUGES = {
  "overseer.agents": { unit: "{agent}", says: "Agents that are at work." },
  "overseer.questions": { unit: "{question}", says: "Questions that wait for a person." },
} as const;

export type GaugeName = keyof typeof GAUGES;

/** One request may take this long, its retries included, unless the environment says otherwise. */
const REQUEST_MS = 5_000;
/** The SDK's limit begins anew with each byte of an answer; after this much more, ours ends it. */
const GRACE_MS = 1_000;
const METRICS_EVERY_MS = 60_000;

export function makeOtlpSink(target: OtlpTarget, env: Readonly<Record<string, string | undefined>>): Sink {
  const at = (signal: string) =>
    target.endpoint === null ? {} : { url: `${target.endpoint.replace(/\/+$/, "")}/v1/${signal}` };
  const own = { "service.name": "overseer", "service.version": target.version, "overseer.project": target.project };
  const resource = defaultResource()
    .merge(resourceFromAttributes(own))
    .merge(detectResources({ detectors: [envDetector] }));
  const timeoutMillis = positive(env.OTEL_EXPORTER_OTLP_TIMEOUT) ?? REQUEST_MS;
  const openTraces = () => new OTLPTraceExporter({ ...at("traces"), timeoutMillis });
  let traces = openTraces();
  const exportIntervalMillis = positive(env.OTEL_METRIC_EXPORT_INTERVAL) ?? METRICS_EVERY_MS;
  // The SDK refuses to start where one sending may take longer than until the next.
  const exportTimeoutMillis = Math.min(timeoutMillis, exportIntervalMillis);
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ ...at("metrics"), timeoutMillis: exportTimeoutMillis }),
    exportIntervalMillis,
    exportTimeoutMillis,
  });
  const meters = new MeterProvider({ resource, readers: [reader] });
  const record = makeRecorder(meters, target);
  return {
    async send(spans) {
      const readable = spans.map((span) => toReadable(span, resource, target.version));
      const { promise, resolve } = Promise.withResolvers<ExportOutcome>();
      const timer = setTimeout(() => {
        // What still waits for its answer there would be waited for by all that comes.
        traces = openTraces();
        resolve({ kind: "failed", problem: `it did not end its answer within ${timeoutMillis + GRACE_MS} ms` });
      }, timeoutMillis + GRACE_MS);
      traces.export(readable, ({ code, error }) => resolve(code === 0 ? { kind: "sent" } : judgeFailure(error)));
      const outcome = await promise;
      clearTimeout(timer);
      return outcome;
    },
    record,
    async close() {
      await Promise.allSettled([meters.shutdown(), traces.shutdown()]);
    },
  };
}

/** As OpenTelemetry has it, what is no number of milliseconds counts as not said. */
function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : undefined;
}

/** By the protocol, these answers mean "later", as does one from elsewhere; of the rest, those below 500 mean "never". */
const LATER = [408, 429];

function judgeFailure(error: Error | undefined): ExportOutcome {
  const status = error && "code" in error && typeof error.code === "number" ? error.code : undefined;
  if (status === undefined) return { kind: "failed", problem: error ? messageOf(error) : "it did not say why" };
  const problem = `it answered ${status} ${messageOf(error)}`;
  const isRefusal = status >= 400 && status < 500 && !LATER.includes(status);
  return isRefusal ? { kind: "refused", problem } : { kind: "failed", problem };
}

function makeRecorder(meters: MeterProvider, target: OtlpTarget): Sink["record"] {
  const meter = meters.getMeter("overseer", target.version);
  const instruments = Object.fromEntries(
    Object.entries(MEASURES).map(([name, { unit, says, counts }]) => {
      const options = { unit, description: says };
      if (!counts) return [name, meter.createHistogram(name, options)];
      const counter = meter.createCounter(name, options);
      return [name, { record: counter.add.bind(counter) }];
    }),
  ) as Record<MeasureName, { record(value: number, attributes: Measure["attributes"]): void }>;
  const gauges = Object.entries(GAUGES).map(([name, { unit, says }]) =>
    meter.createObservableGauge(name, { unit, description: says }),
  );
  const names = Object.keys(GAUGES) as GaugeName[];
  meter.addBatchObservableCallback(async (result) => {
    const now = await target.gauges();
    for (const [index, gauge] of gauges.entries()) result.observe(gauge, now[names[index] ?? "overseer.agents"]);
  }, gauges);
  return (measures) => {
    for (const { name, value, attributes } of measures) instruments[name].record(value, attributes);
  };
}

function toReadable(span: TraceSpan, resource: Resource, version: string): ReadableSpan {
  const { traceId, spanId, parentId, error } = span;
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
  return {
    name: span.name,
    kind: span.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
    spanContext: () => context(spanId),
    ...(parentId === null ? {} : { parentSpanContext: context(parentId) }),
    startTime: toHrTime(span.startAt),
    endTime: toHrTime(span.endAt),
    duration: toHrTime(span.endAt - span.startAt),
    status: error === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: { ...copyOf(span.attributes), ...(error === null ? {} : { "error.type": error }) },
    events: span.events.map(({ at, name }) => ({ name, time: toHrTime(at) })),
    links: [],
    ended: true,
    resource,
    instrumentationScope: { name: "overseer", version },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** The SDK's own lists may be changed. */
function copyOf(attributes: TraceSpan["attributes"]): ReadableSpan["attributes"] {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === "object" ? [...value] : value]),
  );
}

function toHrTime(ms: number): [seconds: number, nanoseconds: number] {
  const whole = Math.trunc(ms);
  return [Math.trunc(whole / 1_000), (whole % 1_000) * 1_000_000];
}

/**
 * A span and a measure as plain data, in the words of OpenTelemetry and its conventions for generative AI. Ids follow from
 * what a span stands for, so that whoever makes it, before or after a restart, makes the same one.
 */
import { deriveHex } from "#domain/core/derived-id.ts";

export type SpanValue = string | number | boolean | readonly string[];
export type SpanAttributes = Readonly<Record<string, SpanValue>>;

export interface SpanEvent {
  readonly at: number;
  readonly name: string;
}

export interface TraceSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** A call of something outside, or work of ours. */
  readonly kind: "client" | "internal";
  /** Wall clock, ms. */
  readonly startAt: number;
  readonly endAt: number;
  /** What kind of failure it was; null where it was none. */
  readonly error: string | null;
  readonly attributes: SpanAttributes;
  readonly events: readonly SpanEvent[];
}

/** What is measured, with its unit as the conventions write it; a histogram unless it only counts. */
export const MEASURES = {
  "gen_ai.client.token.usage": { unit: "{token}", counts: false, says: "TokenCount that a model read or wrote." },
  "gen_ai.client.operation.duration": { unit: "s", counts: false, says: "How long a model took to answer." },
  "gen_ai.execute_tool.duration": { unit: "s", counts: false, says: "How long a tool call took." },
  "overseer.cost": { unit: "{USD}", counts: true, says: "Dollars spent, as agents and models report it." },
  "overseer.turns": { unit: "{turn}", counts: true, says: "Turns that have ended." },
  "overseer.attempts": { unit: "{attempt}", counts: true, says: "Attempts that have ended." },
  "overseer.goals": { unit: "{goal}", counts: true, says: "Goals that have ended." },
  "overseer.checks": { unit: "{check}", counts: true, says: "Checks that have run." },
  "overseer.check.duration": { unit: "s", counts: false, says: "How long a check ran." },
  "overseer.landings": { unit: "{landing}", counts: true, says: "Branches that left the queue, landed or not." },
  "overseer.landing.duration": { unit: "s", counts: false, says: "From being ready to land until landed." },
} as const;

export type MeasureName = keyof typeof MEASURES;

export interface Measure {
  readonly name: MeasureName;
  readonly value: number;
  readonly attributes: SpanAttributes;
}

/** A goal is one trace. */
export function traceIdOf(goalId: string): string {
  return deriveHex(32, "trace", goalId);
}

export function goalSpanId(goalId: string): string {
  return deriveHex(16, "goal", goalId);
}

export function attemptSpanId(goalId: string, attempt: number): string {
  return deriveHex(16, "attempt", goalId, attempt);
}

/** OTEL-1: by W3C Trace Context, for an agent's CLI that exports spans of its own: they belong below its attempt. */
export function traceParentOf(goalId: string, attempt: number): string {
  return `00-${traceIdOf(goalId)}-${attemptSpanId(goalId, attempt)}-01`;
}

/** What a runtime's models come from, in the words of the conventions. */
export type ProviderOf = (runtime: string) => string;

export function measureTokens(
  { input, output }: { readonly input: number; readonly output: number },
  attributes: SpanAttributes,
): Measure[] {
  return [
    { name: "gen_ai.client.token.usage", value: input, attributes: { ...attributes, "gen_ai.token.type": "input" } },
    { name: "gen_ai.client.token.usage", value: output, attributes: { ...attributes, "gen_ai.token.type": "output" } },
  ];
}

/** A clock that was set back in between makes no span that ends before it began. */
export function spanTimes(startAt: number, endAt: number): Pick<TraceSpan, "startAt" | "endAt"> {
  return { startAt: Math.min(startAt, endAt), endAt };
}

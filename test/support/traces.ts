/** Recorded sessions as texts: read as replay reads files, for tests that have none. */

import { Replay, type Replayed } from "#domain/signals/reflex-replay.ts";
import type { ReflexRules } from "#domain/signals/reflex-rules.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { type Json, jsonObject } from "#runtimes/json.ts";
import { SESSION_FORMATS } from "#runtimes/session-formats.ts";
import { SessionFile } from "#runtimes/session-writer.ts";

export interface Trace {
  readonly name: string;
  readonly runtime: string;
  readonly sub: boolean;
  readonly role: string | null;
  readonly labels: readonly string[] | null;
  readonly may: readonly string[];
  readonly signals: readonly Signal[];
  /** By the call's own name. */
  readonly ordinals: Readonly<Record<string, number>>;
}

/** Every session in a text of lines that has a call in it. */
export function readTraces(name: string, text: string): Trace[] {
  const values = text
    .split("\n")
    .flatMap((line): Json[] => [jsonObject(line.trim())].filter((value) => value !== undefined));
  const first = values.find((value) => SESSION_FORMATS.some((format) => format.owns(value, name)));
  const format = first && SESSION_FORMATS.find((one) => one.owns(first, name));
  if (!format) return [];
  const traces: (Trace & { signals: Signal[]; ordinals: Record<string, number> })[] = [];
  const file = new SessionFile(format.runtime, format.tools, (about) => {
    const { runtime, sub, role = null, labels = null, may = [] } = about;
    const shown = about.name ?? (about.key === "" ? name : about.key);
    const trace = { name: shown, runtime, sub, role, labels, may, signals: [] as Signal[], ordinals: {} };
    traces.push(trace);
    const ordinals: Record<string, number> = trace.ordinals;
    return (signal, ordinal) => {
      trace.signals.push(signal);
      if (ordinal > 0) ordinals[signal.source] = ordinal;
    };
  });
  const reader = format.read(file);
  for (const value of values) reader.take(value);
  reader.end?.();
  file.finish();
  return traces.filter(({ signals }) => signals.some(({ kind }) => kind === "tool.started"));
}

export function replay({ name, labels, may, signals }: Trace, rules: ReflexRules): Replayed {
  const one = new Replay({ name, labels, may }, rules);
  for (const signal of signals) one.take(signal);
  return one.finish();
}

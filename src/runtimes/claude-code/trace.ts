/**
 * Traces of agents' work, as files: our own (one signal per line, or one call per line where a person is to read it),
 * the session logs a runner leaves behind, and Claude Code's transcripts as they lie on disk. A line of a kind that is
 * not known is passed over; half a line and nonsense are, too. Several traces may stand in one file: each begins with a
 * line that names it and, if somebody knows, says what there is to be noticed in it.
 */
import { useOf } from "#domain/core/tools.ts";
import type { Trace } from "#domain/signals/reflex-replay.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { errorClass } from "./error-class.ts";
import { streamReaders } from "./stream.ts";
import { CLAUDE_TOOLS } from "./tools.ts";
import { contentText, type Json, jsonObject, numberOf, objectOf, textOf } from "./wire.ts";

/** What a context holds unless more than that was in it; transcripts do not say. */
const USUAL_WINDOW = 200_000;
const WIDE_WINDOW = 1_000_000;

/** Every trace in a file. A file with nothing of an agent in it has none. */
export function readTraces(name: string, text: string): Trace[] {
  const traces: Trace[] = [];
  let current = new TraceBuilder({ name });
  for (const line of text.split("\n")) {
    const value = jsonObject(line.trim());
    if (value === undefined) continue;
    if (typeof value.trace === "string") {
      traces.push(...current.finish());
      current = new TraceBuilder({
        name: value.trace,
        role: typeof value.role === "string" ? value.role : null,
        labels: wordsOf(value.labels),
        may: wordsOf(value.may) ?? [],
      });
    } else current.line(value, line);
  }
  return [...traces, ...current.finish()];
}

class TraceBuilder {
  private readonly signals: Signal[] = [];
  private readonly transcript = streamReaders()(1);
  private fromTranscript = false;
  /** Calls of one message: they begin together. */
  private batch: Json[] = [];
  private counter = 0;
  private readonly running: { readonly tool: string; readonly source: string }[] = [];

  constructor(private readonly about: Pick<Trace, "name"> & Partial<Trace>) {}

  line(value: Json, text: string): void {
    if (typeof value.call === "string") {
      if (this.batch[0] !== undefined && this.batch[0].step !== value.step) this.flush();
      this.batch.push(value);
      return;
    }
    this.flush();
    if (typeof value.kind === "string" && typeof value.phase === "string")
      this.signals.push(value as unknown as Signal);
    else if (typeof value.event === "string" && value.data !== undefined) this.addLogRecord(value);
    else if (typeof value.type === "string") this.addTranscriptLine(value, text);
  }

  finish(): Trace[] {
    this.flush();
    if (!this.signals.some(({ kind }) => kind === "tool.started")) return [];
    const { name, role = null, labels = null, may = [] } = this.about;
    const signals = (this.fromTranscript ? withWindow(this.signals) : this.signals).map(withUse);
    return [{ name, role, labels, may, signals }];
  }

  /** The short form: `{call, step, at, tool, args, ok, ms, result}`. */
  private flush(): void {
    const batch = this.batch.splice(0);
    for (const one of batch) {
      const at = numberOf(one.at) - numberOf(one.ms);
      const whole = JSON.stringify(one.args ?? {});
      const data = {
        tool: textOf(one.tool),
        argsHash: Bun.hash(whole).toString(36),
        args: whole.slice(0, 1_000),
        sub: null,
        step: textOf(one.step),
      };
      this.signals.push({ kind: "tool.started", source: textOf(one.call), phase: "start", at, data });
    }
    for (const one of batch) {
      const ok = one.ok !== false;
      const result = textOf(one.result);
      const data = {
        tool: textOf(one.tool),
        ok,
        errorClass: ok ? null : errorClass(result),
        ms: numberOf(one.ms),
        result,
      };
      this.signals.push({ kind: "tool.ended", source: textOf(one.call), phase: "end", at: numberOf(one.at), data });
    }
  }

  /** A record of a session's events.ndjson, which names no sources: calls of one tool end in the order they began. */
  private addLogRecord(record: Json): void {
    const at = Date.parse(textOf(record.time)) || numberOf(record.at);
    const data = objectOf(record.data);
    const tool = textOf(data.tool);
    let source = `l${this.counter++}`;
    if (record.event === "tool.started") this.running.push({ tool, source });
    if (record.event === "tool.ended") {
      const begun = this.running.findIndex((one) => one.tool === tool);
      source = this.running.splice(begun, begun < 0 ? 0 : 1)[0]?.source ?? source;
    }
    this.signals.push({ kind: record.event, source, phase: textOf(record.event), at, data } as unknown as Signal);
  }

  /** A line of Claude Code's own record: its messages have the shape of its stream, its turns have no end of their own. */
  private addTranscriptLine(line: Json, text: string): void {
    if (line.isSidechain === true || (line.type !== "assistant" && line.type !== "user" && line.type !== "system"))
      return;
    this.fromTranscript = true;
    const at = Date.parse(textOf(line.timestamp)) || this.signals.at(-1)?.at || 0;
    if (line.type === "user" && line.isMeta !== true && contentText(objectOf(line.message).content).trim() !== "") {
      const data = { ok: true, reason: "completed", text: "", costUsd: null };
      this.signals.push({ kind: "turn.ended", source: `p${this.counter++}`, phase: "turn.ended", at, data });
    }
    this.signals.push(...this.transcript.read(text, at));
  }
}

/** Records of earlier versions do not say what their tools are for. */
function withUse(one: Signal): Signal {
  if (one.kind !== "tool.started" && one.kind !== "tool.ended") return one;
  return { ...one, data: { does: useOf(CLAUDE_TOOLS, one.data.tool), ...one.data } } as Signal;
}

function withWindow(signals: readonly Signal[]): Signal[] {
  const most = Math.max(0, ...signals.map((one) => (one.kind === "usage" ? one.data.contextTokens : 0)));
  const contextWindow = most > USUAL_WINDOW ? WIDE_WINDOW : USUAL_WINDOW;
  return signals.map((one) =>
    one.kind === "usage"
      ? { ...one, data: { ...one.data, contextWindow: one.data.contextWindow ?? contextWindow } }
      : one,
  );
}

function wordsOf(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
}

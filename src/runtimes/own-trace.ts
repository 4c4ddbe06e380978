/**
 * Traces of our own: one signal per line, or one call per line where a person is to read it, and the session logs a
 * runner leaves behind. Several traces may stand in one file: each begins with a line that names it and, if somebody
 * knows, says what there is to be noticed in it; where another agent than Claude Code made it, which one.
 */
import { argumentsOf, interpretCall, type ToolVocabulary, useOf } from "#domain/core/tools.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { CLAUDE_TOOLS } from "./claude-code/tools.ts";
import { errorClass } from "./error-class.ts";
import { type Json, numberOf, objectOf, textOf, withinTime } from "./json.ts";
import type { FileEars, SessionEars, SessionFormat, ValueReader } from "./session-format.ts";
import { writeArguments } from "./session-writer.ts";
import { isSignalKind, readSignal } from "./signal-shape.ts";
import { VOCABULARIES } from "./vocabularies.ts";

export const OWN_SESSIONS: SessionFormat = {
  runtime: "overseer",
  tools: CLAUDE_TOOLS,
  listHomes: () => [],
  owns: (value) => typeof value.trace === "string" || isOurs(value),
  read: (file) => new OwnTraces(file),
};

function isOurs(value: Json): boolean {
  return (
    (typeof value.call === "string" && typeof value.tool === "string") ||
    (typeof value.kind === "string" && typeof value.phase === "string" && value.data !== undefined) ||
    (typeof value.event === "string" && value.data !== undefined && value.time !== undefined)
  );
}

class OwnTraces implements ValueReader {
  private session: SessionEars | undefined;
  private named = 0;
  private counter = 0;
  private tools: ToolVocabulary = CLAUDE_TOOLS;
  /** The step that the calls so far belong to: calls of one message begin together. */
  private batch: Json[] = [];
  private readonly running: { readonly tool: string; readonly source: string }[] = [];

  constructor(private readonly file: FileEars) {}

  take(value: Json): void {
    if (typeof value.trace === "string") {
      this.flush();
      this.named += 1;
      const { runtime } = value;
      const isKnown = typeof runtime === "string" && Object.hasOwn(VOCABULARIES, runtime);
      this.tools = (isKnown ? VOCABULARIES[runtime] : undefined) ?? CLAUDE_TOOLS;
      this.session = this.file.session(`trace ${this.named}`, {
        name: value.trace,
        role: typeof value.role === "string" ? value.role : null,
        labels: wordsOf(value.labels),
        may: wordsOf(value.may) ?? [],
      });
      return;
    }
    if (typeof value.call === "string") {
      if (this.batch[0] !== undefined && this.batch[0].step !== value.step) this.flush();
      this.batch.push(value);
      return;
    }
    this.flush();
    if (typeof value.kind === "string" && typeof value.phase === "string") this.pass(value);
    else if (typeof value.event === "string" && value.data !== undefined) this.addLogRecord(value);
  }

  /** Anybody may have written it: what is no signal is counted and not passed on. */
  private pass(value: Json): void {
    const signal = readSignal(value);
    if (signal === undefined) this.file.refuse();
    else this.own().pass(withUse(signal, this.tools));
  }

  end(): void {
    this.flush();
  }

  private own(): SessionEars {
    this.session ??= this.file.session();
    return this.session;
  }

  /** The short form: `{call, step, at, tool, args, ok, ms, result}`. */
  private flush(): void {
    const batch = this.batch.splice(0);
    for (const one of batch) {
      const at = withinTime(numberOf(one.at) - numberOf(one.ms));
      const tool = textOf(one.tool);
      const input = objectOf(one.args);
      const meaning = interpretCall(this.tools, tool, input);
      const whole = writeArguments(argumentsOf(this.tools, meaning, input));
      const data = {
        tool,
        does: meaning.use,
        argsHash: Bun.hash(whole).toString(36),
        args: whole.slice(0, 1_000),
        sub: null,
        step: textOf(one.step),
      };
      this.own().pass(
        withUse({ kind: "tool.started", source: textOf(one.call), phase: "start", at, data }, this.tools),
      );
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
      const at = withinTime(numberOf(one.at));
      this.own().pass(withUse({ kind: "tool.ended", source: textOf(one.call), phase: "end", at, data }, this.tools));
    }
  }

  /** A record of a session's events.ndjson, which names no sources: calls of one tool end in the order they began. */
  private addLogRecord(record: Json): void {
    const at = Date.parse(textOf(record.time)) || numberOf(record.at);
    if (!isSignalKind(textOf(record.event))) return;
    const data = objectOf(record.data);
    const tool = textOf(data.tool);
    let source = `l${this.counter++}`;
    if (record.event === "tool.started") this.running.push({ tool, source });
    if (record.event === "tool.ended") {
      const begun = this.running.findIndex((one) => one.tool === tool);
      source = this.running.splice(begun, begun < 0 ? 0 : 1)[0]?.source ?? source;
    }
    this.pass({ kind: record.event, source, phase: record.event, at, data: record.data });
  }
}

/** Records of earlier versions do not say what their tools are for. */
function withUse(one: Signal, tools: ToolVocabulary): Signal {
  if (one.kind !== "tool.started" && one.kind !== "tool.ended") return one;
  return { ...one, data: { does: useOf(tools, one.data.tool), ...one.data } } as Signal;
}

function wordsOf(value: unknown): readonly string[] | null {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
}

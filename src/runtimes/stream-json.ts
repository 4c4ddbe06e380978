/**
 * The stream-json protocol, as Claude Code speaks it and the scripted agent copies it: one JSON object per line, both
 * ways. This file renders what we say and turns what comes back into signals. Unknown lines are nothing; lines that
 * are not JSON are noise. It never throws, because an agent that prints nonsense is an observation, not a fault.
 */
import type { Signal, SignalData, SignalKind } from "#domain/signal.ts";
import type { Reader } from "./runtime.ts";

export function userLine(message: { readonly id: string; readonly text: string }): string {
  return `${JSON.stringify({
    type: "user",
    message: { role: "user", content: [{ type: "text", text: message.text }] },
    parent_tool_use_id: null,
    uuid: message.id,
  })}\n`;
}

export function interruptLine(id: string): string {
  return `${JSON.stringify({ type: "control_request", request_id: id, request: { subtype: "interrupt" } })}\n`;
}

type Json = Readonly<Record<string, unknown>>;

export function streamReader(leg: number): Reader {
  return new StreamReader(leg);
}

class StreamReader implements Reader {
  private counter = 0;
  private inTurn = false;
  private context = 0;
  private readonly startedAt = new Map<string, { tool: string; at: number }>();

  constructor(private readonly leg: number) {}

  read(line: string, at: number): readonly Signal[] {
    const text = line.trim();
    if (text === "") return [];
    const value = parse(text);
    if (value === undefined) return [this.own("noise", at, { text: text.slice(0, 500) })];
    switch (value.type) {
      case "system":
        return this.system(value, at);
      case "user":
        return this.user(value, at);
      case "assistant":
        return this.assistant(value, at);
      case "result":
        return this.result(value, at);
      default:
        return [];
    }
  }

  private system(line: Json, at: number): Signal[] {
    if (line.subtype === "init") {
      const session = textOf(line.session_id);
      return [
        signal("session.started", `${session}-${this.leg}`, "init", at, {
          session,
          model: textOrNull(line.model),
          version: textOrNull(line.claude_code_version),
        }),
      ];
    }
    if (line.subtype === "api_retry") {
      const delayMs = numberOf(line.retry_delay_ms);
      const cause = textOf(line.error) || "unknown";
      return [this.own("api.retry", at, { attempt: numberOf(line.attempt), cause, delayMs })];
    }
    return [];
  }

  private user(line: Json, at: number): Signal[] {
    const signals: Signal[] = [];
    if (line.isReplay === true) {
      const handedAs = textOf(line.uuid);
      if (handedAs) signals.push(signal("message.taken", handedAs, "taken", at, { handedAs }));
      signals.push(...this.turnBegins("message", at));
    }
    for (const block of blocksOf(line)) {
      if (block.type === "tool_result") signals.push(this.toolResult(block, at));
    }
    return signals;
  }

  private toolResult(block: Json, at: number): Signal {
    const id = textOf(block.tool_use_id);
    const started = this.startedAt.get(id);
    this.startedAt.delete(id);
    const result = contentText(block.content);
    const ok = block.is_error !== true;
    return signal("tool.ended", id, "end", at, {
      tool: started?.tool ?? "",
      ok,
      errorClass: ok ? null : errorClass(result),
      ms: started ? Math.max(0, at - started.at) : null,
      result: result.slice(0, 1000),
    });
  }

  private assistant(line: Json, at: number): Signal[] {
    const message = objectOf(line.message);
    const usage = objectOf(message.usage);
    const filled =
      numberOf(usage.input_tokens) +
      numberOf(usage.cache_read_input_tokens) +
      numberOf(usage.cache_creation_input_tokens) +
      numberOf(usage.output_tokens);
    // A sub-agent's message fills a context of its own.
    if (filled > 0 && !line.parent_tool_use_id) this.context = filled;
    const signals: Signal[] = this.turnBegins("agent", at);
    for (const block of blocksOf(line)) {
      if (block.type === "text" && textOf(block.text)) {
        signals.push(this.own("said", at, { text: textOf(block.text) }, textOrNull(line.uuid)));
      }
      if (block.type === "tool_use") {
        const id = textOf(block.id);
        const tool = textOf(block.name);
        const args = JSON.stringify(block.input ?? {});
        this.startedAt.set(id, { tool, at });
        signals.push(
          signal("tool.started", id, "start", at, {
            tool,
            argsHash: Bun.hash(args).toString(36),
            args: args.slice(0, 1000),
            sub: textOrNull(line.parent_tool_use_id),
          }),
        );
      }
    }
    return signals;
  }

  private result(line: Json, at: number): Signal[] {
    const usage = objectOf(line.usage);
    const models = Object.values(objectOf(line.modelUsage)).map(objectOf);
    const reason = textOf(line.terminal_reason) || textOf(line.subtype) || "unknown";
    const ok = line.is_error !== true && line.subtype === "success";
    const source = textOrNull(line.uuid);
    const text = textOf(line.result);
    const signals: Signal[] = [
      this.own(
        "usage",
        at,
        {
          inputTokens: numberOf(usage.input_tokens),
          outputTokens: numberOf(usage.output_tokens),
          cacheReadTokens: numberOf(usage.cache_read_input_tokens),
          cacheWriteTokens: numberOf(usage.cache_creation_input_tokens),
          contextTokens: this.context,
          contextWindow: models.map((model) => numberOf(model.contextWindow)).find((window) => window > 0) ?? null,
        },
        source,
      ),
    ];
    if (line.is_error === true && (reason === "api_error" || line.api_error_status)) {
      signals.push(this.own("api.failed", at, apiFailure(line, text), source));
    }
    const costUsd = typeof line.total_cost_usd === "number" ? line.total_cost_usd : null;
    signals.push(this.own("turn.ended", at, { ok, reason, text, costUsd }, source));
    this.inTurn = false;
    return signals;
  }

  private turnBegins(by: string, at: number): Signal[] {
    if (this.inTurn) return [];
    this.inTurn = true;
    return [this.own("turn.started", at, { by })];
  }

  /** A signal whose source the CLI does not name; counted by us, apart for each leg. */
  private own<K extends SignalKind>(kind: K, at: number, data: SignalData[K], source?: string | null): Signal {
    this.counter += 1;
    return signal(kind, source || `leg${this.leg}-${this.counter}`, kind, at, data);
  }
}

function signal<K extends SignalKind>(kind: K, source: string, phase: string, at: number, data: SignalData[K]): Signal {
  return { kind, source, phase, at, data } as Signal;
}

function apiFailure(line: Json, text: string): SignalData["api.failed"] {
  const status = numberOf(line.api_error_status);
  const resets = /reset[^0-9]*(\d{10,13})/i.exec(text)?.[1];
  const resetsAt = resets ? Number(resets) * (resets.length <= 10 ? 1000 : 1) : null;
  const cause =
    status === 429 || /usage limit|rate limit/i.test(text)
      ? "quota"
      : status === 401 || status === 403
        ? "auth"
        : /credit balance/i.test(text)
          ? "billing"
          : /prompt is too long/i.test(text)
            ? "too_long"
            : status === 529 || status >= 500
              ? "overloaded"
              : status === 0
                ? "network"
                : "unknown";
  return { cause, detail: text.slice(0, 500), resetsAt };
}

/** A short name for a kind of failure, so that the same error is recognised when it comes again. */
function errorClass(text: string): string {
  const exit = /^(?:Error: )?Exit code (\d+)/i.exec(text)?.[1];
  if (exit) return `exit-${exit}`;
  const named = /\b([A-Z][A-Za-z]*(?:Error|Exception)|E[A-Z]{3,}|command not found|permission denied)\b/i.exec(
    text,
  )?.[1];
  return named ? named.toLowerCase().replace(/\s+/g, "-") : "error";
}

function parse(text: string): Json | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // half a line or nonsense: noise, as the caller records it
    throw error;
  }
}

function blocksOf(line: Json): Json[] {
  const { content } = objectOf(line.message);
  return Array.isArray(content) ? content.map(objectOf) : [];
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textOf(objectOf(block).text)).join("\n");
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

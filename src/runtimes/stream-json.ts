/**
 * The stream-json protocol, as Claude Code speaks it and the scripted agent copies it: one JSON object per line, both
 * ways. This file renders what we say and turns what comes back into signals. Unknown lines are nothing; lines that
 * are not JSON are noise. It never throws, because an agent that prints nonsense is an observation, not a fault.
 */
import type { Signal, SignalData, SignalKind } from "#domain/signal.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";
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
  private greeted = false;
  private context = 0;
  /** What this process had spent by the end of its last turn: results tell totals, and each leg counts from nothing. */
  private spentUsd = 0;
  /** When the provider said that the quota comes back. */
  private quotaResetsAt: number | null = null;
  private readonly startedAt = new Map<string, { tool: string; at: number }>();

  constructor(private readonly leg: number) {}

  read(line: string, at: number): readonly Signal[] {
    const text = line.trim();
    if (text === "") return [];
    const value = parse(text);
    if (value === undefined) return [this.own("noise", at, { text: brief(text, 500) })];
    switch (value.type) {
      case "system":
        return this.system(value, at);
      case "user":
        return this.user(value, at);
      case "assistant":
        return this.assistant(value, at);
      case "result":
        return this.result(value, at);
      case "rate_limit_event":
        this.quotaResetsAt = resetOf(value) ?? this.quotaResetsAt;
        return [];
      default:
        return [];
    }
  }

  private system(line: Json, at: number): Signal[] {
    if (line.subtype === "init") {
      // Said again at the beginning of every turn.
      if (this.greeted) return [];
      this.greeted = true;
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
    return signal("tool.ended", id || this.ownSource(), "end", at, {
      tool: started?.tool ?? "",
      ok,
      errorClass: ok ? null : errorClass(result),
      ms: started ? Math.max(0, at - started.at) : null,
      result: brief(result, 1000),
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
    for (const [index, block] of blocksOf(line).entries()) {
      if (block.type === "text" && textOf(block.text)) {
        const uuid = textOrNull(line.uuid);
        const source = uuid && index > 0 ? `${uuid}.${index}` : uuid;
        signals.push(this.own("said", at, { text: brief(textOf(block.text), SAID) }, source));
      }
      if (block.type === "tool_use") signals.push(this.toolUse(block, line, at));
    }
    return signals;
  }

  private toolUse(block: Json, line: Json, at: number): Signal {
    const id = textOf(block.id) || this.ownSource();
    const tool = textOf(block.name);
    const args = jsonOf(block.input ?? {});
    // A call that never ends must not be remembered for ever.
    if (this.startedAt.size >= OPEN_CALLS) this.startedAt.delete(this.startedAt.keys().next().value ?? "");
    this.startedAt.set(id, { tool, at });
    return signal("tool.started", id, "start", at, {
      tool: brief(tool, 200),
      argsHash: Bun.hash(args).toString(36),
      args: brief(args, 1000),
      sub: textOrNull(line.parent_tool_use_id),
    });
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
    if (line.is_error === true && (API_REASONS.has(reason) || line.api_error_status)) {
      const failure = apiFailure(line, text);
      const resetsAt = failure.cause === "quota" ? (failure.resetsAt ?? this.quotaResetsAt) : null;
      signals.push(this.own("api.failed", at, { ...failure, resetsAt }, source));
    }
    const costUsd = this.costOfTurn(line.total_cost_usd);
    signals.push(this.own("turn.ended", at, { ok, reason, text: brief(text, 2000), costUsd }, source));
    this.inTurn = false;
    return signals;
  }

  private costOfTurn(total: unknown): number | null {
    if (typeof total !== "number" || !Number.isFinite(total)) return null;
    const cost = Math.max(0, total - this.spentUsd);
    this.spentUsd = Math.max(total, this.spentUsd);
    return cost;
  }

  private turnBegins(by: string, at: number): Signal[] {
    if (this.inTurn) return [];
    this.inTurn = true;
    return [this.own("turn.started", at, { by })];
  }

  /** A signal whose source the CLI does not name; counted by us, apart for each leg. */
  private own<K extends SignalKind>(kind: K, at: number, data: SignalData[K], source?: string | null): Signal {
    return signal(kind, source || this.ownSource(), kind, at, data);
  }

  private ownSource(): string {
    this.counter += 1;
    return `leg${this.leg}-${this.counter}`;
  }
}

/** What is kept of one utterance. */
const SAID = 16 * 1024;
/** How many calls can be under way before the oldest is forgotten. */
const OPEN_CALLS = 1_000;
/** More of a text is looked at than kept, so that a secret across the cut is still seen whole. */
const BEYOND_THE_CUT = 8 * 1024;

function brief(text: string, bytes: number): string {
  return clip(redact(text.slice(0, bytes + BEYOND_THE_CUT)), bytes);
}

function signal<K extends SignalKind>(kind: K, source: string, phase: string, at: number, data: SignalData[K]): Signal {
  return { kind, source, phase, at, data } as Signal;
}

const API_REASONS: ReadonlySet<string> = new Set(["api_error", "prompt_too_long"]);

type ApiCause = SignalData["api.failed"]["cause"];

/** The first that fits. What the text says about money or length is more exact than the 400 it comes with. */
const API_CAUSES: readonly (readonly [ApiCause, (status: number, text: string, reason: string) => boolean])[] = [
  ["quota", (status) => status === 429],
  ["auth", (status) => status === 401 || status === 403],
  ["overloaded", (status) => status >= 500],
  ["billing", (_, text) => /credit balance/i.test(text)],
  ["too_long", (_, text, reason) => reason === "prompt_too_long" || /prompt is too long/i.test(text)],
  ["quota", (_, text) => /usage limit|rate limit/i.test(text)],
  ["network", (status) => status === 0],
];

function apiFailure(line: Json, text: string): SignalData["api.failed"] {
  const status = numberOf(line.api_error_status);
  const reason = textOf(line.terminal_reason);
  const cause = API_CAUSES.find(([, fits]) => fits(status, text, reason))?.[0] ?? "unknown";
  return { cause, detail: brief(text, 500), resetsAt: cause === "quota" ? resetIn(text) : null };
}

/** A time after the word reset: seconds or milliseconds since 1970, or as people write it. */
function resetIn(text: string): number | null {
  const found = /reset[^0-9]{0,40}(\d{4}-\d\d-\d\dT[0-9:.]{5,15}(?:Z|[+-]\d\d:\d\d)|\d{13}|\d{10})/i.exec(text)?.[1];
  if (found === undefined) return null;
  if (found.includes("T")) return Date.parse(found) || null;
  return Number(found) * (found.length === 10 ? 1000 : 1);
}

/** Only a limit that was reached says when it ends; a warning says nothing about now. */
function resetOf(line: Json): number | undefined {
  const info = objectOf(line.rate_limit_info);
  const seconds = numberOf(info.resetsAt);
  return info.status === "rejected" && seconds > 0 ? seconds * 1000 : undefined;
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
    // Half a line, nonsense, or nested deeper than the stack: noise, as the caller records it.
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '"nested too deeply to be written down"';
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

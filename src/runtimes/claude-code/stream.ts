/**
 * The stream-json protocol, as Claude Code speaks it and the scripted agent copies it: one JSON object per line, both
 * ways. This file renders what we say and turns what comes back into signals. Unknown lines are nothing; lines that
 * are not JSON are noise. It never throws, because an agent that prints nonsense is an observation, not a fault.
 */

import { failureIn, resultHash, shapeOf } from "#domain/core/similarity.ts";
import { argumentsOf, interpretCall, type ToolUse, type ToolVocabulary } from "#domain/core/tools.ts";
import { UPDATE_WORD } from "#domain/reports/update-block.ts";
import { gitEffects } from "#domain/signals/git-effects.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import type { ToolEffect } from "#domain/signals/tool-effects.ts";
import { toolEffects } from "#domain/signals/tool-effects.ts";
import { effectSignals } from "#runtimes/effect-signals.ts";
import { errorClass } from "#runtimes/error-class.ts";
import { contentText, type Json, jsonObject, numberOf, objectOf, textOf, textOrNull } from "#runtimes/json.ts";
import type { Reader, Totals } from "#runtimes/runtime.ts";
import { clip } from "#telemetry/bounds.ts";
import { redact } from "#telemetry/redact.ts";
import { causeOfFailure, resetIn } from "./api-failure.ts";
import { reserveOf } from "./compaction.ts";
import { UsageLedger } from "./stream-usage.ts";
import { CLAUDE_TOOLS } from "./tools.ts";
import { sumTokens, wireTokens } from "./wire.ts";

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

/** A maker of readers, one for each leg of an attempt; what was spent is counted across them. */
export function streamReaders(tools: ToolVocabulary = CLAUDE_TOOLS): (leg: number, before?: Totals) => Reader {
  const ledger = new UsageLedger();
  return (leg, before) => {
    ledger.leg(before);
    return new StreamReader(leg, ledger, tools);
  };
}

interface OpenCall {
  readonly tool: string;
  readonly at: number;
  readonly sub: string | null;
  readonly does: ToolUse;
  readonly effects: readonly ToolEffect[];
}

class StreamReader implements Reader {
  private counter = 0;
  private inTurn = false;
  private started = false;
  private context = 0;
  private model = "";
  /** The message counted last, and how many times more it was counted. */
  private counting = "";
  private countings = 0;
  private resetsAt: number | null = null;
  private readonly startedAt = new Map<string, OpenCall>();
  private readonly denied = new Set<string>();
  /** Agents of the agent's own that continue after its turn; a shell left running is no work. */
  private background: readonly string[] = [];
  private heldEnd: Signal<"turn.ended"> | null = null;

  constructor(
    private readonly leg: number,
    private readonly ledger: UsageLedger,
    private readonly tools: ToolVocabulary,
  ) {}

  read(line: string, at: number): readonly Signal[] {
    const text = line.trim();
    if (text === "") return [];
    const value = jsonObject(text);
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
        this.resetsAt = resetOf(value) ?? this.resetsAt;
        return [];
      default:
        return [];
    }
  }

  private system(line: Json, at: number): Signal[] {
    switch (line.subtype) {
      case "init":
        return this.init(line, at);
      case "api_retry": {
        const delayMs = Math.round(numberOf(line.retry_delay_ms));
        const cause = textOf(line.error) || "unknown";
        const retry = this.own("api.retry", at, { attempt: numberOf(line.attempt), cause, delayMs });
        return [...this.turnBegins("message", at), retry];
      }
      case "compact_boundary":
        return [this.readCompaction(line, at)];
      case "permission_denied":
        this.denied.add(textOf(line.tool_use_id));
        return [];
      case "background_tasks_changed":
        return this.tasksChanged(line);
      default:
        return [];
    }
  }

  /** It comes with every turn; the session starts once. */
  private init(line: Json, at: number): Signal[] {
    if (this.started) return [];
    this.started = true;
    const session = textOf(line.session_id);
    return [
      signal("session.started", `${session}-${this.leg}`, "init", at, {
        session,
        model: textOrNull(line.model),
        version: textOrNull(line.claude_code_version),
        ...reserveOf(textOf(line.claude_code_version)),
      }),
    ];
  }

  private readCompaction(line: Json, at: number): Signal {
    const about = objectOf(line.compact_metadata);
    const afterTokens = typeof about.post_tokens === "number" ? about.post_tokens : null;
    if (afterTokens !== null) this.context = afterTokens;
    const data = { trigger: textOf(about.trigger) || "auto", beforeTokens: numberOf(about.pre_tokens), afterTokens };
    return this.own("compacted", at, data, textOrNull(line.uuid));
  }

  /** The list is whole each time. With the last agent gone, a turn that was only waiting for it has ended. */
  private tasksChanged(line: Json): Signal[] {
    const tasks = Array.isArray(line.tasks) ? line.tasks.map(objectOf) : [];
    this.background = tasks
      .filter((task) => !/bash|shell|monitor/.test(textOf(task.task_type)))
      .map((task) => textOf(task.task_id));
    if (this.background.length > 0 || this.heldEnd === null) return [];
    const end = this.heldEnd;
    this.heldEnd = null;
    this.inTurn = false;
    return [end];
  }

  private user(line: Json, at: number): Signal[] {
    const signals: Signal[] = [];
    if (line.isReplay === true) {
      const handedAs = textOf(line.uuid);
      if (handedAs) signals.push(signal("message.taken", handedAs, "taken", at, { handedAs }));
      signals.push(...this.turnBegins("message", at));
    }
    // Newer versions say beside the result that the call was never made; some refusals tell it nowhere else.
    for (const meta of Array.isArray(line.tool_result_meta) ? line.tool_result_meta.map(objectOf) : []) {
      if (objectOf(meta.permission_decision).decision === "reject") this.denied.add(textOf(meta.id));
    }
    for (const block of blocksOf(line)) {
      if (block.type === "tool_result") signals.push(...this.toolResult(block, at));
    }
    return signals;
  }

  private toolResult(block: Json, at: number): Signal[] {
    const id = textOf(block.tool_use_id);
    const started = this.startedAt.get(id);
    this.startedAt.delete(id);
    const result = contentText(block.content);
    const ok = block.is_error !== true;
    const denied = this.denied.delete(id);
    const ended = signal("tool.ended", id || this.ownSource(), "end", at, {
      tool: started?.tool ?? "",
      does: started?.does ?? "other",
      ok,
      errorClass: ok ? null : denied ? "denied" : errorClass(result),
      ms: started ? Math.max(0, at - started.at) : null,
      result: brief(result, 1000),
      resultHash: resultHash(result),
      ...failureOf(result, ok, started?.does),
    });
    return ok && started ? [ended, ...effectSignals(started.effects, { ...started, id, at })] : [ended];
  }

  private assistant(line: Json, at: number): Signal[] {
    const message = objectOf(line.message);
    // What the CLI says in the model's name after a failure; the result tells it as what it is.
    if (message.model === "<synthetic>") return this.turnBegins("message", at);
    const sub = textOrNull(line.parent_tool_use_id);
    const signals: Signal[] = [...this.turnBegins("agent", at), ...this.countUsage(message, sub !== null, at)];
    for (const [index, block] of blocksOf(line).entries()) {
      if (block.type === "text" && textOf(block.text) && sub === null) {
        const uuid = textOrNull(line.uuid);
        const source = uuid && index > 0 ? `${uuid}.${index}` : uuid;
        signals.push(this.own("said", at, { text: brief(textOf(block.text), SAID) }, source));
      }
      if (block.type === "tool_use") signals.push(this.toolUse(block, sub, textOf(message.id), at));
    }
    return signals;
  }

  private toolUse(block: Json, sub: string | null, step: string, at: number): Signal {
    const id = textOf(block.id) || this.ownSource();
    const tool = textOf(block.name);
    const input = objectOf(block.input);
    const meaning = interpretCall(this.tools, tool, input);
    const args = jsonOf(meaning.command === undefined ? (block.input ?? {}) : argumentsOf(this.tools, meaning, input));
    // A call that never ends must not be remembered for ever.
    if (this.startedAt.size >= OPEN_CALLS) this.startedAt.delete(this.startedAt.keys().next().value ?? "");
    this.startedAt.set(id, { tool, at, sub, does: meaning.use, effects: toolEffects(meaning, gitEffects) });
    return signal("tool.started", id, "start", at, {
      tool: brief(tool, 200),
      does: meaning.use,
      argsHash: Bun.hash(args).toString(36),
      args: brief(args, 1000),
      sub,
      shape: shapeOf(args),
      ...(step === "" ? {} : { step }),
    });
  }

  /** Each message once: of its blocks the first, and one that says more. */
  private countUsage(message: Json, ofSubagent: boolean, at: number): Signal[] {
    const tokens = wireTokens(objectOf(message.usage));
    const id = textOf(message.id);
    const filled = sumTokens(tokens);
    if (filled === 0) return [];
    const counted = this.ledger.message(id, tokens);
    // A sub-agent's message fills a context of its own.
    if (!ofSubagent) {
      if (counted !== undefined || id === "")
        this.context = Math.max(filled, id !== "" && id === this.counting ? this.context : 0);
      this.model = textOf(message.model);
    }
    if (counted === undefined) return [];
    const again = id === this.counting ? this.countings + 1 : 0;
    this.counting = id;
    this.countings = again;
    const phase = again === 0 ? "usage" : `usage${again}`;
    return [signal("usage", id, phase, at, { ...counted, contextTokens: this.context, contextWindow: null })];
  }

  private result(line: Json, at: number): Signal[] {
    const reason = textOf(line.terminal_reason) || textOf(line.subtype) || "unknown";
    const ok = line.is_error !== true && line.subtype === "success";
    const source = textOrNull(line.uuid);
    const text = textOf(line.result);
    const { rest, costUsd } = this.ledger.result(sessionTotals(line), wireTokens(objectOf(line.usage)));
    const contextWindow = this.contextWindow(line);
    const signals: Signal[] = [this.own("usage", at, { ...rest, contextTokens: this.context, contextWindow }, source)];
    // Older versions call a failed turn "completed" and a success, and only the flag tells.
    const unsaid = line.subtype === "success" && reason === "completed";
    if (line.is_error === true && (unsaid || FAILURES.has(reason) || line.api_error_status)) {
      signals.push(this.own("api.failed", at, apiFailure(line, text, this.resetsAt, at), source));
    }
    const end = this.own(
      "turn.ended",
      at,
      { ok, reason, text: lastWords(text), costUsd },
      source,
    ) as Signal<"turn.ended">;
    if (ok && this.background.length > 0) {
      // It waits for agents of its own and continues by itself when they are done: that is work, not idleness.
      this.heldEnd = end;
      return signals;
    }
    this.heldEnd = null;
    this.inTurn = false;
    return [...signals, end];
  }

  private contextWindow(line: Json): number | null {
    const models = objectOf(line.modelUsage);
    const own = numberOf(objectOf(models[this.model]).contextWindow);
    if (own > 0) return own;
    return (
      Object.values(models)
        .map((model) => numberOf(objectOf(model).contextWindow))
        .find((window) => window > 0) ?? null
    );
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

/** What is looked at of one utterance; the store keeps less of it, as it is told. */
const SAID = 16 * 1024;
/** How many calls can be under way before the oldest is forgotten. */
const OPEN_CALLS = 1_000;
/** More of a text is looked at than kept, so that a secret across the cut is still seen whole. */
const BEYOND_THE_CUT = 8 * 1024;

/** A report stands at the end of what may be a long answer; whoever stores it cuts it to size. */
const REPORTED = 256 * 1024;

function lastWords(text: string): string {
  return brief(text, text.includes(UPDATE_WORD) ? REPORTED : SAID);
}

function failureOf(result: string, ok: boolean, does: ToolUse | undefined): Pick<SignalData["tool.ended"], "failure"> {
  const failure = failureIn(result, ok, does === "shell");
  return failure === undefined ? {} : { failure };
}

function brief(text: string, bytes: number): string {
  return clip(redact(text.slice(0, bytes + BEYOND_THE_CUT)), bytes);
}

function signal<K extends SignalKind>(kind: K, source: string, phase: string, at: number, data: SignalData[K]): Signal {
  return { kind, source, phase, at, data } as Signal;
}

/** The session's totals over all its models, sub-agents included. */
function sessionTotals(line: Json): Totals {
  const models = Object.values(objectOf(line.modelUsage)).map(objectOf);
  const sum = (field: string) => models.reduce((total, model) => total + numberOf(model[field]), 0);
  return {
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: sum("cacheReadInputTokens"),
    cacheWriteTokens: sum("cacheCreationInputTokens"),
    costUsd: numberOf(line.total_cost_usd),
  };
}

/** Ends of a turn that are the provider's doing. */
const FAILURES: ReadonlySet<string> = new Set(["api_error", "prompt_too_long"]);

/** Why the provider gave up, as its result line says; `at`: when it said so, where that is known. */
export function apiFailure(
  line: Json,
  text: string,
  knownReset: number | null,
  at: number | null = null,
): SignalData["api.failed"] {
  const cause = causeOfFailure(numberOf(line.api_error_status), textOf(line.terminal_reason), text);
  return { cause, detail: brief(text, 500), resetsAt: cause === "quota" ? (resetIn(text, at) ?? knownReset) : null };
}

/** Only a limit that was reached says when it ends; a warning says nothing about now. */
function resetOf(line: Json): number | undefined {
  const info = objectOf(line.rate_limit_info);
  const seconds = numberOf(info.resetsAt);
  return info.status === "rejected" && seconds > 0 ? seconds * 1000 : undefined;
}

/** No tool takes arguments nested like that; writing them down would cost seconds before the stack gives up. */
const DEEPEST_ARGUMENTS = 500;

function jsonOf(value: unknown): string {
  return isDeeper(value, DEEPEST_ARGUMENTS) ? '"nested too deeply to be written down"' : JSON.stringify(value);
}

function isDeeper(value: unknown, most: number): boolean {
  const open: { readonly value: object; readonly depth: number }[] = [];
  const visit = (one: unknown, depth: number) => {
    if (typeof one === "object" && one !== null) open.push({ value: one, depth });
  };
  visit(value, 1);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > most) return true;
    for (const inner of Object.values(next.value)) visit(inner, next.depth + 1);
  }
  return false;
}

function blocksOf(line: Json): Json[] {
  const { content } = objectOf(line.message);
  return Array.isArray(content) ? content.map(objectOf) : [];
}

/**
 * The life of a scripted agent: it takes messages, plays turns and says so on its stream. One method per thing that
 * can happen in a turn; the order of lines, hooks and transcript entries is Claude Code's, because drivers are built
 * on that order. What a message means is decided in `play.ts`, what a step does in `moves.ts`; time passes here.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import {
  addUsage,
  messageUsage,
  NO_SCRIPTED_SPENDING,
  resultLine,
  type ScriptedSpending,
  type ScriptedUsage,
  type TurnEnd,
  USUAL_USAGE,
} from "./events.ts";
import type { Hooks, HookVerdict, Speech } from "./hooks.ts";
import { type ControlRequest, type Inbox, textMessage, type UserMessage } from "./inbox.ts";
import type { PlainStep, Script } from "./language.ts";
import { CLOSING_TEXT, type Move, toToolCall } from "./moves.ts";
import { hear, nextScript, nextStep, overhear, type Play } from "./play.ts";
import type { PipeLineWriter } from "./stream.ts";
import { type ToolBox, type ToolResult, useTool } from "./tools.ts";
import { LOST_CALL, type Memory, type Transcript } from "./transcript.ts";

export interface ConversationParts {
  readonly session: string;
  readonly resumed: boolean;
  readonly cwd: string;
  readonly model: string;
  readonly permissionMode: string;
  readonly speed: number;
  /** Where things are remembered across sessions. */
  readonly home: string;
  readonly echoes: boolean;
  readonly inbox: Inbox;
  /** Every line, or only the result, as the output format wants it. */
  readonly out: (line: Record<string, unknown>) => Promise<void>;
  readonly stderr: PipeLineWriter;
  readonly hooks: Hooks;
  readonly speech: Speech;
  readonly transcript: Transcript;
  readonly memory: Memory;
  readonly tools: ToolBox;
}

type ToolMove = Extract<Move, { kind: "tool" }>;
type Taken = "heard" | "ignored";
type Refusal = Extract<Move, { kind: "refusal" }>;

/** As many times a Stop hook is obeyed in one turn. */
const STOP_BLOCK_CAP = 8;
const MAX_RETRIES = 10;
/** The longest a timer can wait; a hang is that, again and again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class Conversation {
  private play: Play;
  private readonly scripts: Map<string, Script>;
  private total: ScriptedSpending = NO_SCRIPTED_SPENDING;
  private turn = newTurn();
  private busy = false;
  private exitCode: number | undefined;
  private failed = false;
  private silent = false;

  constructor(private readonly parts: ConversationParts) {
    this.play = parts.memory.play;
    this.scripts = parts.memory.scripts;
  }

  /** Until no message can come any more, or the script ends the process. Returns the exit code. */
  async run(): Promise<number> {
    await this.begin();
    while (this.exitCode === undefined) {
      const queued = nextScript(this.play);
      if (queued !== undefined) this.play = queued;
      const message = queued === undefined ? await this.nextMessage() : undefined;
      if ((queued === undefined && message === undefined) || this.exitCode !== undefined) break;
      await this.playTurn(message);
    }
    await this.parts.hooks.call("SessionEnd", { reason: "other" });
    return this.exitCode ?? (this.failed ? 1 : 0);
  }

  /** Ends what is under way; the session stays usable. Nothing happens when nothing is. */
  interrupt(): void {
    if (this.busy) this.turn.abort.abort();
  }

  /** Makes `run` come to its end with this exit code: the running tool is ended, and what waits is left. */
  leave(exitCode: number, how: "silently" | "with a result"): void {
    this.exitCode = exitCode;
    this.silent = how === "silently";
    this.interrupt();
    this.parts.inbox.close();
  }

  async answer(request: ControlRequest): Promise<void> {
    const response = this.responseTo(request);
    const body =
      response === undefined
        ? { subtype: "error", request_id: request.id, error: `Unsupported control request: ${request.subtype}` }
        : { subtype: "success", request_id: request.id, response };
    if (request.subtype === "interrupt") this.interrupt();
    await this.parts.out({ type: "control_response", response: body });
  }

  private get usage(): ScriptedUsage {
    return { ...USUAL_USAGE, ...this.play.usage };
  }

  private responseTo(request: ControlRequest): Record<string, unknown> | undefined {
    switch (request.subtype) {
      case "initialize":
        return { commands: [], agents: [], models: [{ value: this.parts.model }], output_style: "default" };
      case "interrupt":
      case "set_permission_mode":
        return {};
      case "get_context_usage": {
        const { contextWindow } = this.usage;
        const used = this.usage.inputTokens + this.usage.cacheReadTokens;
        const percentage = Math.round((used / contextWindow) * 100);
        return { totalTokens: used, maxTokens: contextWindow, percentage, model: this.parts.model, categories: [] };
      }
      default:
        return undefined;
    }
  }

  private async begin(): Promise<void> {
    for (const id of this.parts.memory.lostCalls) {
      const content = [{ type: "tool_result", tool_use_id: id, content: LOST_CALL, is_error: true }];
      this.note({ type: "user", message: { role: "user", content } });
    }
    const source = this.parts.resumed ? "resume" : "startup";
    const shown = this.parts.hooks.has("SessionStart");
    const hook = { hook_name: `SessionStart:${source}`, hook_event: "SessionStart" };
    if (shown) await this.say({ type: "system", subtype: "hook_started", ...hook });
    const verdict = await this.parts.hooks.call("SessionStart", { source, model: this.parts.model }, source);
    if (shown) await this.say({ type: "system", subtype: "hook_response", ...hook, outcome: "success" });
    this.readContext("SessionStart", verdict);
  }

  private async nextMessage(): Promise<UserMessage | undefined> {
    if (this.play.ignoring !== "deaf") return this.parts.inbox.next();
    await this.parts.inbox.end();
    return undefined;
  }

  private async playTurn(message: UserMessage | undefined): Promise<void> {
    this.turn = newTurn();
    this.busy = true;
    await this.say(this.initLine());
    const taken = message === undefined ? "heard" : await this.take(message, false);
    const end = typeof taken === "string" ? await this.playAndStop(taken) : taken;
    this.busy = false;
    this.failed = end.kind === "failed";
    await this.say(
      resultLine(end, {
        session: this.parts.session,
        uuid: crypto.randomUUID(),
        model: this.parts.model,
        durationMs: Math.round(performance.now() - this.turn.startedAt),
        lastText: this.turn.lastText,
        turn: this.turn.spent,
        total: this.total,
        contextWindow: this.usage.contextWindow,
        denials: this.turn.denials,
      }),
    );
  }

  /** Plays, and plays on as long as a Stop hook wants more. */
  private async playAndStop(first: Taken): Promise<TurnEnd> {
    let taken = first;
    for (let blocks = 0; ; blocks += 1) {
      const end: TurnEnd = taken === "ignored" ? { kind: "completed" } : await this.playOn();
      if (end.kind === "failed") {
        await this.parts.hooks.call("StopFailure", { error: this.turn.failure, last_assistant_message: end.message });
      }
      if (end.kind !== "completed") return end;
      const verdict = await this.parts.hooks.call("Stop", {
        stop_hook_active: blocks > 0,
        last_assistant_message: this.turn.lastText,
        background_tasks: [],
      });
      const more = wishOf(verdict);
      if (more === undefined || blocks >= STOP_BLOCK_CAP) return end;
      taken = await this.hearText(textMessage(more, crypto.randomUUID()), false);
    }
  }

  private async playOn(): Promise<TurnEnd> {
    let afterTool = false;
    for (;;) {
      if (this.turn.abort.signal.aborted) return { kind: "interrupted", during: "thought" };
      const next = nextStep(this.play, this.scripts);
      if (next === undefined) break;
      this.play = next.play;
      if (this.wasPlayedOnce(next.step)) continue;
      const move = toToolCall(next.step, this.parts.speed);
      const end = await this.perform(move);
      if (end !== undefined) return end;
      afterTool = move.kind === "tool";
    }
    if (afterTool) await this.speak(CLOSING_TEXT);
    return { kind: "completed" };
  }

  /** One move; a value when the turn ends with it. */
  private async perform(move: Move): Promise<TurnEnd | undefined> {
    switch (move.kind) {
      case "text":
        await this.speak(move.text);
        return undefined;
      case "tool":
        return this.callTool(move);
      case "pause":
        await pause(move.ms, this.turn.abort.signal);
        return undefined;
      case "end-turn":
        await this.speak(move.text);
        return { kind: "completed" };
      case "flood":
        await this.flood(move);
        return undefined;
      case "refusal":
        return this.beRefused(move);
      case "none":
        return undefined;
    }
  }

  private async callTool(move: ToolMove): Promise<TurnEnd | undefined> {
    const id = `toolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
    const said = this.parts.speech.tool(move.tool, move.input);
    await this.assistant({ type: "tool_use", id, ...said });
    const asked = { tool_name: said.name, tool_input: said.input, tool_use_id: id };
    const before = await this.parts.hooks.call("PreToolUse", this.withMode(asked), said.name);
    const input = before.updatedInput ?? move.input;
    const startedAt = performance.now();
    const result =
      before.blocked === undefined
        ? await useTool(this.parts.tools, { id, tool: move.tool, input }, this.turn.abort.signal)
        : refuseCall(`PreToolUse:${said.name} hook error: ${before.blocked}`);
    if (before.blocked !== undefined) this.turn.denials.push(asked);
    await this.showResult(id, result);
    if (result.interrupted) return { kind: "interrupted", during: "tool" };
    this.readContext("PreToolUse", before);
    const call = {
      ...asked,
      tool_input: before.updatedInput ?? said.input,
      durationMs: Math.round(performance.now() - startedAt),
    };
    const stopped = await this.afterTool(call, result, before.blocked !== undefined);
    return before.stopped || stopped ? { kind: "hook-stopped" } : undefined;
  }

  /** The boundary after a tool: hooks see what it did, then waiting messages are taken. True: a hook ends the turn. */
  private async afterTool(
    call: { tool_name: string; tool_input: object; tool_use_id: string; durationMs: number },
    result: ToolResult,
    refused: boolean,
  ): Promise<boolean> {
    const { durationMs, ...asked } = call;
    const verdicts: HookVerdict[] = [];
    if (!refused) {
      const event = result.ok ? "PostToolUse" : "PostToolUseFailure";
      const outcome = result.ok
        ? { tool_response: result.response }
        : { error: result.content.slice(0, 2_000), is_interrupt: false };
      const fields = this.withMode({ ...asked, ...outcome, duration_ms: durationMs });
      verdicts.push(await this.parts.hooks.call(event, fields, asked.tool_name));
      this.readContext(event, verdicts[0]);
    }
    const batch = { tool_calls: [{ ...asked, tool_response: result.content }] };
    verdicts.push(await this.parts.hooks.call("PostToolBatch", this.withMode(batch)));
    this.readContext("PostToolBatch", verdicts.at(-1));
    if (this.play.ignoring !== "deaf") for (const message of this.parts.inbox.takeAll()) await this.take(message, true);
    return verdicts.some((verdict) => verdict.stopped);
  }

  /** A message is taken: echoed, shown to the hooks, heard. A turn's end when a hook refuses it. */
  private async take(message: UserMessage, busy: boolean): Promise<Taken | TurnEnd> {
    const { session, echoes } = this.parts;
    const echo = { type: "user", message: message.message, parent_tool_use_id: null, uuid: message.id };
    if (echoes) await this.parts.out({ ...echo, session_id: session, isReplay: true });
    const verdict = await this.parts.hooks.call("UserPromptSubmit", this.withMode({ prompt: message.text }));
    if (verdict.blocked !== undefined) return { kind: "prompt-blocked", reason: verdict.blocked };
    const taken = await this.hearText(message, busy);
    this.readContext("UserPromptSubmit", verdict);
    return taken;
  }

  private async hearText(message: UserMessage, busy: boolean): Promise<Taken> {
    const heard = hear(this.play, this.scripts, { id: message.id, text: message.text, busy });
    this.play = heard.play;
    if (heard.script !== undefined) this.scripts.set(message.id, heard.script);
    const content = [{ type: "text", text: message.text }];
    this.parts.transcript.add({ type: "user", uuid: message.id, message: { role: "user", content }, play: this.play });
    if (heard.reply !== undefined) await this.speak(heard.reply);
    return heard.ignored === true ? "ignored" : "heard";
  }

  /** What hooks put before the model goes into the transcript, and the rules of the script may act on it. */
  private readContext(event: string, verdict: HookVerdict | undefined): void {
    const feedback = event.startsWith("Post") ? verdict?.blocked : undefined;
    const texts = feedback === undefined ? [] : [`${event} hook feedback: ${feedback}`];
    for (const text of [...texts, ...(verdict?.context ?? [])]) {
      this.play = overhear(this.play, this.scripts, text);
      this.note({
        type: "attachment",
        attachment: { type: "hook_additional_context", hookEvent: event, content: [text] },
      });
    }
  }

  private async speak(text: string): Promise<void> {
    this.turn.lastText = text;
    await this.assistant({ type: "text", text });
  }

  /** One answer of the model with one block. Written down before it is said. */
  private async assistant(block: Record<string, unknown>): Promise<void> {
    this.turn.spent = addUsage(this.turn.spent, this.usage);
    this.total = addUsage(this.total, this.usage);
    const uuid = crypto.randomUUID();
    const message = {
      id: `msg_${uuid.replaceAll("-", "").slice(0, 24)}`,
      type: "message",
      role: "assistant",
      model: this.parts.model,
      content: [block],
      stop_reason: null,
      usage: messageUsage(this.usage),
    };
    this.parts.transcript.add({ type: "assistant", uuid, message, play: this.play });
    await this.say({ type: "assistant", message, parent_tool_use_id: null, uuid });
  }

  private async showResult(id: string, result: ToolResult): Promise<void> {
    const block = { type: "tool_result", tool_use_id: id, content: result.content, is_error: !result.ok };
    const message = { role: "user", content: [block] };
    const uuid = this.note({ type: "user", message });
    await this.say({ type: "user", message, parent_tool_use_id: null, uuid, tool_use_result: result.response });
  }

  /** Noise on purpose: not worth a place in the transcript. */
  private async flood(move: Extract<Move, { kind: "flood" }>): Promise<void> {
    const noise = "flood ".repeat(Math.ceil(move.bytes / 6)).slice(0, move.bytes);
    const content = [{ type: "text", text: noise }];
    const message = { id: "msg_flood", type: "message", role: "assistant", model: this.parts.model, content };
    for (let line = 0; line < move.lines && !this.turn.abort.signal.aborted; line += 1) {
      if (move.to === "stderr") await this.parts.stderr.text(`${noise}\n`);
      else await this.say({ type: "assistant", message: { ...message, usage: messageUsage(this.usage) } });
    }
  }

  private async beRefused(move: Refusal): Promise<TurnEnd | undefined> {
    for (let attempt = 1; attempt <= move.attempts && !this.turn.abort.signal.aborted; attempt += 1) {
      await this.say({
        type: "system",
        subtype: "api_retry",
        attempt,
        max_retries: MAX_RETRIES,
        retry_delay_ms: move.retryAfterMs,
        error_status: move.status,
        error: move.error,
      });
      await pause(move.retryAfterMs, this.turn.abort.signal);
    }
    if (!move.givesUp || this.turn.abort.signal.aborted) return undefined;
    this.turn.failure = move.error;
    if (move.resetsAt !== undefined) {
      const resetsAt = Math.floor(Date.parse(move.resetsAt) / 1000);
      await this.say({ type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt } });
    }
    await this.speak(move.message);
    if (move.exitCode !== undefined) this.exitCode = move.exitCode;
    return { kind: "failed", status: move.status, message: move.message };
  }

  /** A step that is to happen once leaves a mark that outlives the session, since its point is to end it. */
  private wasPlayedOnce(step: PlainStep): boolean {
    if (!("once" in step) || !step.once) return false;
    const folder = `${this.parts.home}/played-once`;
    const place = step.once === "anywhere" ? "" : this.parts.cwd;
    const mark = `${folder}/${Bun.hash(`${place}\n${JSON.stringify(step)}`).toString(36)}`;
    if (existsSync(mark)) return true;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(mark, "");
    return false;
  }

  private initLine(): Record<string, unknown> {
    const { cwd, model, permissionMode } = this.parts;
    const tools = ["Bash", "Edit", "Read", "Write"].map((name) => this.parts.speech.tool(name, {}).name);
    return {
      type: "system",
      subtype: "init",
      cwd,
      model,
      permissionMode,
      tools,
      mcp_servers: [],
      output_style: "default",
    };
  }

  private withMode(fields: Record<string, unknown>): Record<string, unknown> {
    return { permission_mode: this.parts.permissionMode, ...fields };
  }

  private note(line: Record<string, unknown>): string {
    const uuid = crypto.randomUUID();
    this.parts.transcript.add({ ...line, uuid, play: this.play });
    return uuid;
  }

  private async say(line: Record<string, unknown>): Promise<void> {
    if (this.silent) return;
    await this.parts.out({ ...line, session_id: this.parts.session, uuid: line.uuid ?? crypto.randomUUID() });
  }
}

interface Turn {
  readonly startedAt: number;
  readonly abort: AbortController;
  readonly denials: object[];
  spent: ScriptedSpending;
  lastText: string;
  failure: string;
}

function newTurn(): Turn {
  return {
    startedAt: performance.now(),
    abort: new AbortController(),
    denials: [],
    spent: NO_SCRIPTED_SPENDING,
    lastText: "",
    failure: "unknown",
  };
}

/** What a Stop hook wants done before the turn may end: an objection, or merely something to know. */
function wishOf(verdict: HookVerdict): string | undefined {
  if (verdict.blocked !== undefined) return `Stop hook feedback:\n${verdict.blocked}`;
  return verdict.context.length === 0 ? undefined : verdict.context.join("\n");
}

function refuseCall(content: string): ToolResult {
  return { ok: false, interrupted: false, content, response: content };
}

/** Waits that long, or until the signal. Infinity waits for the signal alone, and keeps the process alive meanwhile. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let left = ms;
  while (left > 0 && !signal.aborted) {
    const step = Math.min(left, LONGEST_TIMER_MS);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(finish, step);
      function finish(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", finish);
        resolve();
      }
      signal.addEventListener("abort", finish, { once: true });
    });
    left -= step;
  }
}

/**
 * Makes signals of what a recorded session tells, the same way for every runtime: a result finds its call whichever of
 * the two comes first, a call that is told twice counts once, one whose name was used before counts as another, calls are numbered in the order they stand in the file,
 * and a turn ends when a person speaks and when the file ends, at no other time. Only words that are cut at their
 * beginning are redacted here: the rest stays in memory, and whoever shows anything of it redacts that.
 */
import { failureIn, resultHash, shapeOf } from "#domain/core/similarity.ts";
import { argumentsOf, interpretCall, type ToolUse, type ToolVocabulary } from "#domain/core/tools.ts";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import { redact } from "#telemetry/redact.ts";
import { windowOf } from "./context-window.ts";
import { type Json, withinTime } from "./json.ts";
import type { Tokens } from "./runtime.ts";
import type { OpenSession, SessionAbout, TakeSignal } from "./session-format.ts";

/** What a file gave, beside its signals. */
export interface FileCounts {
  readonly sessions: number;
  readonly calls: number;
  /** Results whose call stands nowhere in the file. */
  readonly lostResults: number;
  /** Calls that never got a result. */
  readonly openCalls: number;
  /** Values that are not what they say they are. */
  readonly refused: number;
  /** Calls that nothing was made of: their name was another's at that time, or the file holds too many sessions. */
  readonly droppedCalls: number;
}

/** One file and the sessions in it. */
export class SessionFile {
  private readonly writers = new Map<string, SessionWriter>();
  private calls = 0;
  private refused = 0;
  /** Calls of the sessions that are too many. */
  private beyond = 0;

  constructor(
    private readonly runtime: string,
    private readonly tools: ToolVocabulary,
    private readonly open: OpenSession,
  ) {}

  /** The session of that name in this file; made when it is first asked for. */
  session(key = "", about: Partial<SessionAbout> = {}): SessionWriter {
    const known = this.writers.get(key);
    if (known) return known;
    if (this.writers.size >= MOST_SESSIONS) {
      // Nobody keeps it: only its calls are counted.
      return new SessionWriter({ key, runtime: this.runtime, sub: true }, this.tools, ignoreSession, () => {
        this.beyond += 1;
        return 0;
      });
    }
    const whole = { key, runtime: this.runtime, sub: false, ...about };
    const writer = new SessionWriter(whole, this.tools, this.open, () => ++this.calls);
    this.writers.set(key, writer);
    return writer;
  }

  /** A value was not what it says it is, and nothing was made of it. */
  refuse(): void {
    this.refused += 1;
  }

  /** Ends every turn that is still open and says what was in the file. */
  finish(): FileCounts {
    const counts = [...this.writers.values()].map((writer) => writer.finish());
    const sum = (name: "lostResults" | "openCalls" | "droppedCalls") =>
      counts.reduce((total, one) => total + one[name], 0);
    return {
      sessions: counts.filter(({ opened }) => opened).length,
      calls: this.calls,
      lostResults: sum("lostResults"),
      openCalls: sum("openCalls"),
      refused: this.refused,
      droppedCalls: sum("droppedCalls") + this.beyond,
    };
  }
}

export interface ToldCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  /** The message of the model it belongs to, where the file names it. */
  readonly step?: string;
  readonly at: number;
}

export interface ToldResult {
  readonly id: string;
  readonly ok: boolean;
  readonly text: string;
  readonly errorClass: string | null;
  readonly at: number;
}

export interface ToldUsage extends Tokens {
  readonly id: string;
  readonly model: string;
  /** How many tokens the context held after it. */
  readonly contextTokens: number;
  /** Where the file says so. */
  readonly contextWindow?: number | null;
  readonly at: number;
}

/** Each has to be followed on its own. */
const MOST_SESSIONS = 5_000;
const ignoreSession: OpenSession = () => () => undefined;

interface OpenCall {
  /** The name its signals have: its own, unless it had none or another call had it before. */
  readonly source: string;
  readonly tool: string;
  readonly does: ToolUse;
  readonly at: number;
}

/** As much of a call's arguments and result as rules look at. */
const KEPT_TEXT = 1_000;
const KEPT_WORDS = 16 * 1024;
/** Results that wait for their call; more than these are nobody's. */
const EARLY_RESULTS = 1_000;
const TOO_DEEP = '"nested too deeply to be written down"';

interface WriterCounts extends Pick<FileCounts, "lostResults" | "openCalls" | "droppedCalls"> {
  readonly opened: boolean;
}

export class SessionWriter {
  private take: TakeSignal | undefined;
  private readonly running = new Map<string, OpenCall>();
  private readonly early = new Map<string, ToldResult>();
  /** How many calls had each name. */
  private readonly named = new Map<string, number>();
  /** The calls themselves, to know one that is told twice. */
  private readonly told = new Set<string>();
  /** Calls without a name that run, in the order they began: their results have none either. */
  private readonly nameless: string[] = [];
  private dropped = 0;
  private counter = 0;
  private lost = 0;
  private lastAt = 0;
  private lastSaid = "";
  /** Something happened in the running turn. */
  private busy = false;
  private end: { readonly ok: boolean; readonly reason: string } = COMPLETED;
  private seen = 0;

  constructor(
    private readonly about: SessionAbout,
    private readonly tools: ToolVocabulary,
    private readonly open: OpenSession,
    private readonly countCall: () => number,
  ) {}

  /** `more`: what follows from the version, where the runtime knows that. */
  begin(
    session: string,
    model: string | null,
    version: string | null,
    at: number,
    more: Pick<SignalData["session.started"], "compactReserve"> = {},
  ): void {
    this.tell("session.started", session, at, { session, model, version, ...more });
  }

  /** A person speaks: the turn before has ended. */
  hearPerson(at: number): void {
    this.endTurn(at);
    this.tell("turn.started", this.name("p"), at, { by: "message" });
  }

  /** A program speaks in a person's place: no turn ends, but whoever had stopped to say something is woken by it. */
  hearProgram(at: number): void {
    this.tell("notified", this.name("n"), at, { type: "program", text: "" });
  }

  say(text: string, at: number, id?: string): void {
    if (text.trim() === "") return;
    this.busy = true;
    this.end = COMPLETED;
    // What is cut may begin in the middle of a secret, which then nobody knows as one.
    this.lastSaid = text.length > KEPT_WORDS ? redact(text).slice(-KEPT_WORDS) : text;
    this.tell("said", id || this.name("s"), at, { text: this.lastSaid });
  }

  call({ id: name, tool, input, step, at }: ToldCall): void {
    const meaning = interpretCall(this.tools, tool, input);
    const args = writeArguments(meaning.command === undefined ? input : argumentsOf(this.tools, meaning, input));
    const argsHash = Bun.hash(args).toString(36);
    const same = `${name} ${at} ${tool} ${argsHash}`;
    if (this.running.has(name)) {
      if (!this.told.has(same)) this.dropped += 1;
      return;
    }
    // Without a time nobody knows whether it is the same call again or told again; a name that has ended is free.
    if (this.told.has(same) && at > 0) return;
    this.told.add(same);
    const ordinal = this.countCall();
    const id = name === "" ? `call ${ordinal}` : name;
    if (name === "") this.nameless.push(id);
    const before = this.named.get(id) ?? 0;
    this.named.set(id, before + 1);
    const source = before === 0 ? id : `${id} (${before + 1})`;
    this.busy = true;
    this.end = COMPLETED;
    this.running.set(id, { source, tool, does: meaning.use, at });
    this.tell(
      "tool.started",
      source,
      at,
      {
        tool,
        does: meaning.use,
        argsHash,
        args: args.slice(0, KEPT_TEXT),
        sub: null,
        shape: shapeOf(args),
        ...(step === undefined || step === "" ? {} : { step }),
      },
      ordinal,
    );
    const early = this.early.get(id);
    if (early === undefined) return;
    this.early.delete(id);
    this.finishCall({ ...early, at: Math.max(early.at, at) });
  }

  finishCall(result: ToldResult): void {
    const { ok, text, at } = result;
    const id = result.id || (this.nameless.shift() ?? "");
    const begun = this.running.get(id);
    if (begun === undefined) {
      // Told twice; or written before its call, as calls that run at the same time are.
      if (this.named.has(id)) return;
      if (id !== "" && this.early.size < EARLY_RESULTS) this.early.set(id, result);
      else this.lost += 1;
      return;
    }
    this.running.delete(id);
    const ms = at > 0 && begun.at > 0 ? Math.max(0, at - begun.at) : null;
    const failure = failureIn(text, ok, begun.does === "shell");
    this.tell("tool.ended", begun.source, at, {
      tool: begun.tool,
      does: begun.does,
      ok,
      errorClass: ok ? null : result.errorClass,
      ms,
      result: text.slice(0, KEPT_TEXT),
      resultHash: resultHash(text),
      ...(failure === undefined ? {} : { failure }),
    });
  }

  use({ id, model, contextTokens, contextWindow, at, ...tokens }: ToldUsage): void {
    if (contextTokens <= 0) return;
    this.seen = Math.max(this.seen, contextTokens);
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = tokens;
    this.tell("usage", id || this.name("u"), at, {
      inputTokens,
      outputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      contextTokens,
      contextWindow: contextWindow || windowOf(model, this.seen),
    });
  }

  compact(beforeTokens: number, trigger: string, at: number): void {
    this.tell("compacted", this.name("c"), at, { trigger, beforeTokens, afterTokens: null });
  }

  retry(data: SignalData["api.retry"], at: number): void {
    this.tell("api.retry", this.name("r"), at, data);
  }

  /** The provider gave up on the turn, and with what cause. */
  fail(data: SignalData["api.failed"], at: number): void {
    this.busy = true;
    this.end = { ok: false, reason: "api_error" };
    this.tell("api.failed", this.name("f"), at, data);
  }

  /** A person stopped the turn. */
  interrupt(at: number): void {
    this.end = { ok: false, reason: "interrupted" };
    this.endTurn(at);
  }

  /** A signal that stands in the file as it is. */
  pass(signal: Signal): void {
    if (signal.kind === "tool.ended") this.running.delete(signal.source);
    if (signal.kind === "tool.started")
      this.running.set(signal.source, { source: signal.source, tool: "", does: "other", at: signal.at });
    this.lastAt = Math.max(this.lastAt, signal.at);
    this.take ??= this.open(this.about);
    this.take(signal, signal.kind === "tool.started" ? this.countCall() : 0);
  }

  finish(): WriterCounts {
    const openCalls = this.running.size;
    this.endTurn(this.lastAt);
    const lostResults = this.lost + this.early.size;
    return { opened: this.take !== undefined, lostResults, openCalls, droppedCalls: this.dropped };
  }

  private endTurn(at: number): void {
    if (!this.busy) return;
    this.busy = false;
    // What has no result when a person speaks will get none.
    this.tell("turn.ended", this.name("t"), at, { ...this.end, text: this.lastSaid, costUsd: null });
    this.end = COMPLETED;
    this.lastSaid = "";
  }

  private name(letter: string): string {
    this.counter += 1;
    return `${letter}${this.counter}`;
  }

  /** A line without a time has that of the one before it. */
  private tell<K extends SignalKind>(kind: K, source: string, at: number, data: SignalData[K], ordinal = 0): void {
    this.lastAt = withinTime(at) || this.lastAt;
    this.take ??= this.open(this.about);
    this.take({ kind, source, phase: kind, at: this.lastAt, data } as Signal, ordinal);
  }
}

const COMPLETED = { ok: true, reason: "completed" } as const;

/** As JSON; what is nested deeper than the stack is only named as that. */
export function writeArguments(input: Json): string {
  try {
    return JSON.stringify(input);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}

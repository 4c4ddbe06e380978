/**
 * Tells an episode of an agent's work as lines of a trace: signals, and calls in their short form. Chance is seeded, so
 * that an episode is the same on every machine. It knows nothing of the reflex: hashes and sketches are left out on
 * purpose, whoever reads a trace makes them.
 */
import type { SignalData, SignalKind } from "#domain/signals/signal.ts";

export class Dice {
  constructor(private state: number) {}

  /** mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    const one = list[this.between(0, list.length - 1)];
    if (one === undefined) throw new Error("Nothing to pick from.");
    return one;
  }

  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((value) => ({ value, order: this.next() }))
      .toSorted((one, other) => one.order - other.order)
      .map(({ value }) => value);
  }
}

export interface ToolUse {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly ok?: boolean;
  readonly ms?: number;
}

export class Story {
  readonly lines: object[] = [];
  private counter = 0;
  private at: number;
  private tokens: number;
  private window = 200_000;

  constructor(
    readonly dice: Dice,
    /** How often it looks at something that has nothing to do with the rest. */
    private readonly restless = 0,
  ) {
    this.at = 1_760_000_000_000 + dice.between(0, 1_000_000_000);
    this.tokens = dice.between(12_000, 25_000);
    this.add("session.started", { session: "s", model: "m", version: null });
    this.prompt();
  }

  prompt(): void {
    this.add("turn.started", { by: "message" });
  }

  /** Time in which nothing is to be seen. */
  pass(ms: number): void {
    this.at += ms;
  }

  fill(share: number, window = this.window): void {
    this.window = window;
    this.tokens = Math.round(share * window);
    this.usage();
  }

  compact(trigger = "auto"): void {
    this.add("compacted", { trigger, beforeTokens: this.tokens, afterTokens: 18_000 });
    this.tokens = 18_000;
  }

  say(text: string): void {
    this.pass(this.dice.between(800, 4_000));
    this.add("said", { text });
  }

  /** One message of the model with its tools, which run side by side; now and then it looks aside first. */
  step(...uses: readonly ToolUse[]): void {
    if (this.restless > 0 && this.dice.chance(this.restless)) {
      const name = `aside/${this.dice.between(1, 1_000_000)}.md`;
      this.message([{ tool: "Read", input: { file_path: name }, result: `1\t# ${name}` }]);
    }
    this.message(uses);
  }

  private message(uses: readonly ToolUse[]): void {
    this.pass(this.dice.between(1_500, 12_000));
    const step = `m${this.counter}`;
    for (const { tool, input, result, ok = true, ms = this.dice.between(20, 900) } of uses) {
      this.counter += 1;
      this.pass(ms);
      const at = this.at;
      this.lines.push({ call: `t${this.counter}`, step, at, tool, args: input, ...(ok ? {} : { ok }), ms, result });
    }
  }

  end(text: string, ok = true): void {
    this.pass(this.dice.between(1_000, 5_000));
    this.add("turn.ended", { ok, reason: ok ? "completed" : "api_error", text, costUsd: null });
  }

  private usage(): void {
    this.add("usage", {
      inputTokens: 10,
      outputTokens: this.dice.between(40, 900),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      contextTokens: this.tokens,
      contextWindow: this.window,
    });
  }

  private add<K extends SignalKind>(kind: K, data: SignalData[K]): void {
    this.counter += 1;
    this.lines.push({ kind, source: `s${this.counter}`, phase: kind, at: this.at, data });
  }
}

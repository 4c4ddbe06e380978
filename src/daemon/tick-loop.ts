/**
 * Runs the tick, one at a time, and remembers what the heartbeat has to say of it. Before each it takes a changed
 * configuration into account, so that whatever the tick decides, it decides under the one in effect. A tick that fails
 * is a failure of its loop, which rests and tries again.
 */
import type { TickReason, TickResult } from "#engine/tick-contract.ts";
import { messageOf } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { DaemonLog } from "./log.ts";
import type { Turn } from "./loops.ts";

export type TickOutcome = TickResult & { readonly halted: readonly string[] };

export interface TickerOptions {
  readonly clock: Clock;
  readonly log: DaemonLog;
  /** Takes a changed configuration into effect. */
  prepare(): Promise<void>;
  run(reason: TickReason): Promise<TickOutcome>;
  /** Told of every end, for whoever listens. */
  onTickEnd(outcome: TickOutcome | { readonly problem: string }): void;
}

interface Waiter {
  resolve(outcome: TickOutcome): void;
  reject(error: unknown): void;
}

export class Ticker {
  ticks = 0;
  tickedAt: number;
  problem: string | null = null;
  private skippedMs = 0;
  private nextDueAt: number | null = null;
  private waiters: Waiter[] = [];

  constructor(private readonly options: TickerOptions) {
    this.tickedAt = options.clock.now();
  }

  /** This process did not run for so long. */
  addLostTime(ms: number): void {
    this.skippedMs += ms;
  }

  /** How long until something is due that the last tick had to leave; infinite when there is nothing. */
  nextDueInMs(): number {
    if (this.nextDueAt === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, this.nextDueAt - this.options.clock.now());
  }

  /** Resolves with the next tick that begins; the caller wakes the loop. */
  next(): Promise<TickOutcome> {
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  /** One turn of the loop. */
  async turn({ causes }: Turn): Promise<void> {
    const { clock, log, prepare, run, onTickEnd } = this.options;
    const waiters = this.waiters.splice(0);
    const begun = clock.monotonic();
    try {
      await prepare();
      const reason: TickReason = { causes, skippedMs: this.skippedMs };
      log.record("info", "tick.started", reason);
      const outcome = await run(reason);
      // What was lost while it ran is for the next one to know.
      this.skippedMs -= reason.skippedMs;
      this.nextDueAt = outcome.nextDueAt ?? null;
      this.ticks += 1;
      this.tickedAt = clock.now();
      this.problem = outcome.ok ? null : "something it wanted to do failed; see the log";
      log.record("info", "tick.ended", { ...outcome, tick: this.ticks, ms: clock.monotonic() - begun });
      onTickEnd(outcome);
      for (const waiter of waiters) waiter.resolve(outcome);
    } catch (error) {
      this.problem = messageOf(error);
      onTickEnd({ problem: this.problem });
      for (const waiter of waiters) waiter.reject(error);
      throw error;
    }
  }
}

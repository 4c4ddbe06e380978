/**
 * One turn of the watch after another. Where judging fails, or no tick comes to its end, it falls back to thresholds alone
 * (DEGR-1), says so, and comes back by itself: every turn tries to see in full again. It decides nothing about agents; what
 * follows from how they do is the tick's, which it wakes. When its turns come is daemon/watch-loop.ts.
 */
import { attemptLabel } from "#domain/model/attempt.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { AgentHealth } from "#domain/watch/health.ts";
import { messageOf } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";
import type { DegradedCycle } from "./degraded-watch.ts";
import type { WatchCycle } from "./watch.ts";

/** So many of those who cannot be judged are named. */
const NAMED = 5;

export interface WatchTurnsOptions {
  readonly clock: Pick<Clock, "now">;
  readonly log: { record(level: "info" | "warn" | "error", event: string, data: unknown): void };
  /** Judges everybody; rejects when that cannot be done. */
  look(): Promise<WatchCycle>;
  /** The same by thresholds, with what follows from it set going; only of these, where everybody else was judged. */
  lookBlindly(only?: ReadonlySet<number>): Promise<DegradedCycle>;
  /** Why ticks fail, once they have failed more than once in a row; undefined where they do not. */
  tickProblem(): string | undefined;
  /** Has a tick that rests after failures try again. */
  retryTick(): void;
  wakeTick(cause: string): void;
  /** Tells whoever listens; what they do not take is lost (EDGE-8). */
  tell(health: AgentHealth): void;
  /** Into the log. */
  record(event: NewEvent): Promise<void>;
}

export class WatchTurns {
  /** Wall clock, ms; null where it sees in full. */
  degradedSince: number | null = null;
  private steps = 0;

  constructor(private readonly options: WatchTurnsOptions) {}

  /** What an earlier life left: a fleet that was judged by thresholds then is still told to be. */
  resume(degradedSince: number | null): void {
    this.degradedSince = degradedSince;
  }

  /** Rejects when not even thresholds can be looked at. */
  async turn(): Promise<void> {
    const sight = await this.see();
    if ("problem" in sight) return this.degrade("judging-failed", sight.problem);
    const ticksFail = this.options.tickProblem();
    if (ticksFail !== undefined) {
      await this.degrade("ticks-fail", ticksFail);
      // What the tick fails at may be gone: everything could be judged just now.
      return this.options.retryTick();
    }
    const { unjudged } = sight;
    if (unjudged.length === 0) return this.restore();
    await this.degrade("pulse-unusable", tellUnjudged(unjudged), new Set(unjudged.map(({ attempt }) => attempt)));
  }

  /** Who could not be judged, or why nobody could. */
  private async see(): Promise<{ readonly problem: string } | Pick<WatchCycle, "unjudged">> {
    const { look, log, tell, wakeTick } = this.options;
    try {
      const { changed, causes, unjudged } = await look();
      for (const health of changed) tell(health);
      for (const cause of causes) wakeTick(`watch: ${cause}`);
      return { unjudged };
    } catch (error) {
      const problem = messageOf(error);
      log.record("error", "watch.failed", { problem });
      return { problem };
    }
  }

  private async degrade(because: string, problem: string, only?: ReadonlySet<number>): Promise<void> {
    const { clock, log, record, lookBlindly } = this.options;
    if (this.degradedSince === null) {
      this.degradedSince = clock.now();
      this.steps = 0;
      log.record("error", "watch.degraded", { because, problem });
      try {
        await record({ type: "watch.degraded", actor: "overseer", because, data: { problem } });
      } catch (error) {
        // Nobody was told of it yet: the next turn does.
        this.degradedSince = null;
        throw error;
      }
    }
    const { stepped, problems } = await lookBlindly(only);
    this.steps += stepped.length;
    if (stepped.length > 0) log.record("warn", "watch.stepped", { agents: stepped });
    if (problems.length > 0) log.record("warn", "watch.blind", { problems });
  }

  private async restore(): Promise<void> {
    if (this.degradedSince === null) return;
    const { log, record } = this.options;
    log.record("info", "watch.restored", { steps: this.steps });
    await record({
      type: "watch.restored",
      actor: "overseer",
      because: "judged-in-full",
      data: { steps: this.steps },
    });
    this.degradedSince = null;
  }
}

function tellUnjudged(unjudged: WatchCycle["unjudged"]): string {
  const names = unjudged.slice(0, NAMED).map(({ attempt, agent }) => attemptLabel({ attempt, agent }));
  const more = unjudged.length > NAMED ? ` and ${unjudged.length - NAMED} more` : "";
  return `What is kept of ${names.join(", ")}${more} is spoiled; everybody else is judged in full.`;
}

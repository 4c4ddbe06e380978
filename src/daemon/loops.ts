/**
 * The loops of the daemon: named pieces of work, each done again and again, every so often or when something wakes it.
 * One that throws is told of, waits longer each time, and continues; it never takes the daemon or another loop with it.
 * Wakes that come while it works, or close after one another, become one; a wake does not cut a backoff short, because
 * a loop that fails at every event would otherwise never rest; only the news that what they lacked is back does. Time is the port's, so a test moves it.
 */
import { backoffMs } from "#domain/core/backoff.ts";
import type { LoopTrouble, RingPulse } from "#domain/health/daemon-life.ts";
import { messageOf } from "#errors.ts";
import type { Clock } from "#sys/clock.ts";

/** Why it runs now. */
export interface Turn {
  /** What woke it, in order, each once; empty when its time had come. */
  readonly causes: readonly string[];
}

export interface Loop {
  readonly name: string;
  /** Milliseconds from the end of one turn to the next; asked each time, so that a new configuration counts. */
  everyMs(): number;
  /** Wakes within this many milliseconds of the last turn's beginning wait until they have passed. */
  readonly spacingMs?: number;
  /** False: the first turn waits for its time or a wake. */
  readonly atOnce?: boolean;
  run(turn: Turn): Promise<void>;
}

export interface LoopsOptions {
  readonly clock: Clock;
  /** Told of every failure, with how many there were in a row. */
  onFailure(loop: string, error: unknown, failures: number): void;
}

/** After the first failure, doubling. */
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;
/** More causes than this say nothing that these do not. */
const MOST_CAUSES = 50;

/** How long a loop rests after so many failures in a row. */
export function loopBackoffMs(failures: number): number {
  return backoffMs(failures, { baseMs: FIRST_BACKOFF_MS, maxMs: LONGEST_BACKOFF_MS });
}

interface State {
  readonly loop: Loop;
  readonly causes: Set<string>;
  failures: number;
  problem: string;
  /** In this life: turns that came to their end, and that failed. */
  turns: number;
  failed: number;
  /** Wall clock, ms. */
  endedAt: number | null;
  beganAt: number;
  /** Ends the present sleep; does nothing while it works. */
  wake: () => void;
}

export class Loops {
  private readonly states = new Map<string, State>();
  private readonly lives: Promise<void>[] = [];
  private readonly over = new AbortController();

  constructor(private readonly options: LoopsOptions) {}

  start(loop: Loop): void {
    const state: State = {
      loop,
      causes: new Set(),
      failures: 0,
      problem: "",
      turns: 0,
      failed: 0,
      endedAt: null,
      beganAt: Number.NEGATIVE_INFINITY,
      wake: () => {},
    };
    this.states.set(loop.name, state);
    this.lives.push(this.live(state));
  }

  /** Has a loop take its next turn soon. One that is not there, or stopping, is not woken. */
  wake(name: string, cause: string): void {
    const state = this.states.get(name);
    if (!state) return;
    if (state.causes.size < MOST_CAUSES) state.causes.add(cause);
    if (state.failures === 0) state.wake();
  }

  /** Has those that fail, or that one of them, try again at once: what they lacked may be back. */
  retry(name?: string): void {
    for (const state of this.states.values()) {
      if (state.failures > 0 && (name === undefined || name === state.loop.name)) state.wake();
    }
  }

  /** Those that fail at the moment. */
  troubles(): LoopTrouble[] {
    return [...this.states.values()]
      .filter((state) => state.failures > 0)
      .map(({ loop, failures, problem }) => ({ loop: loop.name, failures, problem }));
  }

  /** How many times in a row that one has failed, with its last words; undefined where it has not. */
  troubleOf(name: string): LoopTrouble | undefined {
    return this.troubles().find(({ loop }) => loop === name);
  }

  /** How these have run so far; one that was not started is left out. */
  rings(names: readonly string[]): Omit<RingPulse, "degradedSince">[] {
    return names.flatMap((ring) => {
      const state = this.states.get(ring);
      return state ? [{ ring, cycles: state.turns, failures: state.failed, lastAt: state.endedAt }] : [];
    });
  }

  /** No new turns; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.over.abort();
    for (const state of this.states.values()) state.wake();
    await Promise.all(this.lives);
  }

  private async live(state: State): Promise<void> {
    const { loop } = state;
    if (loop.atOnce === false) await this.rest(state, loop.everyMs());
    while (!this.over.signal.aborted) {
      await this.turn(state);
      await this.rest(state, state.failures > 0 ? loopBackoffMs(state.failures) : loop.everyMs());
    }
  }

  private async turn(state: State): Promise<void> {
    const causes = [...state.causes];
    state.causes.clear();
    state.beganAt = this.options.clock.monotonic();
    try {
      await state.loop.run({ causes });
      state.failures = 0;
      state.turns += 1;
      state.endedAt = this.options.clock.now();
    } catch (error) {
      state.failures += 1;
      state.failed += 1;
      state.problem = messageOf(error);
      // What it was woken for has not been done.
      for (const cause of causes) state.causes.add(cause);
      this.options.onFailure(state.loop.name, error, state.failures);
    }
  }

  /** Sleeps its time, or until it is woken, and then at least as long as wakes must lie apart. */
  private async rest(state: State, ms: number): Promise<void> {
    const { clock } = this.options;
    if (state.causes.size === 0 || state.failures > 0) await this.sleep(state, ms);
    const left = state.beganAt + (state.loop.spacingMs ?? 0) - clock.monotonic();
    if (left > 0 && !this.over.signal.aborted) await clock.sleep(left, this.over.signal);
  }

  private async sleep(state: State, ms: number): Promise<void> {
    const waking = new AbortController();
    state.wake = () => waking.abort();
    if (this.over.signal.aborted) return;
    await this.options.clock.sleep(ms, waking.signal);
    state.wake = () => {};
  }
}

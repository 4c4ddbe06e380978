/**
 * A clock that moves only when told, for simulations and tests: a week passes in a millisecond, and the bad days of
 * real clocks (jumps, suspended laptops) are one call each. It passes the same contract suite as the real one.
 */
import type { Clock } from "./clock.ts";

export interface VirtualClock extends Clock {
  /** Time passes, for wall and boot clock alike; sleepers wake in the order of their due times, each at its own time. */
  advance(ms: number): Promise<void>;
  /** Somebody sets the wall clock, forwards or back. Nobody wakes. */
  jump(ms: number): void;
  /** The machine sleeps: both clocks have moved on when it wakes, and whoever is overdue wakes only then. */
  suspend(ms: number): Promise<void>;
  /** How many are asleep, so that a simulation can tell "idle" from "finished". */
  sleepers(): number;
}

interface Sleeper {
  readonly due: number;
  readonly order: number;
  readonly wake: () => void;
}

export function virtualClock({ now = 0, monotonic = 0 } = {}): VirtualClock {
  let wall = now;
  let boot = monotonic;
  let slept = 0;
  let waiting: Sleeper[] = [];

  const pass = (ms: number) => {
    wall += ms;
    boot += ms;
  };
  const nextDueBy = (limit: number) =>
    waiting.filter((each) => each.due <= limit).sort((a, b) => a.due - b.due || a.order - b.order)[0];

  /** One at a time, with a pause for what it does next: who wakes may go to sleep again within the same stretch. */
  const wakeUntil = async (limit: number): Promise<void> => {
    await settle();
    for (let next = nextDueBy(limit); next !== undefined; next = nextDueBy(limit)) {
      pass(Math.max(0, next.due - boot));
      next.wake();
      await settle();
    }
  };

  const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        waiting = waiting.filter((each) => each !== sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      slept += 1;
      const sleeper = { due: boot + Math.max(0, ms), order: slept, wake };
      waiting.push(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });

  return {
    now: () => wall,
    monotonic: () => boot,
    boot: () => "virtual",
    sleep,
    advance: async (ms) => {
      const end = boot + Math.max(0, ms);
      await wakeUntil(end);
      pass(Math.max(0, end - boot));
    },
    jump: (ms) => {
      wall += ms;
    },
    suspend: async (ms) => {
      pass(Math.max(0, ms));
      await wakeUntil(boot);
    },
    sleepers: () => waiting.length,
  };
}

/** Lets everything that is ready run, including chains of promises, before time moves on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

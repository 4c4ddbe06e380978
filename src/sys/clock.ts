/**
 * Time as a port. `now` is the wall clock, for people and for the log; `monotonic` only ever grows, is shared by all
 * processes of this boot, and is what freshness is measured with: wall clocks jump, laptops sleep.
 */
export interface Clock {
  /** Wall clock, integer milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since boot, the same for every process of the machine. Never goes back within one boot. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * How long to wait before trying again: twice as long each time, up to a limit. No clock and no chance in it; whoever
 * needs a spread adds one.
 */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** The wait after the `failures`-th failure, counted from one; none before the first. */
export function backoffMs(failures: number, { baseMs, maxMs }: Backoff): number {
  if (!(failures >= 1)) return 0;
  const most = Math.max(baseMs, maxMs);
  // Beyond thirty doublings every limit is reached, and larger powers would leave the whole numbers.
  return Math.min(most, baseMs * 2 ** Math.min(30, Math.floor(failures) - 1));
}

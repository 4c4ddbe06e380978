/**
 * Which logs go: sessions, checks and model calls are kept for a month and within a gigabyte together, and never without
 * the newest. What a living agent writes, or what open work, a claim or a question refers to, stays however old it is.
 */

export interface KeptLog {
  /** Below the directory of logs: `checks/K_…-tests.log`, `builder-1/20260115T093000Z-47`. */
  readonly name: string;
  /** When it was last written to; ms. */
  readonly at: number;
  readonly bytes: number;
}

export interface LogLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** So many of the newest stay whatever their age: a clock that was set wrong takes no more than what is old. */
  readonly newest: number;
  /** Younger than this, somebody may be about to refer to it. */
  readonly youngMs: number;
}

const DAY_MS = 24 * 60 * 60_000;

export const LOG_LIMITS: LogLimits = {
  maxAgeMs: 30 * DAY_MS,
  maxBytes: 1024 ** 3,
  newest: 50,
  youngMs: DAY_MS,
};

/** Names of those that go, oldest first. */
export function logsToRemove(
  all: readonly KeptLog[],
  isHeld: (name: string) => boolean,
  limits: LogLimits,
  now: number,
): string[] {
  const newestFirst = all.toSorted((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1));
  const mayGo = ({ at, name }: KeptLog) => now - at >= limits.youngMs && !isHeld(name);
  const gone = new Set(newestFirst.slice(limits.newest).filter((one) => now - one.at > limits.maxAgeMs && mayGo(one)));
  let bytes = newestFirst.reduce((sum, one) => sum + (gone.has(one) ? 0 : one.bytes), 0);
  for (const one of newestFirst.toReversed()) {
    if (bytes <= limits.maxBytes) break;
    if (gone.has(one) || !mayGo(one)) continue;
    gone.add(one);
    bytes -= one.bytes;
  }
  return newestFirst
    .toReversed()
    .filter((one) => gone.has(one))
    .map(({ name }) => name);
}

/**
 * How fresh the last act of an agent is (FRESH-1). It is counted by a clock that nobody sets and that all processes of one
 * boot share, from the moment at which the watcher saw the agent's count of acts move; so neither a wall clock that jumps
 * nor a machine that slept makes anybody stale. What another boot or another host has written down says nothing.
 */

export const FRESHNESSES = ["fresh", "stale", "very-stale", "unknown"] as const;
export type Freshness = (typeof FRESHNESSES)[number];

export interface FreshnessLimits {
  readonly staleAfterMs: number;
  readonly veryStaleAfterMs: number;
}

/** A moment of the clock that nobody sets, and of which boot it is. */
export interface BootTime {
  readonly boot: string;
  readonly ms: number;
}

/** Since when an agent's count of acts stands where it stands. */
export interface Quiet {
  /** What moves with every act of the agent. */
  readonly mark: string;
  readonly since: BootTime;
  /** It was seen to move then; otherwise it was met as it stands, and may have been quiet for longer. */
  readonly seen: boolean;
}

/** What is known after one more look. */
export function followQuiet(known: Quiet | undefined, mark: string, now: BootTime): Quiet {
  const isOfThisBoot = known?.since.boot === now.boot && known.since.ms <= now.ms;
  if (known && isOfThisBoot && known.mark === mark) return known;
  return { mark, since: now, seen: isOfThisBoot };
}

/** As if it had moved so much later: while nobody looked, because the machine slept, nobody was quiet. */
export function forgiveQuiet(known: Quiet, ms: number): Quiet {
  return { ...known, since: { ...known.since, ms: known.since.ms + ms } };
}

/** How long it has been quiet at least; null where that cannot be said. */
export function measureQuiet(known: Quiet | undefined, now: BootTime): number | null {
  if (!known || known.since.boot !== now.boot) return null;
  return Math.max(0, now.ms - known.since.ms);
}

/** One that was only met as it stands is unknown until it has been quiet for long enough under the watcher's own eyes. */
export function judgeFreshness(known: Quiet | undefined, now: BootTime, limits: FreshnessLimits): Freshness {
  const quietMs = measureQuiet(known, now);
  if (quietMs === null) return "unknown";
  if (quietMs >= limits.veryStaleAfterMs) return "very-stale";
  if (quietMs >= limits.staleAfterMs) return "stale";
  return known?.seen ? "fresh" : "unknown";
}

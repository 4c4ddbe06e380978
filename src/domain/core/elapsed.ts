/**
 * Waiting by the wall clock, which people and machines set: forwards it only shortens a wait, back it must not prolong
 * one; and what was neither waited nor worked, because nobody looked.
 */

/** Two who look at the same clock at the same moment write it down so far apart at most. */
export const SKEW_MS = 5_000;

/**
 * Whether so much time has passed since then. A moment that lies ahead was written before the clock was set back: how
 * long ago it was is not known, so nothing more is waited for. All waiting by the wall clock goes through here.
 */
export function hasPassed(since: number, ms: number, now: number): boolean {
  const ago = now - since;
  return ago < -SKEW_MS || ago >= ms;
}

/** The same of a moment in time that was set `since` then: an action that is due at, a pause that lasts until. */
export function isDue(at: number, since: number, now: number): boolean {
  return hasPassed(since, at - since, now);
}

/** How much of a wait is left; never more than the whole of it. */
export function waitLeft(since: number, ms: number, now: number): number {
  return hasPassed(since, ms, now) ? 0 : Math.min(ms, since + ms - now);
}

/** A look at both clocks: one that nobody sets, and the one on the wall. */
export interface Look {
  readonly monotonic: number;
  readonly wall: number;
}

export interface SkippedTime {
  readonly ms: number;
  /** Whose time it was: the watcher's own, or only that of the wall clock, which somebody has set. */
  readonly by: "watcher" | "wall";
}

/** So many periods may pass between two looks before time counts as skipped. */
const PATIENT_PERIODS = 3;

/** What nobody may be judged by: the watcher stood still between two looks, or the wall clock was set. Else undefined. */
export function measureSkip(last: Look, now: Look, periodMs: number): SkippedTime | undefined {
  const gap = now.monotonic - last.monotonic;
  if (gap > periodMs * PATIENT_PERIODS) return { ms: gap, by: "watcher" };
  const setBy = Math.abs(now.wall - last.wall - gap);
  return setBy > periodMs ? { ms: setBy, by: "wall" } : undefined;
}

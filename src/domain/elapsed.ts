/**
 * Waiting by the wall clock, which people and machines set: forwards it only shortens a wait, back it must not prolong
 * one; and what was neither waited nor worked, because nobody looked.
 */

/**
 * Whether so much time has passed since then. A moment that lies ahead was written before the clock was set back: how
 * long ago it was is not known, so nothing more is waited for.
 */
export function hasPassed(since: number, ms: number, now: number): boolean {
  const ago = now - since;
  return ago < 0 || ago >= ms;
}

/** A look at both clocks: one that nobody sets, and the one on the wall. */
export interface Look {
  readonly monotonic: number;
  readonly wall: number;
}

export interface Skipped {
  readonly ms: number;
  /** Whose time it was: the watcher's own, or only that of the wall clock, which somebody has set. */
  readonly by: "watcher" | "wall";
}

/** So many periods may pass between two looks before time counts as skipped. */
const PATIENT_PERIODS = 3;

/** What nobody may be judged by: the watcher stood still between two looks, or the wall clock was set. Else undefined. */
export function skippedBetween(last: Look, now: Look, periodMs: number): Skipped | undefined {
  const gap = now.monotonic - last.monotonic;
  if (gap > periodMs * PATIENT_PERIODS) return { ms: gap, by: "watcher" };
  const setBy = Math.abs(now.wall - last.wall - gap);
  return setBy > periodMs ? { ms: setBy, by: "wall" } : undefined;
}

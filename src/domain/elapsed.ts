/** Waiting by the wall clock, which people and machines set: forwards it only shortens a wait, back it must not prolong one. */

/**
 * Whether so much time has passed since then. A moment that lies ahead was written before the clock was set back: how
 * long ago it was is not known, so nothing more is waited for.
 */
export function hasPassed(since: number, ms: number, now: number): boolean {
  const ago = now - since;
  return ago < 0 || ago >= ms;
}

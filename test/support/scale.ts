/**
 * How hard the tests try: random rounds, crash loops and generated worlds multiply by OVERSEER_TEST_SCALE, so that the
 * same test is quick on a laptop and thorough in the long lane.
 */

/** The scale of an ordinary run. */
export const defaultScale = 1;

/** `rounds` at this run's scale; at least one. */
export function scaled(rounds: number): number {
  return Math.max(1, Math.round(rounds * currentScale()));
}

/** Places from 1 to `total` at equal distances: `rounds` of them at this run's scale, every one in the long lane. */
export function spread(total: number, rounds: number, offset = 0): number[] {
  const stride = isLongLane() ? 1 : Math.ceil(total / scaled(rounds));
  const first = 1 + (offset % stride);
  return Array.from({ length: Math.ceil((total - first + 1) / stride) }, (_, index) => first + index * stride);
}

/** What takes minutes, or needs the network, is for the long lane. */
export function isLongLane(): boolean {
  return currentScale() >= 10;
}

function currentScale(): number {
  const text = process.env.OVERSEER_TEST_SCALE;
  if (!text) return defaultScale;
  const scale = Number(text);
  if (!(scale > 0)) throw new Error(`OVERSEER_TEST_SCALE must be a number above 0, not "${text}".`);
  return scale;
}

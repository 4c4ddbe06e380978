/**
 * Chance from a seed: the same seed gives the same run, so a failure is reported as one number. The generator is
 * mulberry32: 32 bits of state, plenty for jitter and simulated faults, and nothing for secrets.
 */
import type { Chance } from "./chance.ts";

export function makeSeededChance(seed: number): Chance {
  let state = seed >>> 0;
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}

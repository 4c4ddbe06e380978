import { expect, test } from "bun:test";
import fc from "fast-check";
import { hasPassed, isDue, measureSkip, SKEW_MS, waitLeft } from "./elapsed.ts";

test.each([
  ["not yet", 1_000, 1_999, false],
  ["just now", 1_000, 2_000, true],
  ["long ago", 1_000, 90_000, true],
  ["at the same moment", 1_000, 1_000, false],
  ["written a moment later by another process", 1_000, 999, false],
  ["as far apart as two looks at one clock may be", 6_000, 1_000, false],
  ["set back since, by a little more", 6_001, 1_000, true],
  ["set back since, by a day", 86_400_000, 1_000, true],
] as const)("EDGE-10: a second has passed: %s", (_what, since, now, passed) => {
  expect(hasPassed(since, 1_000, now)).toBe(passed);
  expect(isDue(since + 1_000, since, now)).toBe(passed);
  expect(waitLeft(since, 1_000, now) === 0).toBe(passed);
});

test("EDGE-10: however a clock is set, nobody waits longer than the wait and what two looks may differ by", () => {
  const time = fc.integer({ min: 0, max: 10 * 365 * 86_400_000 });
  fc.assert(
    fc.property(time, fc.integer({ min: 0, max: 86_400_000 }), time, (since, ms, now) => {
      const left = waitLeft(since, ms, now);
      expect(left).toBeLessThanOrEqual(ms);
      // Waited for as long as was said, by a clock that nobody sets any more, it has ended.
      expect(hasPassed(since, ms, now + left + SKEW_MS)).toBe(true);
    }),
  );
});

const last = { monotonic: 10_000, wall: 500_000 };
test.each([
  ["a look in time", 1_000, 1_000, undefined],
  ["a look that is a little late", 3_000, 3_000, undefined],
  ["a watcher that stood still", 3_001, 3_001, { ms: 3_001, by: "watcher" }],
  ["a clock that was corrected a little", 1_000, 2_000, undefined],
  ["a clock that was set forwards", 1_000, 61_000, { ms: 60_000, by: "wall" }],
  ["a clock that was set back", 1_000, -59_000, { ms: 60_000, by: "wall" }],
  ["both at once are the watcher's", 9_000, -59_000, { ms: 9_000, by: "watcher" }],
] as const)("EDGE-10: %s", (_what, monotonic, wall, skipped) => {
  const now = { monotonic: last.monotonic + monotonic, wall: last.wall + wall };
  expect(measureSkip(last, now, 1_000)).toEqual(skipped);
});

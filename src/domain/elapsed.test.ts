import { expect, test } from "bun:test";
import { hasPassed, skippedBetween } from "./elapsed.ts";

test.each([
  ["not yet", 1_000, 1_999, false],
  ["just now", 1_000, 2_000, true],
  ["long ago", 1_000, 90_000, true],
  ["at the same moment", 1_000, 1_000, false],
  ["set back since", 1_000, 999, true],
] as const)("EDGE-10: a second has passed: %s", (_what, since, now, passed) => {
  expect(hasPassed(since, 1_000, now)).toBe(passed);
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
  expect(skippedBetween(last, now, 1_000)).toEqual(skipped);
});

import { expect, test } from "bun:test";
import { hasPassed } from "./elapsed.ts";

test.each([
  ["not yet", 1_000, 1_999, false],
  ["just now", 1_000, 2_000, true],
  ["long ago", 1_000, 90_000, true],
  ["at the same moment", 1_000, 1_000, false],
  ["set back since", 1_000, 999, true],
] as const)("EDGE-10: a second has passed: %s", (_what, since, now, passed) => {
  expect(hasPassed(since, 1_000, now)).toBe(passed);
});

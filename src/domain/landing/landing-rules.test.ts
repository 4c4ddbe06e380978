import { expect, test } from "bun:test";
import { landingRules } from "./landing-rules.ts";

test.each([
  [null, null, false, "review", "merge"],
  [null, null, true, "auto", "squash"],
  ["review", null, true, "review", "squash"],
  ["auto", null, false, "auto", "merge"],
  [null, "merge", true, "auto", "merge"],
  [null, "squash", false, "review", "squash"],
  ["auto", "merge", true, "auto", "merge"],
  ["review", "squash", false, "review", "squash"],
] as const)("ACC-1: mode %p, strategy %p, under --auto %p: %p by %p", (mode, strategy, auto, lands, by) => {
  expect(landingRules({ mode, strategy }, auto)).toEqual({ mode: lands, strategy: by });
});

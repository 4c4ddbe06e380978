/** No number of an attempt is given twice: the traces attempts leave say which were. */
import { expect, test } from "bun:test";
import { highestAttempt, type Traces } from "./attempts-seen.ts";

const NOTHING: Traces = { numbers: [], names: [], branches: [] };

test.each([
  ["nothing is left of any", NOTHING, 0],
  ["the copy of the log knew more than what came back", { ...NOTHING, numbers: [3, 47] }, 47],
  ["a worktree is left", { ...NOTHING, numbers: [3], names: ["builder-1-12", "notes"] }, 12],
  ["a log is left", { ...NOTHING, names: ["20260101T000000-31"] }, 31],
  ["a branch is left", { ...NOTHING, numbers: [3], branches: ["overseer/builder-1/T1.1-15", "overseer/lead/T2"] }, 15],
  ["a branch is named after a year", { ...NOTHING, numbers: [3], branches: ["overseer/builder-1/release-2026"] }, 3],
  ["a name holds no number that can be one", { ...NOTHING, numbers: [Number.NaN, -4], names: ["a-99999999999"] }, 0],
] as const)("STORE-5: %s", (_name, traces, highest) => {
  expect(highestAttempt(traces)).toBe(highest);
});

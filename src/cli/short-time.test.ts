/** STATUS-1: times as people say them, in the zone of the machine; the expected ones are made in that zone too. */
import { expect, test } from "bun:test";
import { shortSpan, shortTime, tellWhen, withShortTimes } from "./short-time.ts";

const at = (...parts: [number, number, number, number, number]) => new Date(...parts).getTime();
const NOW = at(2026, 10, 18, 15, 0);

test.each([
  [at(2026, 10, 18, 14, 5), "14:05"],
  [at(2026, 10, 18, 0, 0), "00:00"],
  [at(2026, 10, 17, 23, 59), "yesterday 23:59"],
  [at(2026, 10, 19, 0, 1), "tomorrow 00:01"],
  [at(2026, 10, 12, 9, 30), "12 Nov 09:30"],
  [at(2025, 11, 31, 9, 30), "31 Dec 2025 09:30"],
])("STATUS-1: %p is %s", (ms, text) => {
  expect(shortTime(ms, NOW)).toBe(text);
});

test("STATUS-1: the times of a sentence become short, and nothing else of it", () => {
  const said = `QUOTA: used up until ${new Date(at(2026, 10, 18, 16, 7)).toISOString()}; 2026-11-18 stays (T1)`;
  expect(withShortTimes(said, NOW)).toBe("QUOTA: used up until 16:07; 2026-11-18 stays (T1)");
});

test.each([
  [59_400, "59 s"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [86_400_000, "1 d"],
  [-5, "0 s"],
])("STATUS-1: %p ms is %s", (ms, text) => {
  expect(shortSpan(ms)).toBe(text);
});

test.each([
  [NOW - 1, "now"],
  [NOW + 400, "in 1 s"],
  [NOW + 61_000, "in 61 s"],
  [NOW + 118_400, "in 119 s"],
  [NOW + 120_000, "in 2 min"],
  [NOW + 170_000, "in 3 min"],
  [NOW + 180_000, "in 3 min"],
  [NOW + 2 * 3_600_000, "17:00"],
])("STATUS-1: %p comes %s", (ms, text) => {
  expect(tellWhen(ms, NOW)).toBe(text);
});

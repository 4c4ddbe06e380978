import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { isoTime } from "./iso-time.ts";

test("says what a Date says, for every millisecond of ten thousand years", () => {
  const first = Date.UTC(0, 0, 1) - 59_958_144_000_000;
  const time = fc.integer({
    min: Date.parse("0000-01-01T00:00:00.000Z") || first,
    max: Date.parse("9999-12-31T23:59:59.999Z"),
  });
  fc.assert(
    fc.property(time, (ms) => isoTime(ms) === new Date(ms).toISOString()),
    { numRuns: scaled(2000) },
  );
});

const days: [text: string][] = [
  ["2000-02-29"],
  ["1900-02-28"],
  ["1900-03-01"],
  ["2024-12-31"],
  ["1970-01-01"],
  ["1969-12-31"],
];
test.each(days)("knows the day %s", (text) => {
  expect(isoTime(Date.parse(`${text}T23:59:59.001Z`))).toBe(`${text}T23:59:59.001Z`);
});

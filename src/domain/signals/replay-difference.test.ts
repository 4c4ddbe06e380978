/** What two sets of rules say differently. */
import { expect, test } from "bun:test";
import type { Fired } from "./reflex-replay.ts";
import { compareSteerings } from "./replay-difference.ts";

const said = (anomaly: Fired["anomaly"], step: number): Fired => ({
  ...{ anomaly, step, at: step, text: "" },
  call: { ordinal: step, id: "" },
  evidence: [],
});
const tell = (before: Fired[], after: Fired[]) =>
  compareSteerings(before, after).map((one) => {
    const from = "before" in one ? one.before.step : "–";
    const to = "after" in one ? one.after.step : "–";
    return `${one.what} ${from} ${to}`;
  });

test.each([
  ["the same", [said("loop", 3)], [said("loop", 3)], []],
  ["one no longer", [said("loop", 3)], [], ["gone 3 –"]],
  ["one more", [], [said("loop", 3)], ["new – 3"]],
  ["earlier", [said("loop", 9)], [said("loop", 6)], ["earlier 9 6"]],
  ["later", [said("loop", 6)], [said("loop", 9)], ["later 6 9"]],
  ["another anomaly is another finding", [said("loop", 6)], [said("stall", 6)], ["gone 6 –", "new – 6"]],
  ["far away is another finding", [said("loop", 6)], [said("loop", 60)], ["gone 6 –", "new – 60"]],
  ["each is matched once", [said("loop", 6), said("loop", 9)], [said("loop", 7)], ["later 6 7", "gone 9 –"]],
] as [string, Fired[], Fired[], string[]][])("REPLAY-1: %s", (_, before, after, expected) => {
  expect(tell(before, after)).toEqual(expected);
});

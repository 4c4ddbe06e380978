/** How much of a flood passes. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../test/support/scale.ts";
import { FloodGate, PASSING_PER_SECOND } from "./flood-gate.ts";

test("so many of each kind pass in a second; the rest is counted, once", () => {
  const gate = new FloodGate();
  const passed = Array.from({ length: 1_000 }, () => gate.passes("said", 1_500)).filter(Boolean);
  expect(passed).toHaveLength(PASSING_PER_SECOND);
  expect(gate.passes("stderr", 1_500)).toBe(true);
  expect(gate.passes("said", 2_000)).toBe(true);
  expect(gate.takeDropped()).toBe(1_000 - PASSING_PER_SECOND);
  expect(gate.takeDropped()).toBe(0);
});

test("what passes and what is counted as dropped is everything, however it comes", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("said", "stderr"), fc.nat(3_000)), { maxLength: 500 }), (lines) => {
      const gate = new FloodGate();
      const passed = lines.filter(([kind, at]) => gate.passes(kind, at)).length;
      expect(passed + gate.takeDropped()).toBe(lines.length);
    }),
    { numRuns: scaled(50) },
  );
});

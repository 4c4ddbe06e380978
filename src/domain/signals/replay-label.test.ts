/** Lines of labels: what they say, what is wrong with them, and that what is written can be read. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { readLabel, type WindowLabel, writeLabel } from "./replay-label.ts";

const whole = { file: "a.jsonl", kind: "codex", anomaly: "loop", from: "#3", to: "#9", fromId: "c3", toId: "c9" };

test("a window names its calls by their names and numbers", () => {
  const label = readLabel(JSON.stringify({ ...whole, certainty: "maybe", note: "n" }));
  expect(label).toMatchObject({ what: "window", runtime: "codex", sure: false, wrong: false, note: "n" });
  expect(label).toMatchObject({ from: { id: "c3", ordinal: 3 }, to: { id: "c9", ordinal: 9 } });
  expect(readLabel(JSON.stringify({ file: "a", anomaly: "loop", from: 4 }))).toMatchObject({ to: { ordinal: 4 } });
  expect(readLabel(JSON.stringify({ file: "a", anomaly: "loop", step: 7 }))).toMatchObject({ to: { step: 7 } });
});

test("a screened file says how much there was", () => {
  const line = JSON.stringify({ file: "a", kind: "pi", screened: true, calls: 12, hours: 0.5 });
  expect(readLabel(line)).toEqual({ what: "screened", file: "a", runtime: "pi", calls: 12, hours: 0.5 });
});

test.each([
  ["no JSON", "it is not JSON"],
  ["{}", "it names no file"],
  ['{"file":"a"}', "it names no anomaly"],
  ['{"file":"a","anomaly":"loop"}', "it names no calls (from and to)"],
  ['{"file":"a","anomaly":"loup","from":1}', 'it names no anomaly that is known: "loup"'],
  ["", undefined],
])("%j is no label: %p", (line, why) => expect(readLabel(line)).toBe(why));

test("what is written is read as it was", () => {
  const call = fc.record({ id: fc.option(fc.string({ minLength: 1 })), ordinal: fc.nat() });
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), call, call, fc.boolean(), fc.string(), (file, from, to, flag, note) => {
      const ends = { from, to: { id: to.id ?? from.id, ordinal: to.ordinal } };
      const about = { what: "window", file, runtime: "codex", anomaly: "loop" } as const;
      const label: WindowLabel = { ...about, ...ends, sure: flag, wrong: !flag, note, said: "say_1" };
      expect(readLabel(writeLabel(label))).toEqual(label);
    }),
    { numRuns: scaled(100) },
  );
});

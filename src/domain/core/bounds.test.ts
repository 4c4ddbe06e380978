import { expect, test } from "bun:test";
import fc from "fast-check";
import { refused } from "../../../test/support/tree.ts";
import { FIELD_LIMIT, LIST_LIMIT, refuseOversized } from "./bounds.ts";

const CASES: [why: string, value: unknown, message: string | undefined][] = [
  ["nothing", undefined, undefined],
  ["a text at the limit", { title: "x".repeat(FIELD_LIMIT) }, undefined],
  ["a text over it", { title: "x".repeat(FIELD_LIMIT + 1) }, "title has 16,385 bytes; 16,384 is the limit."],
  [
    "a text of signs that have three bytes each",
    { title: "字".repeat(6_000) },
    "title has 18,000 bytes; 16,384 is the limit.",
  ],
  ["ten megabytes", { problem: "x".repeat(10_000_000) }, "problem has 10,000,000 bytes; 16,384 is the limit."],
  [
    "deep inside",
    { phases: [{ tasks: [{ name: "x".repeat(20_000) }] }] },
    "phases.0.tasks.0.name has 20,000 bytes; 16,384 is the limit.",
  ],
  ["a list at the limit", { tags: Array(LIST_LIMIT).fill("x") }, undefined],
  ["a list over it", { tags: Array(LIST_LIMIT + 1).fill("x") }, "tags has 501 entries; 500 is the limit."],
  ["a bare text", "x".repeat(20_000), "The text has 20,000 bytes; 16,384 is the limit."],
];
test.each(CASES)("CRYS-1: bounds: %s", (_why, value, message) => {
  const decision = refuseOversized(value);
  expect(decision && refused(decision).message).toBe(message as string);
  if (decision) expect(refused(decision)).toMatchObject({ kind: "usage", code: "FIELD_TOO_LARGE" });
});

test("whatever is handed in, small things pass", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => refuseOversized(value) === undefined));
});

import { expect, test } from "bun:test";
import { inert, inertLines } from "./text.ts";

test.each([
  ["a line", inert],
  ["lines", inertLines],
])("what an agent says cannot turn the reading direction of a terminal, in %s", (_what, show) => {
  expect(show("rm \u202etxt.a\u2066 \u200f\u061c\u001b[2J")).toBe("rm �txt.a� ���[2J");
});

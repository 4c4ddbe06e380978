import { expect, test } from "bun:test";
import { inert, inertLines, table } from "./text.ts";

test.each([
  ["a line", inert],
  ["lines", inertLines],
])("what an agent says cannot turn the reading direction of a terminal, in %s", (_what, show) => {
  expect(show("rm \u202etxt.a\u2066 \u200f\u061c\u001b[2J")).toBe("rm �txt.a� ���[2J");
});

test.each([
  ["on a terminal of its own", { interactive: true }, "a  bbbbbb…"],
  ["on the terminal of an agent, whose runner prints it", { interactive: false, cuts: true }, "a  bbbbbb…"],
  ["in a pipe", { interactive: false }, "a  bbbbbbbbbbbb"],
])("a table is cut to the width %s", (_where, seen, expected) => {
  const lines: string[] = [];
  const out = {
    line: (text = "") => void lines.push(text),
    json: () => {},
    remark: () => {},
    colour: false,
    width: 10,
  };
  table({ ...out, ...seen }, [["a", "b".repeat(12)]]);
  expect(lines).toEqual([expected]);
});

import { expect, test } from "bun:test";
import { breakLines, breakSentences, inert, inertLines, table } from "./text.ts";

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
    problem: () => {},
    colour: false,
    width: 10,
  };
  table({ ...out, ...seen }, [["a", "b".repeat(12)]]);
  expect(lines).toEqual([expected]);
});

const QUESTION = "Which of the two calendars?\nThe old one\u001b[31m has 日本日本日本日本日本日本日本日本";
test.each([
  [
    "broken between words on a terminal",
    true,
    24,
    QUESTION,
    ["  Which of the two", "  calendars?", "  The old one�[31m has", "  日本日本日本日本日本日", "  本日本日本"],
  ],
  [
    "whole where there is room",
    true,
    120,
    QUESTION,
    ["  Which of the two calendars?", "  The old one�[31m has 日本日本日本日本日本日本日本日本"],
  ],
  ["whole in a pipe, whatever its width", false, 24, `${"a b ".repeat(30)}\n`, [`  ${"a b ".repeat(30).trimEnd()}`]],
  ["whole signs, where a word is longer than the line", true, 22, "😀".repeat(11), [`  ${"😀".repeat(10)}`, "  😀"]],
])("CTL-1: what an agent asks is shown at its full length: %s", (_how, interactive, width, text, expected) => {
  const nothing = () => {};
  const out = { line: nothing, json: nothing, remark: nothing, problem: nothing, colour: false, width, interactive };
  expect(breakLines(out, text, "  ")).toEqual(expected);
});

test.each([
  [true, ["Its log lies in", "  /a/path/of/thirty/columns/.log", "  today."]],
  [false, ["Its log lies in /a/path/of/thirty/columns/.log today."]],
])("CTL-1: our own sentences are broken between words, and a path stays whole; at a terminal: %p", (cuts, expected) => {
  const nothing = () => {};
  const out = { line: nothing, json: nothing, remark: nothing, problem: nothing, colour: false, width: 20 };
  const text = "Its log lies in /a/path/of/thirty/columns/.log today.";
  expect(breakSentences({ ...out, interactive: cuts }, text, "  ")).toEqual(expected);
});

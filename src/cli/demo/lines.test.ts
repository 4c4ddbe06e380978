import { expect, test } from "bun:test";
import { paragraph } from "./lines.ts";

test.each([
  ["what fits is one line", "  ", "one two", 20, ["  one two"]],
  ["what does not is broken between words", "  ", "one two three four", 12, ["  one two", "    three", "    four"]],
  ["to the last column", "", "12345 789", 9, ["12345 789"]],
  [
    "a word that is too long stays whole",
    "",
    "a incomprehensibilities b",
    8,
    ["a", "    incomprehensibilities", "    b"],
  ],
  ["wide signs count as they are shown", "", "こん にちは", 10, ["こん", "    にちは"]],
  ["nothing is one line", "x ", "", 10, ["x "]],
])("%s", (_why, first, text, width, lines) => {
  expect(paragraph(first, text, width, "    ")).toEqual(lines);
});

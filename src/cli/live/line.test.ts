/** STATUS-1: lines of pages are read as a whole, at any width. */
import { expect, test } from "bun:test";
import { makeLine, readLine, wrapLine } from "./line.ts";

test.each([
  ["between words", "one two three four", 9, ["one two", "three", "four"]],
  ["below its indent", "  one two three", 9, ["  one two", "  three"]],
  ["below its text, beside a column", "  r       review the task", 30, ["  r       review the task"]],
  ["below its text, beside a column", "  r   review the task", 18, ["  r   review the", "      task"]],
  ["a word that is too long where it must be", "see /a/very/long/path", 10, ["see", "/a/very/lo", "ng/path"]],
  ["wide signs", "日本語 日本語 日本語", 13, ["日本語 日本語", "日本語"]],
  [
    "with what stands before it too wide for a column",
    "a long name here  and text",
    12,
    ["a long name", "here  and", "text"],
  ],
  ["nothing", "", 10, [""]],
])("STATUS-1: a line is broken %s", (_how, text, columns, lines) => {
  expect(wrapLine(makeLine(text), columns).map(readLine)).toEqual(lines);
});

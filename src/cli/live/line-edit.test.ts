/** CTL-1: a line can be written and put right as in any shell, also with wide signs and by a paste. */
import { expect, test } from "bun:test";
import { readKeys } from "./key.ts";
import { beginEdit, EMPTY_EDIT, editLine, joinText, LINE_LIMIT, readEdit, showEdit } from "./line-edit.ts";

const LEFT = "\u001b[D";
const typed = (sent: string, start = EMPTY_EDIT) => readKeys(sent).reduce(editLine, start);

const ROWS: [what: string, sent: string, text: string, caret: number][] = [
  ["letters", "abc", "abc", 3],
  ["backspace", "abc\u007f", "ab", 2],
  ["backspace in the middle", `abc${LEFT}\u007f`, "ac", 1],
  ["backspace at the beginning", `a${LEFT}\u007f`, "a", 0],
  ["insert in the middle", `ac${LEFT}b`, "abc", 2],
  ["not beyond its ends", `a${LEFT}${LEFT}\u001b[C\u001b[C\u001b[C`, "a", 1],
  ["delete", `abc${LEFT}\u001b[3~`, "ab", 2],
  ["Ctrl-U takes what is before the caret", `one two${LEFT}\u0015`, "o", 0],
  ["Ctrl-K takes what is after it", `one two${LEFT}\u000b`, "one tw", 6],
  ["Ctrl-W takes a word", "one two  \u0017", "one ", 4],
  ["Home and End", "bc\u001b[Ha\u001b[Fd", "abcd", 4],
  ["Ctrl-A and Ctrl-E", "bc\u0001a\u0005d", "abcd", 4],
  ["wide signs, one by one", `日本${LEFT}\u007f`, "本", 0],
  ["an emoji of several code points is one", "a👩‍💻\u007f", "a", 1],
  ["a paste of several lines stays a line", "\u001b[200~one\r\ntwo\tthree\u0007\u001b[201~!", "one two three!", 14],
  ["a key without a meaning", "a\u001b[24~\u0007b", "ab", 2],
];
test.each(ROWS)("CTL-1: a line is edited: %s", (_what, sent, text, caret) => {
  const edit = typed(sent);
  expect([readEdit(edit), edit.caret]).toEqual([text, caret]);
});

test("CTL-1: text that comes at once is written at once, and keys are keys where nothing is written", () => {
  const keys = readKeys("ab\u007fcd");
  expect([...joinText(keys, () => true)].map(({ name, text }) => text || name)).toEqual(["ab", "backspace", "cd"]);
  expect([...joinText(keys, () => false)]).toEqual(keys);
  let isWriting = false;
  const seen: string[] = [];
  for (const { text } of joinText(readKeys("jnabc"), () => isWriting)) {
    seen.push(text);
    isWriting ||= text === "n";
  }
  expect(seen).toEqual(["j", "n", "abc"]);
});

test("CTL-1: what is written at a time costs by its own length, and a line too long for anything stays so", () => {
  const long = [...joinText(readKeys("x".repeat(LINE_LIMIT + 5_000)), () => true)].reduce(editLine, EMPTY_EDIT);
  expect(readEdit(long)).toHaveLength(LINE_LIMIT + 1);
  expect(editLine(long, { name: "text", text: "y" })).toBe(long);
  expect(readEdit(typed("👩", beginEdit("x".repeat(LINE_LIMIT))))).toBe("x".repeat(LINE_LIMIT));
  expect(typed("🇩🇪🇫🇷").signs).toEqual(["🇩🇪", "🇫🇷"]);
});

test("CTL-1: a line that is longer than the screen shows the part around its caret", () => {
  expect(showEdit(beginEdit("abcdef"), 4)).toEqual({ text: "def", at: 3 });
  expect(showEdit({ ...beginEdit("abcdef"), caret: 0 }, 4)).toEqual({ text: "abcd", at: 0 });
  expect(showEdit(beginEdit("日本語"), 4)).toEqual({ text: "語", at: 2 });
});

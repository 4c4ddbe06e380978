/** A list of sentences: all of it, or nothing. */
import { expect, test } from "bun:test";
import { readPromptList } from "./prompt-list.ts";

test.each<[why: string, text: string, found: [number, string][]]>([
  [
    "blank lines and comments are skipped",
    "\n# today\nFix it\r\n\n  Test it  \n",
    [
      [3, "Fix it"],
      [5, "Test it"],
    ],
  ],
  ["a tab inside is none of a fault", "Fix\tit", [[1, "Fix\tit"]]],
])("SLING-4: a list: %s", (_why, text, found) => {
  const list = readPromptList(text, "l.txt");
  expect(list.ok && list.prompts.map(({ line, text: prompt }) => [line, prompt])).toEqual(found);
});

test.each<[why: string, text: string, says: string]>([
  ["nothing", "# none\n", "l.txt: there is no work in it."],
  ["a binary file", "ok\n\u0000\u0001", "l.txt:2: it holds control characters."],
  ["signs alone", "ok\n---\n", "l.txt:2: it has no words."],
  ["the same twice", "Fix it\nTest it\nFix it", "l.txt:3: it says the same as line 1."],
  ["far too many", Array.from({ length: 201 }, (_, at) => `Do ${at}`).join("\n"), "201 lines; 200 is the limit"],
])("SLING-4: a list with %s is refused as a whole, with the line", (_why, text, says) => {
  const list = readPromptList(text, "l.txt");
  if (list.ok) throw new Error("it was taken");
  expect(list.refusal.code).toBe("LIST_INVALID");
  expect(list.refusal.message).toContain(says);
  expect(list.refusal.hint).toContain("Nothing was started");
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ConversationPart } from "#domain/explain/conversation.ts";
import { anyText } from "../../test/support/any-text.ts";
import { conversationLines, paintLine, wrapText } from "./conversation-lines.ts";

const LONG = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join("\n");
const PARTS: readonly ConversationPart[] = [
  { kind: "note", at: 1, text: "a#1 came up.", bad: false },
  { kind: "prompt", at: 2, from: "human:sam", text: "Please fix the parser of the configuration.", left: 0 },
  { kind: "words", at: 3, text: "I look at it.", left: 0 },
  { kind: "command", at: 4, call: "c1", tool: "Bash", does: "npm test" },
  { kind: "result", at: 5, call: "c1", ok: false, text: "Exit code 1\nTypeError", left: 0 },
  { kind: "command", at: 6, call: "c2", tool: "Edit", does: "src/a.ts" },
  { kind: "diff", at: 6, path: "src/a.ts", text: " one\n-two\n+2", left: 0 },
  { kind: "result", at: 7, call: "c2", ok: true, text: "", left: 0 },
  { kind: "result", at: 8, call: "c3", ok: true, text: LONG, left: 1200 },
  { kind: "note", at: 9, text: "its checks failed", bad: true },
];

test("LOG-1: a conversation reads as who asked, what was said, run and changed, and what came of it", () => {
  const lines = conversationLines(PARTS, { columns: 40, time: (ms) => `00:0${ms}` });
  expect(lines.map(({ text, tone }) => `${tone}|${text}`)).toEqual([
    "faint|— 00:01 a#1 came up.",
    "plain|",
    "prompt|❯ 00:02 human:sam: Please fix the parser",
    "prompt|  of the configuration.",
    "plain|",
    "words|● I look at it.",
    "command|⚙ Bash npm test",
    "failed|  ✗ Exit code 1",
    "failed|    TypeError",
    "command|⚙ Edit src/a.ts",
    "faint|     one",
    "removed|    -two",
    "added|    +2",
    "result|  ✓ done",
    "result|  ✓ line 1",
    "result|    line 2",
    "result|    line 3",
    "result|    line 4",
    "faint|    … 26 more lines, 1,200 characters left out",
    "failed|— 00:09 its checks failed",
  ]);
});

test("LOG-1: of calls that ran side by side each is told with what came of it", () => {
  const call = (id: string): ConversationPart => ({ kind: "command", at: 1, call: id, tool: "Bash", does: id });
  const result = (id: string): ConversationPart => ({
    kind: "result",
    at: 2,
    call: id,
    ok: true,
    text: `r${id}`,
    left: 0,
  });
  const diff: ConversationPart = { kind: "diff", at: 1, path: "a", text: "+x", left: 0 };
  const parts = [result("0"), call("1"), call("2"), diff, call("3"), result("2"), result("1")];
  const lines = conversationLines(parts, { columns: 40 }).map(({ text }) => text.trim());
  expect(lines).toEqual(["✓ r0", "⚙ Bash 1", "✓ r1", "⚙ Bash 2", "+x", "✓ r2", "⚙ Bash 3"]);
});

test("LOG-1: nothing is shortened where everything is asked for", () => {
  const lines = conversationLines(PARTS, { columns: 40, full: true }).map(({ text }) => text);
  expect(lines).toContain("    line 30");
  expect(lines.filter((text) => text.includes("more line"))).toEqual([]);
});

test("LOG-1: whatever an agent says, lines fit the columns, hold nothing a terminal acts upon, and lose no word", () => {
  fc.assert(
    fc.property(anyText(), fc.integer({ min: 2, max: 60 }), (text, columns) => {
      const rows = wrapText(text, columns);
      for (const row of rows) {
        expect(Bun.stringWidth(row)).toBeLessThanOrEqual(columns);
        expect(row).not.toMatch(/\p{Cc}/u);
      }
      const signs = (one: string) => one.replace(/[\s\ufffd]|[^\P{Cc}]/gu, "").replace(/\p{Bidi_C}/gu, "");
      expect(signs(rows.join(""))).toBe(signs(text));
    }),
  );
});

test("LOG-1: only where there is colour is anything coloured", () => {
  expect(paintLine({ text: "    +2", tone: "added" }, true)).toBe("\u001b[32m    +2\u001b[0m");
  expect(paintLine({ text: "    +2", tone: "added" }, false)).toBe("    +2");
});

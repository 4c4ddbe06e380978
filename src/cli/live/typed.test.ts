/** CTL-1: a paste comes as one, however it is cut; one without an end and one without a limit hold nobody up. */
import { expect, test } from "bun:test";
import { readKeys } from "./key.ts";
import { addTyped, isTypedWhole, NOTHING_TYPED } from "./typed.ts";

const add = (...chunks: string[]) => chunks.reduce((typed, chunk, at) => addTyped(typed, chunk, at), NOTHING_TYPED);

const ROWS: [what: string, chunks: string[], later: number, keys: string[] | null][] = [
  ["nothing", [], 5_000, null],
  ["keys", ["a", "b"], 0, ["a", "b"]],
  ["a paste in pieces", ["\u001b[200~on", "e", "\u001b[20", "1~"], 0, ["one"]],
  ["a paste that goes on", ["\u001b[200~one"], 999, null],
  ["a paste without an end", ["\u001b[200~one", "two"], 1_001, ["onetwo"]],
  ["keys after a paste", ["\u001b[200~one\u001b[201~y"], 0, ["one", "y"]],
  ["Ctrl-C in a paste without an end", ["\u001b[200~one", "\u0003"], 0, ["ctrl-c"]],
  ["the sign of Ctrl-C that was pasted", ["\u001b[200~o\u0003ne\u001b[201~"], 0, ["one"]],
];
test.each(ROWS)("CTL-1: what was typed: %s", (_what, chunks, later, keys) => {
  const typed = add(...chunks);
  expect(isTypedWhole(typed, later)).toBe(keys !== null);
  if (keys) expect(readKeys(typed.text).map(({ name, text }) => text || name)).toEqual(keys);
});

test("CTL-1: of an endless paste only the beginning is kept, and its end is still found", () => {
  const chunks = Array.from({ length: 300 }, () => "x".repeat(1_000));
  const typed = add("\u001b[200~", ...chunks, "\u001b[2", "01~", "y");
  expect(typed.text.length).toBeLessThan(66_000);
  expect(isTypedWhole(typed, 0)).toBe(true);
  expect(readKeys(typed.text).map(({ text }) => text.length)).toEqual([expect.any(Number), 1]);
});

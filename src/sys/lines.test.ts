/** Lines of a file, however they lie across chunks. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../../test/support/temp.ts";
import { eachLine, TOO_LONG } from "./lines.ts";

const path = join(tempDir(), "lines");
function linesOf(text: string, longest = 1_000_000): (string | typeof TOO_LONG)[] {
  writeFileSync(path, text);
  const lines: (string | typeof TOO_LONG)[] = [];
  eachLine(path, longest, (line) => lines.push(line) > 0);
  return lines;
}

test.each([
  ["", []],
  ["a", ["a"]],
  ["a\nb\n", ["a", "b"]],
  ["\n\nä😀\nrest", ["", "", "ä😀", "rest"]],
])("%j", (text, lines) => expect(linesOf(text)).toEqual(lines));

test("a line across several chunks is whole, and one that is too long does not take the next with it", () => {
  const long = "é".repeat(1_300_000);
  expect(linesOf(`x\n${long}\ny\n`, 3_000_000).map((line) => (line === TOO_LONG ? "long" : line.length))).toEqual([
    1, 1_300_000, 1,
  ]);
  expect(linesOf(`x\n${long}\ny`, 1_000_000)).toEqual(["x", TOO_LONG, "y"]);
  expect(linesOf(`x\n${long}`, 1_000_000)).toEqual(["x", TOO_LONG]);
});

test("it ends when it is told to, and says what the system says of a missing file", () => {
  writeFileSync(path, "a\nb\nc\n");
  const lines: unknown[] = [];
  eachLine(path, 100, (line) => lines.push(line) < 2);
  expect(lines).toEqual(["a", "b"]);
  expect(() => eachLine(`${path}.none`, 100, () => true)).toThrow("ENOENT");
});

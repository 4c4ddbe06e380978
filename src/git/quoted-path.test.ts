import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { quotePath, unquotePath } from "./quoted-path.ts";

const cases: [name: string, quoted: string][] = [
  ["plain/name.txt", "plain/name.txt"],
  [" spaces  stay ", " spaces  stay "],
  ["ä", '"\\303\\244"'],
  ["new\nline", '"new\\nline"'],
  ['q"uo\\te', '"q\\"uo\\\\te"'],
  ["tab\t\x07\x7f", '"tab\\t\\a\\177"'],
];
test.each(cases)("VALID-11: %j is written %s", (name, quoted) => {
  expect(quotePath(name)).toBe(quoted);
  expect(unquotePath(quoted)).toBe(name);
});

test("bytes that are not UTF-8 have no name", () => expect(unquotePath('"caf\\351"')).toBeUndefined());

test("every name survives", () => {
  fc.assert(
    fc.property(anyText(), (name) => {
      const quoted = quotePath(name);
      expect(quoted).toMatch(/^[ -~]*$/);
      expect(unquotePath(quoted)).toBe(name);
    }),
  );
});

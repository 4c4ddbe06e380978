import { expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../../test/support/any-text.ts";
import { visible, visibleJson } from "./terminal-text.ts";

const MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";

test("every mark that turns the reading direction is made visible, and so is every control character", () => {
  expect(visible(`a${MARKS}b`)).toBe(`a${"\ufffd".repeat(MARKS.length)}b`);
  expect(visible("\u001b[2Jx\r\u0007\u009b31m\ty\nz")).toBe("\ufffd[2Jx\ufffd\ufffd\ufffd31m\ufffdy\nz");
  expect(visible("שלום، 日本 👩‍💻")).toBe("שלום، 日本 👩‍💻");
});

test("JSON keeps its value and shows nothing that a terminal acts upon", () => {
  fc.assert(
    fc.property(anyText(), fc.shuffledSubarray([...MARKS, "\u009b", "\u007f"]), (text, marks) => {
      const value = { [`${text}${marks.join("")}`]: [marks.join("x"), text] };
      const json = visibleJson(JSON.stringify(value, null, 2));
      expect(JSON.parse(json)).toEqual(value);
      expect(visible(json)).toBe(json);
    }),
  );
});

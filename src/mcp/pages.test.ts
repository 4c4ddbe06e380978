/** Answers in pieces: nothing is lost, nothing comes twice, and no piece is larger than it may be. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { byteLength } from "#domain/core/quote.ts";
import { anyText } from "../../test/support/any-text.ts";
import { scaled } from "../../test/support/scale.ts";
import { Pages } from "./pages.ts";

const FOOT = /\n… \d+ bytes more: read \{"more":"(r\d+@\d+)"\}$/;

test("MCP-1: the pieces of a long answer are the answer, each within its bytes", () => {
  fc.assert(
    fc.property(fc.array(anyText(), { maxLength: 30 }), fc.integer({ min: 8, max: 60 }), (lines, bytes) => {
      const text = lines.join("\n").toWellFormed();
      const pages = new Pages(bytes);
      let shown = pages.first(text);
      let all = "";
      for (let turns = 0; ; turns += 1) {
        const word = FOOT.exec(shown)?.[1];
        const piece = word === undefined ? shown : shown.replace(FOOT, "");
        all += piece;
        if (word === undefined) break;
        expect(byteLength(piece)).toBeLessThanOrEqual(bytes);
        expect(turns).toBeLessThan(10_000);
        shown = pages.next(word) ?? "lost";
      }
      expect(all).toBe(text);
    }),
    { numRuns: scaled(200) },
  );
});

test.each(["", "r1", "r9@0", "r1@99999", "r1@-1", "1@1", "r1@1;ls"])("MCP-1: %p stands for nothing", (word) => {
  const pages = new Pages(10);
  pages.first("a longer text than that");
  expect(pages.next(word)).toBeUndefined();
});

test("MCP-1: a cut answer ends behind a line where it can, and old ones are forgotten", () => {
  const pages = new Pages(20);
  expect(pages.first("first line here\nsecond line")).toStartWith("first line here\n\n… 11 bytes");
  for (let index = 0; index < 20; index += 1) pages.first("another one that is cut off");
  expect(pages.next("r1@16")).toBeUndefined();
  expect(pages.next("r21@20")).toBe("cut off");
});

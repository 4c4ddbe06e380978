import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { anyText } from "../../test/support/any-text.ts";
import { scaled } from "../../test/support/scale.ts";
import { type Bounds, clip, clipDeep } from "./bounds.ts";

const longText = fc.oneof(
  anyText({ maxLength: 400 }),
  fc.string({ unit: fc.constantFrom("a", "ä", "€", "😀", "\ud83d", "\udc00"), maxLength: 400 }),
);

describe("clip", () => {
  test("STORE-9: text that fits is untouched, text that does not says how much is missing", () => {
    expect(clip("short", 5)).toBe("short");
    expect(clip("x".repeat(12_400), 100)).toBe(`${"x".repeat(73)} … [clipped 12,327 bytes]`);
    expect(Buffer.byteLength(clip("x".repeat(12_400), 100))).toBeLessThanOrEqual(100);
    expect(clip("😀".repeat(50), 33)).toBe("😀😀 … [clipped 192 bytes]");
    expect(clip("long enough to be cut", 4)).toBe("long");
    expect(clip("anything", Number.NaN)).toBe("");
  });

  test("STORE-9: never longer than asked, always well-formed, and clipping twice changes nothing", () => {
    fc.assert(
      fc.property(longText, fc.integer({ min: -1, max: 500 }), (text, maxBytes) => {
        const clipped = clip(text, maxBytes);
        expect(Buffer.byteLength(clipped)).toBeLessThanOrEqual(Math.max(0, maxBytes));
        expect(clipped.isWellFormed()).toBe(true);
        expect(clip(clipped, maxBytes)).toBe(clipped);
      }),
      { numRuns: scaled(1000) },
    );
  });
});

describe("clipDeep", () => {
  const measure = (value: unknown): { depth: number; items: number; bytes: number } => {
    if (typeof value === "string") return { depth: 0, items: 0, bytes: Buffer.byteLength(value) };
    if (typeof value !== "object" || value === null) return { depth: 0, items: 0, bytes: 0 };
    const inner = Object.values(value).map(measure);
    const keys = Array.isArray(value) ? [] : Object.keys(value).map((key) => Buffer.byteLength(key));
    return {
      depth: 1 + Math.max(0, ...inner.map((it) => it.depth)),
      items: Math.max(inner.length, ...inner.map((it) => it.items)),
      bytes: Math.max(0, ...keys, ...inner.map((it) => it.bytes)),
    };
  };
  const bounds: fc.Arbitrary<Bounds> = fc.record({
    maxStringBytes: fc.integer({ min: 0, max: 60 }),
    maxItems: fc.integer({ min: 0, max: 5 }),
    maxDepth: fc.integer({ min: 0, max: 4 }),
  });

  test("STORE-9: every string, list and depth stays within its bound, and clipping twice changes nothing", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), bounds, (value, limits) => {
        const clipped = clipDeep(value, limits);
        const size = measure(clipped);
        expect(size.bytes).toBeLessThanOrEqual(limits.maxStringBytes);
        expect(size.items).toBeLessThanOrEqual(limits.maxItems);
        expect(size.depth).toBeLessThanOrEqual(limits.maxDepth);
        expect(clipDeep(clipped, limits)).toEqual(clipped);
      }),
      { numRuns: scaled(1000) },
    );
  });

  test("STORE-9: what fits is the same reference", () => {
    const value = { a: [1, "two", { three: Number.NaN }], at: new Date(0) };
    expect(clipDeep(value, { maxStringBytes: 100, maxItems: 5, maxDepth: 5 })).toBe(value);
  });

  test("STORE-9: the note counts what is missing", () => {
    const limits = { maxStringBytes: 100, maxItems: 3, maxDepth: 5 };
    expect(clipDeep<unknown>([1, 2, 3, 4, 5], limits)).toEqual([1, 2, "… [clipped 3 items]"]);
    expect(clipDeep<unknown>({ a: 1, b: 2, c: 3, d: 4 }, limits)).toEqual({
      a: 1,
      b: 2,
      "…": "… [clipped 2 properties]",
    });
  });
});

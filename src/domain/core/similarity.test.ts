/** Which results say the same, and which arguments are similar, one row each; then what holds for any text. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { isSimilar, resultHash, shapeOf, similarity } from "./similarity.ts";

const results: [same: boolean, why: string, one: string, other: string][] = [
  [true, "durations", "3 failed in 1.20s", "3 failed in 0.98s"],
  [true, "durations in ms", "done (12 ms)", "done (340 ms)"],
  [true, "times of day", "12:01:02 refused", "12:01:09 refused"],
  [true, "dates", "2026-01-02T10:00:00Z no", "2026-01-03T11:00:00Z no"],
  [true, "temporary files", "no such file /tmp/a1/b", "no such file /tmp/zz/q"],
  [true, "ids", "commit 1a2b3c4d failed", "commit 9f8e7d6c failed"],
  [true, "processes", "pid 123 hangs", "pid 456 hangs"],
  [false, "counts", "12 failed, 30 passed", "11 failed, 31 passed"],
  [false, "what is missing", "cannot find module a", "cannot find module b"],
  [false, "lines", "a.ts:3: error", "a.ts:4: error"],
  [false, "words that look a little like ids", "feedback", "facade"],
];
test.each(results)("ANOM-2: the same result is %p with other %s", (same, _why, one, other) => {
  expect(resultHash(one) === resultHash(other)).toBe(same);
});

test("ANOM-2: of a long result both ends count", () => {
  const long = "x".repeat(200_000);
  expect(resultHash(`${long} 3 failed`)).not.toBe(resultHash(`${long} 2 failed`));
});

const argumentPairs: [similar: boolean, one: object, other: object][] = [
  [true, { command: "npm test" }, { command: "npm  test" }],
  [true, { command: "npm test", description: "Run" }, { command: "npm test", description: "Run" }],
  [true, { command: "tail -n 40 src/a.ts" }, { command: "tail -n 80 src/a.ts" }],
  [true, { command: "curl -s localhost:8080/jobs/1 -H x" }, { command: "curl -s localhost:8080/jobs/1 -H x -v" }],
  [false, { pattern: "fooBar", path: "src" }, { pattern: "foo_bar", path: "src" }],
  [false, { file_path: "/w/a.ts" }, { file_path: "/w/b.ts" }],
  [false, { command: "npm test" }, { command: "npm run build" }],
  [false, { command: "git status" }, { command: "git diff" }],
];
test.each(argumentPairs)("ANOM-2: arguments are similar: %p, %j and %j", (similar, one, other) => {
  expect(isSimilar(shapeOf(JSON.stringify(one)), shapeOf(JSON.stringify(other)))).toBe(similar);
});

describe("any arguments", () => {
  const any = fc
    .dictionary(fc.string({ maxLength: 10 }), fc.string({ maxLength: 200 }))
    .map((value) => JSON.stringify(value));
  test("are similar to themselves, both ways alike, and leave a short sketch", () => {
    fc.assert(
      fc.property(any, any, (one, other) => {
        const [a, b] = [shapeOf(one), shapeOf(other)];
        expect(similarity(a, a)).toBe(1);
        expect(similarity(a, b)).toBe(similarity(b, a));
        expect(a.length).toBeLessThanOrEqual(36);
      }),
      { numRuns: scaled(200) },
    );
  });
});

/** Which results say the same, and which arguments are similar, one row each; then what holds for any text. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { failureIn, isSimilar, resultHash, shapeOf, similarity } from "./similarity.ts";

const results: [same: boolean, why: string, one: string, other: string][] = [
  [true, "durations", "3 failed in 1.20s", "3 failed in 0.98s"],
  [true, "durations in ms", "done (12 ms)", "done (340 ms)"],
  [true, "times of day", "12:01:02 refused", "12:01:09 refused"],
  [true, "dates", "2026-01-02T10:00:00Z no", "2026-01-03T11:00:00Z no"],
  [true, "temporary files", "no such file /tmp/a1/b", "no such file /tmp/zz/q"],
  [true, "ids", "commit 1a2b3c4d failed", "commit 9f8e7d6c failed"],
  [true, "processes", "pid 123 hangs", "pid 456 hangs"],
  [true, "lines of a long-lived shell", "bash: line 50776: foo: not found", "bash: line 50790: foo: not found"],
  [true, "lines that only count upwards", "line 50776: no", "line 50791: no"],
  [true, "lines of an eval", "(eval):12: no such thing", "(eval):31: no such thing"],
  [false, "lines of a file", "line 3: syntax error", "line 4: syntax error"],
  [false, "counts", "12 failed, 30 passed", "11 failed, 31 passed"],
  [false, "what is missing", "cannot find module a", "cannot find module b"],
  [false, "lines", "a.ts:3: error", "a.ts:4: error"],
  [false, "words that look a little like ids", "feedback", "facade"],
];
test.each(results)("ANOM-2: the same result is %p with other %s", (same, _why, one, other) => {
  expect(resultHash(one) === resultHash(other)).toBe(same);
});

const heads: [same: boolean, why: string, one: string, other: string][] = [
  [
    true,
    "the string that was not found",
    "<tool_use_error>String to replace not found in file.\nString: const a = 1;</tool_use_error>",
    "<tool_use_error>String to replace not found in file.\nString: let b = 22;</tool_use_error>",
  ],
  [true, "quoted words", "Exit code 1\nerror: unknown option '--foo'", "Exit code 1\nerror: unknown option '--bar'"],
  [true, "paths", "Exit code 1\nError: cannot open src/a.ts", "Exit code 1\nError: cannot open lib/deep/b.ts"],
  [
    true,
    "what stands above in a traceback",
    'Traceback (most recent call last):\n  File "a.py", line 3\nKeyError: 1',
    'Traceback (most recent call last):\n  File "b.py", line 9\n    run()\nKeyError: 2',
  ],
  [true, "what was printed before", "Exit code 1\nloading 3\nfatal: no remote", "Exit code 1\nready\nfatal: no remote"],
  [
    false,
    "kinds of error",
    "Traceback (most recent call last):\n x\nKeyError: 1",
    "Traceback (most recent call last):\n x\nTypeError: 1",
  ],
  [false, "words", "fatal: not a git repository", "fatal: refusing to merge"],
];
test.each(heads)("ANOM-2: the same error is %p with other %s", (same, _why, one, other) => {
  expect(failureIn(one, false, true)?.head).toBeString();
  expect(failureIn(one, false, true)?.head === failureIn(other, false, true)?.head).toBe(same);
});

test.each<[text: string, count: number | undefined]>([
  ["3 failed, 37 passed in 2s", 3],
  ["Tests:       1 failed, 9 passed\nTest Suites: 2 failed", 2],
  ["Found 12 errors in 4 files.", 12],
  ["✖ 5 problems (5 errors, 0 warnings)", 5],
  ["failures: 4", 4],
  ["all 40 tests passed", undefined],
])("ANOM-2: %p counts %p failures", (text, count) => {
  expect(failureIn(text, true, true)?.count).toBe(count as never);
  expect(failureIn(text, true, false)).toBeUndefined();
});

test.each([
  ["without an end of its path", "a".repeat(8_000)],
  ["of quotations that open", "“'".repeat(4_000)],
])("ANOM-2: five hundred errors of one long line %s come to an end", (_what, line) => {
  for (let round = 0; round < 500; round += 1) failureIn(`error ${line}`, false, true);
  expect(failureIn(`error ${line}`, false, true)).toEqual(failureIn(`error ${line} 7`, false, true));
});

test("ANOM-2: five hundred arguments full of quotes come to an end, and names of fields do not count", () => {
  const args = JSON.stringify({ content: '{"a": "b"}\n'.repeat(700) });
  for (let round = 0; round < 500; round += 1) shapeOf(args.slice(0, 4_000 + (round % 7)));
  expect(shapeOf('{"file": "x y"}')).toBe(shapeOf('{ "other" : "x y"}'));
  expect(shapeOf('{"file": "x y"}')).not.toBe(shapeOf('{"file": "x z"}'));
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

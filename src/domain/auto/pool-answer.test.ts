import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import { type PoolRun, readPoolAnswer } from "./pool-answer.ts";

const LIMITS = { maxBytes: 64, timeoutMs: 1_500 };
const printed = (raw: string | Uint8Array) => {
  const bytes = typeof raw === "string" ? new TextEncoder().encode(raw) : raw;
  return { stdout: new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), bytes: bytes.byteLength };
};
const run = (change: Partial<PoolRun>): PoolRun => ({
  ...{ code: 0, hung: false, overflowed: false, stderr: "", ...printed("") },
  ...change,
});

describe("AUTO-2: what the pool command's end means", () => {
  const rows: readonly [string, Partial<PoolRun>, string][] = [
    ["a task", { ...printed("  fix it\n") }, "task: fix it"],
    [
      "shell metacharacters are words like others",
      { ...printed("$(rm -rf /); `id` > x & 'y'") },
      "task: $(rm -rf /); `id` > x & 'y'",
    ],
    ["no output", {}, "none"],
    ["nothing but white space", { ...printed(" \n\t\n") }, "none"],
    ["exit 4", { code: 4 }, "none"],
    ["exit 4 with words", { code: 4, ...printed("none ready") }, "none"],
    ["exit 3", { code: 3, ...printed("fix it") }, "POOL_CLAIM_LIMIT"],
    ["exit 1 with a task", { code: 1, ...printed("fix it") }, "POOL_FAILED"],
    ["a command that is not there", { code: 127 }, "POOL_FAILED"],
    ["a signal", { code: null }, "POOL_FAILED"],
    ["too late", { code: null, hung: true }, "POOL_HUNG"],
    ["in time, although something of it stayed", { code: 0, hung: true, ...printed("fix it") }, "task: fix it"],
    ["too much", { ...printed("x".repeat(65)) }, "POOL_OUTPUT"],
    ["more than was kept, whatever its code", { code: 141, overflowed: true }, "POOL_OUTPUT"],
    ["the sign that stands for none is text where it was printed", printed("fix \ufffd"), "task: fix \ufffd"],
    ["a NUL", { ...printed("fix\u0000it") }, "POOL_OUTPUT"],
    ["no UTF-8", printed(new Uint8Array([0xff, 0xfe, 0x41])), "POOL_OUTPUT"],
  ];
  test.each(rows)("%s", (_name, change, expected) => {
    const answer = readPoolAnswer(run(change), LIMITS);
    const said = { task: "", none: "none", failed: "" }[answer.kind];
    expect(
      answer.kind === "task" ? `task: ${answer.text}` : answer.kind === "failed" ? answer.failure.code : said,
    ).toBe(expected);
  });

  test("a failure quotes the end of what was said, and names the next step", () => {
    const answer = readPoolAnswer(run({ code: 1, stderr: `${"x".repeat(400)} no such\n table` }), LIMITS);
    expect(answer.kind === "failed" && answer.failure.problem).toMatch(
      /^The task pool command ended with 1\. It said: "x+ no such table"\.$/,
    );
    expect(answer.kind === "failed" && answer.failure.hint).toContain("overseer up --auto");
  });

  test("for any bytes and any code it answers, and only exit 0 gives a task", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.option(fc.integer({ min: 0, max: 255 }), { nil: null }),
        (stdout, code) => {
          const answer = readPoolAnswer(run({ ...printed(stdout), code }), LIMITS);
          if (answer.kind === "task") {
            expect(code).toBe(0);
            expect(answer.text.trim()).not.toBe("");
          }
          if (code === 4) expect(answer.kind).toBe("none");
        },
      ),
      { numRuns: scaled(200) },
    );
  });
});

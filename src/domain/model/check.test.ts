import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { receiptWith } from "../../../test/support/claims.ts";
import {
  type CheckEnd,
  type CheckVerdict,
  chooseChecks,
  excerptFailure,
  findReceipt,
  judgeCheck,
  verdictOf,
} from "./check.ts";

const spec = { command: "npm test", expect: null, timeoutMs: 60_000 };
const ok: CheckEnd = { exit: 0, signal: null, timedOut: false, expectFound: null };

const ENDS: [why: string, end: Partial<CheckEnd>, more: Partial<typeof spec>, verdict: CheckVerdict][] = [
  ["exit 0 passes", {}, {}, "pass"],
  ["exit 1 fails", { exit: 1 }, {}, "fail"],
  ["exit 2 fails", { exit: 2 }, {}, "fail"],
  ["126, not executable, did not run", { exit: 126 }, {}, "did_not_run"],
  ["127, not found, did not run", { exit: 127 }, {}, "did_not_run"],
  ["a deadline did not run", { exit: 1, timedOut: true }, {}, "did_not_run"],
  ["a deadline wins over a late zero", { timedOut: true }, {}, "did_not_run"],
  ["a signal did not run", { exit: null, signal: "SIGKILL" }, {}, "did_not_run"],
  ["a child that a signal ended did not run", { exit: 137 }, {}, "did_not_run"],
  ["255 is a plain failure", { exit: 255 }, {}, "fail"],
  ["pytest without tests did not run", { exit: 5 }, { command: "python -m pytest -q" }, "did_not_run"],
  ["py.test without tests did not run", { exit: 5 }, { command: "py.test" }, "did_not_run"],
  ["5 of anything else fails", { exit: 5 }, {}, "fail"],
  ["a word that was expected and is not there did not run", { expectFound: false }, {}, "did_not_run"],
  ["and that holds for a failing one too", { exit: 1, expectFound: false }, {}, "did_not_run"],
  ["a word that was expected and is there passes", { expectFound: true }, {}, "pass"],
  ["an end that nobody saw did not run", { exit: null }, {}, "did_not_run"],
];
test.each(ENDS)("DONE-1: %s", (_why, end, more, verdict) => {
  const judged = judgeCheck({ ...spec, ...more }, { ...ok, ...end });
  expect(judged.verdict).toBe(verdict);
  expect(judged.why === null).toBe(verdict === "pass");
});

test.each([
  ["sh: 1: vitest: not found\n", "the command vitest (of `npm test`) was not found (exit 127)"],
  ["> test\n\nsh: line 1: jest: command not found", "the command jest (of `npm test`) was not found (exit 127)"],
  ["", "a command of `npm test` was not found (exit 127)"],
])("DONE-1: what was not found is named: %j", (output, why) => {
  expect(judgeCheck(spec, { ...ok, exit: 127, output }).why).toBe(why);
});

test("DONE-1: only exit 0 of a command that ran to its end is ever a pass", () => {
  const ends = fc.record({
    exit: fc.option(fc.integer({ min: 0, max: 255 })),
    signal: fc.option(fc.constantFrom("SIGKILL", "SIGTERM")),
    timedOut: fc.boolean(),
    expectFound: fc.option(fc.boolean()),
  });
  fc.assert(
    fc.property(ends, fc.constantFrom("npm test", "pytest"), (end, command) => {
      const { verdict } = judgeCheck({ ...spec, command }, end);
      const clean = end.exit === 0 && end.signal === null && !end.timedOut && end.expectFound !== false;
      expect(verdict === "pass").toBe(clean);
    }),
  );
});

describe("several checks", () => {
  const of = (...verdicts: CheckVerdict[]) => verdictOf(verdicts.map((verdict) => ({ verdict })));
  test("DONE-1: one that did not run blocks, whatever the others say", () => {
    expect(of("pass", "did_not_run", "fail")).toBe("did_not_run");
  });
  test("one failure is a failure, all passes a pass, and nothing is neither", () => {
    expect([of("pass", "fail"), of("pass", "pass"), of()]).toEqual(["fail", "pass", "nothing_to_run"]);
  });
});

describe("a verdict belongs to the tree", () => {
  const passed = receiptWith();
  const wanted = { name: passed.name, command: passed.command, tree: passed.tree };
  test("the same command on the same tree need not run again", () => {
    expect(findReceipt([passed], wanted)).toBe(passed);
  });
  test("another tree, another command, or one that did not run has to", () => {
    expect(findReceipt([passed], { ...wanted, tree: "x" })).toBe(undefined);
    expect(findReceipt([passed], { ...wanted, command: "x" })).toBe(undefined);
    expect(findReceipt([receiptWith({ verdict: "did_not_run" })], wanted)).toBe(undefined);
  });
});

describe("the failing part of a long output", () => {
  test("short output is shown whole", () => {
    expect(excerptFailure("one\ntwo\n", 100)).toBe("one\ntwo");
  });
  test("a long one is shown from its first trouble, and its end", () => {
    const output = `${"quiet line\n".repeat(500)}src/a.ts: error TS1: no\nmore about it\n${"dots\n".repeat(500)}2 tests failed`;
    const part = excerptFailure(output, 600);
    expect(part).toContain("error TS1: no\nmore about it");
    expect(part).toEndWith("2 tests failed");
    expect(part.length).toBeLessThanOrEqual(600);
  });
  test("it is never longer than asked, and always ends as the output does", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("ok\n", "fail\n", "é", " "), { maxLength: 400 }),
        fc.integer({ min: 40, max: 300 }),
        (words, most) => {
          const text = words.join("").trimEnd();
          const part = excerptFailure(text, most);
          expect(part.length).toBeLessThanOrEqual(Math.max(most, 0));
          expect(text.endsWith(part.slice(-10))).toBe(true);
        },
      ),
    );
  });
});

test("DONE-1: a node is judged by the checks that its plan names; by all of that moment where one of them is gone", () => {
  const configured = [
    { name: "unit", on: ["done", "land"] },
    { name: "lint", on: ["done"] },
    { name: "e2e", on: ["land"] },
  ] as const;
  const chosen = (checks?: string[]) =>
    chooseChecks(configured, { hints: checks === undefined ? {} : { checks } }).map(({ name }) => name);
  expect([chosen(), chosen([]), chosen(["lint"]), chosen(["e2e"]), chosen(["lint", "gone"])]).toEqual([
    ["unit", "lint"],
    ["unit", "lint"],
    ["lint"],
    ["e2e"],
    ["unit", "lint"],
  ]);
});

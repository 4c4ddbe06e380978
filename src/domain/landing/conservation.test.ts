import { expect, test } from "bun:test";
import { bothSidesLive, bothVersionsLive, conservationProblems } from "./conservation.ts";

const base = "a\nb\n";
const sides = { base, ours: "a\nours 1\nours 2\nb\n", theirs: "a\ntheirs 1\nb\n" };
const whole = "a\nours 1\nours 2\ntheirs 1\nb\n";
const reason = { side: "ours" as const, line: "ours 2", reason: "theirs 1 says the same" };

const CASES: [
  what: string,
  result: string,
  superseded: { side: "ours" | "theirs"; line: string; reason: string }[],
  ok: boolean,
][] = [
  ["both sides", whole, [], true],
  ["both sides, indented again", whole.replaceAll("ours", "  ours"), [], true],
  ["a line gone without a word", "a\nours 1\ntheirs 1\nb\n", [], false],
  ["a line gone with a reason", "a\nours 1\ntheirs 1\nb\n", [reason], true],
  ["a line gone with an empty reason", "a\nours 1\ntheirs 1\nb\n", [{ ...reason, reason: " " }], false],
  ["a reason given for the other side", "a\nours 1\ntheirs 1\nb\n", [{ ...reason, side: "theirs" }], false],
  [
    "a whole side gone, reasons or not",
    "a\nours 1\nours 2\nb\n",
    [{ side: "theirs", line: "theirs 1", reason: "no" }],
    false,
  ],
  ["markers", `${whole}<<<<<<< HEAD\n`, [], false],
  ["the separator alone", `${whole}=======\n`, [], false],
  ["nothing", "", [], false],
];
test.each(CASES)("MERGE-2: %s", (_what, result, superseded, ok) => {
  expect(conservationProblems(sides, result, superseded).length === 0).toBe(ok);
});

test("MERGE-2: lines that look like markers and were there before are no markers of ours", () => {
  const both = { base: "x\n=======\n", ours: "x\n=======\nours\n", theirs: "x\n=======\ntheirs\n" };
  expect(conservationProblems(both, "x\n=======\nours\ntheirs\n")).toEqual([]);
});

test("MERGE-2: a side that only removes has nothing to lose; one that only adds signs still must survive", () => {
  expect(conservationProblems({ base, ours: "a\n", theirs: "a\nb\nc\n" }, "a\nc\n")).toEqual([]);
  expect(conservationProblems({ base, ours: "a\nb\n}\n", theirs: "a\nb\nc\n" }, "a\nb\nc\n")).not.toEqual([]);
});

const BY_HAND: [what: string, ours: string, theirs: string, result: string, ok: boolean][] = [
  ["both sides", "a\nours\nb\n", "a\ntheirs\nb\n", "a\nours\ntheirs\nb\n", true],
  ["one line of two survives", "a\nours 1\nours 2\nb\n", "a\nx\nb\n", "a\nours 1\nx\nb\n", true],
  ["a line that both changed, written as one", "f(a)\n", "f(b)\n", "f(a, b)\n", true],
  ["the other's value instead of theirs", "timeout = 5\n", "timeout = 10\n", "timeout = 10\n", false],
  ["nothing of the target", "a\nours\nb\n", "a\ntheirs\nb\n", "a\ntheirs\nb\n", false],
  ["nothing of its own", "a\nours\nb\n", "a\ntheirs\nb\n", "a\nours\nb\n", false],
  ["the whole file gone", "a\nours\nb\n", "", "", false],
  ["a file that the target removed", "", "a\ntheirs\nb\n", "a\ntheirs\nb\n", true],
  ["markers", "a\nours\nb\n", "a\ntheirs\nb\n", "a\n<<<<<<< x\nours\n=======\ntheirs\n>>>>>>> y\nb\n", false],
];
test.each(BY_HAND)("MERGE-2: resolved by its author: %s", (_what, ours, theirs, result, ok) => {
  expect(bothSidesLive({ base, ours, theirs }, result)).toBe(ok);
});

const AS_A_WHOLE: [what: string, base: string, ours: string, theirs: string, result: string, lives: boolean][] = [
  ["the target's instead of both", "b", "o", "t", "o", false],
  ["the branch's instead of both", "b", "o", "t", "t", false],
  ["something third", "b", "o", "t", "x", true],
  ["nothing at all", "b", "o", "t", "", false],
  ["added by both, the target's kept", "", "o", "t", "o", false],
  ["the branch's, where the target had removed it", "b", "", "t", "t", true],
  ["removed, where the branch had changed it", "b", "", "t", "", false],
  ["the same on both sides", "b", "s", "s", "s", true],
  ["the branch's, where the target had not changed it", "b", "b", "t", "t", true],
];
test.each(AS_A_WHOLE)("MERGE-2: what has no lines: %s", (_what, ...versions) => {
  const [base, ours, theirs, result] = versions.map((one) => (one === "" ? undefined : String(one)));
  expect(bothVersionsLive({ base, ours, theirs, result })).toBe(versions[4]);
});

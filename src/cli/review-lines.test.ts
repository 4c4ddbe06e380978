import { expect, test } from "bun:test";
import type { Review } from "#control/review.ts";
import { choosePager } from "./pager.ts";
import { reviewLines } from "./review-lines.ts";

const DIFF = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2\u001b[31m
+--- b
diff --git a/gone.txt b/gone.txt
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
`;

const FOUND = {
  ...{ node: "goal_x/T1", name: "Do it", agent: "a#1", commit: "c".repeat(40), target: "main", state: "checked" },
  ...{
    detail: null,
    unchanged: null,
    summary: "It is done.",
    overreach: null,
    takenBack: [],
    conflict: null,
    missing: ["lint"],
  },
  receipts: [{ name: "tests", on: "done", verdict: "fail", why: "exit 1", durationMs: 5, logPath: "/l", flaky: false }],
  changes: [
    { kind: "M", path: "a.txt" },
    { kind: "D", path: "gone.txt" },
  ],
  diff: DIFF,
} as unknown as Review;

test("REV-1: a review begins with what the checks say, then the files, then the change in colour", () => {
  expect(reviewLines(FOUND, true).map(({ text, tone }) => `${tone}|${text}`)).toEqual([
    "command|goal_x/T1  Do it",
    "plain|by a#1, commit cccccccccccc, onto main: checked",
    "failed|check tests on done: fail: exit 1 (5 ms, /l)",
    "failed|not checked yet: lint",
    "plain|It is done.",
    "plain|",
    "command|2 files changed, +2 -2",
    "plain|  M a.txt  +2 -1",
    "plain|  D gone.txt  +0 -1",
    "plain|",
    "command|diff --git a/a.txt b/a.txt",
    "faint|index 1..2 100644",
    "faint|--- a/a.txt",
    "faint|+++ b/a.txt",
    "prompt|@@ -1,2 +1,2 @@",
    "plain| one",
    "removed|-two",
    "added|+2\ufffd[31m",
    "added|+--- b",
    "command|diff --git a/gone.txt b/gone.txt",
    "faint|--- a/gone.txt",
    "faint|+++ /dev/null",
    "prompt|@@ -1 +0,0 @@",
    "removed|-x",
  ]);
  expect(reviewLines(FOUND, false).at(-1)?.text).toBe("  D gone.txt  +0 -1");
});

test.each([
  [{}, true, ["less", "-R"]],
  [{ PAGER: "more -d  x" }, true, ["more", "-d", "x"]],
  [{ PAGER: "" }, true, undefined],
  [{ PAGER: "cat" }, true, undefined],
  [{}, false, undefined],
] as const)("REV-1: the pager of %j, where it is there: %p", (env, isThere, words) => {
  expect(choosePager(env, () => isThere)).toEqual(words as never);
});

import { expect, test } from "bun:test";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { attemptOfRecovery, isKeptLongEnough, isRecoveryOver } from "./kept-refs.ts";

const DAY = 86_400_000;
const ended = (status: "done" | "cancelled"): WorkNode => ({ ...nodeWith(status), updatedAt: 10 * DAY });

test.each<[string, WorkNode | undefined, number, boolean]>([
  ["nobody knows the node", undefined, 100 * DAY, false],
  ["the node is in progress", { ...nodeWith("in_progress"), updatedAt: 0 }, 100 * DAY, false],
  ["the node is blocked", { ...nodeWith("blocked"), updatedAt: 0 }, 100 * DAY, false],
  ["it landed a moment ago", ended("done"), 10 * DAY + 1, false],
  ["it landed long ago", ended("done"), 12 * DAY, true],
  ["it was given up long ago", ended("cancelled"), 12 * DAY, true],
  ["the clock was set back", ended("done"), 0, false],
])("MERGE-2: what was kept may go: %s", (_what, node, now, expected) => {
  expect(isKeptLongEnough(node, 2 * DAY, now)).toBe(expected);
});

const of = { branch: "overseer/builder-1/T1-7", goalId: "goal_A", workNodeId: "T1" };

test.each<[string, Parameters<typeof isRecoveryOver>[0], WorkNode | undefined, (typeof of)[], boolean]>([
  ["its branch landed long ago", of, ended("done"), [of], true],
  ["another branch landed for the same work", of, ended("done"), [{ ...of, branch: "overseer/builder-2/T1-8" }], false],
  ["a branch of that name landed for other work", of, ended("done"), [{ ...of, workNodeId: "T2" }], false],
  ["the work was given up", of, ended("cancelled"), [], false],
  ["the work was given up after a landing that was taken back", of, ended("cancelled"), [of], false],
  ["the work is open again", of, { ...nodeWith("in_progress"), updatedAt: 0 }, [of], false],
  ["it landed a moment ago", of, { ...ended("done"), updatedAt: 12 * DAY - 1 }, [of], false],
  ["nobody knows the attempt", undefined, ended("done"), [of], false],
  ["nobody knows the work", of, undefined, [of], false],
])("WT-2: what a worktree held besides may go: %s", (_what, attempt, node, landed, expected) => {
  expect(isRecoveryOver(attempt, node, landed, { keepMs: 2 * DAY, now: 12 * DAY })).toBe(expected);
});

test.each<[string, ReturnType<typeof attemptOfRecovery>]>([
  ["builder-1-47-1", { attempt: 47, worktree: "builder-1-47" }],
  ["builder-1-47-12", { attempt: 47, worktree: "builder-1-47" }],
  ["builder-1-47-of-vendor_lib-1", undefined],
  ["restored-1", undefined],
  ["builder", undefined],
  ["a/b-1-2", undefined],
])("WT-2: whose recovery ref %s is", (name, expected) => {
  expect(attemptOfRecovery(name)).toEqual(expected);
});

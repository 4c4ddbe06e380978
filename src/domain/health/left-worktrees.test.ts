import { expect, test } from "bun:test";
import { attemptWith } from "../../../test/support/snapshots.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { choosesToRemove, GRACE_MS, type WorktreeFacts, whyWorktreeStays } from "./left-worktrees.ts";

const NOW = 1_800_000_000_000;
const OLD = NOW - 2 * GRACE_MS;
const ended = { ...attemptWith(), status: "ended", endedAt: OLD, worktree: "/w/1" } as const;
const done = nodeWith("done", { updatedAt: OLD });
const open = nodeWith("in_progress", { updatedAt: OLD });
const later = { ...ended, attempt: ended.attempt + 1, worktree: "/w/2" };
const sharing = { ...later, worktree: ended.worktree };

const CASES: [why: string, goes: boolean, ...Parameters<typeof choosesToRemove>][] = [
  ["its work has ended", true, ended, [ended], done, NOW],
  ["its work was cancelled", true, ended, [ended], nodeWith("cancelled", { updatedAt: OLD }), NOW],
  ["a later attempt went on elsewhere", true, ended, [ended, later], open, NOW],
  ["it lives", false, { ...ended, status: "running", endedAt: null }, [ended], done, NOW],
  ["it is the last of open work", false, ended, [ended], open, NOW],
  ["a later one works in it", false, ended, [ended, { ...sharing, status: "running" }], done, NOW],
  ["a later one worked in it, and speaks for it", false, ended, [ended, sharing], done, NOW],
  ["somebody keeps it", false, { ...ended, keep: true }, [ended], done, NOW],
  ["it holds what no ref can keep", false, { ...ended, worktreeKept: "ignored files" }, [ended], done, NOW],
  ["it has only just ended", false, { ...ended, endedAt: NOW - 1_000 }, [ended], done, NOW],
  ["its work has only just ended", false, ended, [ended], { ...done, updatedAt: NOW - 1_000 }, NOW],
  ["nobody knows what it was for", false, ended, [ended], undefined, NOW],
];

test.each(CASES)("WT-2: %s (goes: %p)", (_why, goes, attempt, all, node, now) => {
  expect(choosesToRemove(attempt, all, node, now)).toBe(goes);
});

const GOES: WorktreeFacts = { living: false, child: null, dirty: false, landed: true, target: "main", kept: null };
test.each<[Partial<WorktreeFacts>, string | null]>([
  [{}, null],
  [{ living: true, dirty: true }, "its agent is at work"],
  [{ child: "scout-1#4" }, "scout-1#4 still works for it"],
  [{ dirty: true, landed: false }, "it has uncommitted work"],
  [{ landed: false }, "it has commits that are not in main"],
  [{ kept: "secrets.env (ignored)" }, "it holds what no ref can keep"],
])("WT-1: a worktree that is cleaned and %p: %p", (facts, expected) => {
  expect(whyWorktreeStays({ ...GOES, ...facts })).toBe(expected);
});

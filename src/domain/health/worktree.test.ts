/** What git and its files say about a worktree, and whether anybody can still work in it. */
import { expect, test } from "bun:test";
import type { WorktreePart } from "#domain/model/attempt.ts";
import { judgeWorktree, type WorktreeLook } from "./worktree.ts";

const WHOLE: WorktreeLook = { repository: true, directory: true, gitFile: null, index: null, objects: null };

const LOOKS: [what: string, look: Partial<WorktreeLook>, verdict: WorktreePart | "whole" | "unknown"][] = [
  ["nothing is wrong", {}, "whole"],
  ["its directory is gone", { directory: false }, "directory"],
  ["it has no .git", { gitFile: "it has no .git" }, "git-file"],
  ["its .git is garbage", { gitFile: "git says: fatal: invalid gitfile format: /w/.git" }, "git-file"],
  ["its HEAD is garbage, or its entry gone", { gitFile: "git says: fatal: not a git repository: /r/x" }, "git-file"],
  ["it leads into another checkout", { gitFile: "its top level is /home/me/project" }, "git-file"],
  ["its index is garbage", { index: "error: bad signature 0x6e6f7420\nfatal: index file corrupt" }, "index"],
  ["its index is cut off", { index: "fatal: .git/index: index file smaller than expected" }, "index"],
  ["its commit is gone", { objects: "fatal: bad object HEAD" }, "objects"],
  ["the files of its commit are gone", { objects: "fatal: not a tree object" }, "objects"],
  ["an object is cut off", { objects: "error: object file .git/objects/ab/cd is empty" }, "objects"],
  // What comes first is said: behind a lost .git, nothing else could be looked at.
  ["several are", { gitFile: "it has no .git", index: "fatal: index file corrupt" }, "git-file"],
  // No verdict: nobody is sent away for what passes, or concerns the whole repository.
  ["the repository was moved", { repository: false, directory: false, gitFile: "it has no .git" }, "unknown"],
  ["git may not read its .git", { gitFile: "git says: fatal: open: Permission denied" }, "unknown"],
  ["git mistrusts the owner", { gitFile: "git says: fatal: detected dubious ownership in repository" }, "unknown"],
  ["git may not read its index", { index: "fatal: index file open failed: Permission denied" }, "unknown"],
  ["git had no memory for its index", { index: "fatal: Out of memory, malloc failed" }, "unknown"],
  ["git was ended before it said anything", { index: "", gitFile: null }, "unknown"],
  ["git was ended while it looked at the commit", { objects: "" }, "unknown"],
  ["the disk does not answer", { objects: "error: unable to read 1234: Input/output error" }, "unknown"],
];

test.each(LOOKS)("FAIL-11: %s", (_what, look, expected) => {
  const verdict = judgeWorktree({ ...WHOLE, ...look });
  expect(verdict.state === "broken" ? verdict.part : verdict.state).toBe(expected);
});

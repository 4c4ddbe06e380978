import { expect, test } from "bun:test";
import { parseWorktreeList, type WorktreeEntry } from "./worktree-list.ts";

const A = "a".repeat(40);
const lines = [
  ["worktree /r/main", `HEAD ${A}`, "branch refs/heads/main"],
  [
    "worktree /r/a b ü",
    `HEAD ${A}`,
    "detached",
    "locked on a stick",
    "prunable gitdir file points to non-existent location",
  ],
  ["worktree /r/new", `HEAD ${"0".repeat(40)}`, "branch refs/heads/new", "locked"],
];
const entries: WorktreeEntry[] = [
  { path: "/r/main", head: A, branch: "refs/heads/main", bare: false, detached: false },
  {
    path: "/r/a b ü",
    head: A,
    bare: false,
    detached: true,
    locked: "on a stick",
    prunable: "gitdir file points to non-existent location",
  },
  { path: "/r/new", branch: "refs/heads/new", bare: false, detached: false, locked: "" },
];

test.each([
  ["with NUL", "\0"],
  ["in lines", "\n"],
])("VALID-11: a list %s", (_why, end) => {
  const output = lines.map((block) => block.map((line) => line + end).join("") + end).join("");
  expect(parseWorktreeList(output)).toEqual(entries);
});

test("a bare repository has no checkout", () => {
  expect(parseWorktreeList("worktree /r.git\nbare\n\n")).toEqual([{ path: "/r.git", bare: true, detached: false }]);
  expect(parseWorktreeList("")).toEqual([]);
});

test("a newline in a path survives where git separates with NUL", () => {
  expect(parseWorktreeList(`worktree /r/a\n\nb\0HEAD ${A}\0detached\0\0`)[0]?.path).toBe("/r/a\n\nb");
});

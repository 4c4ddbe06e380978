import { expect, test } from "bun:test";
import { earlierProject, followPath, judgePlace, type PlaceFacts, parsePlace, type StoreStanding } from "./place.ts";

const home = { project: "/a", state: "/a/.git/overseer", sockets: "/run/x" };
const cases: readonly (readonly [string, Partial<PlaceFacts>, StoreStanding])[] = [
  ["nobody has written it down", { recorded: undefined }, "first"],
  ["it is where it was", { state: home.state, there: "this" }, "here"],
  ["the old place is gone", { there: "nothing" }, "moved"],
  ["another repository is at the old place", { there: { identity: "s_2" } }, "moved"],
  ["the same store is still there", { there: { identity: "s_1" } }, "copied"],
  ["what is there cannot be read", { there: "unknown" }, "copied"],
  ["it is the same file under another path", { there: "this" }, "elsewhere"],
];
test.each(cases)("ISO-1: %s", (_when, facts, standing) => {
  const usual: PlaceFacts = { recorded: home, state: "/b/.git/overseer", identity: "s_1", there: "nothing" };
  expect(judgePlace({ ...usual, ...facts })).toBe(standing);
});

test.each([
  ["/a/.overseer/worktrees/ada-1", "/b/.overseer/worktrees/ada-1"],
  ["/a", "/b"],
  ["/ab/c", undefined],
  ["/elsewhere/ada-1", undefined],
])("a path follows its repository: %s", (path, expected) => {
  expect(followPath(path, home, { project: "/b" })).toBe(expected as string);
});

test.each([undefined, "", "{", "null", "[]", '{"project":"/a"}', '{"project":1,"state":"/a","sockets":"/s"}'])(
  "what is no record is none: %p",
  (text) => expect(parsePlace(text)).toBeUndefined(),
);
test("a record is read as it was written", () => expect(parsePlace(JSON.stringify(home))).toEqual(home));

test.each([
  ["/a/.overseer/worktrees/b-1", "/a"],
  ["/here/.overseer/worktrees/b-1", undefined],
  ["/elsewhere/b-1", undefined],
])("PROC-1: %s was made in %p, seen from /here", (worktree, project) => {
  expect(earlierProject(worktree, { project: "/here" })).toBe(project);
});

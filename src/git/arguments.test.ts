import { expect, test } from "bun:test";
import * as args from "./arguments.ts";
import { bytesOnDisk } from "./disk-space.ts";
import { isLostRace, refTransaction } from "./refs.ts";
import { findNamedTarget } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { isBranchName } from "./worktrees.ts";

const O = "-c core.protectNTFS=false -c core.protectHFS=false -c core.splitIndex=false";
const cases: [built: string[], text: string][] = [
  [args.resolveCommitArguments("-x"), "rev-parse --verify --quiet --end-of-options -x^{commit}"],
  [args.isAncestor("a", "b"), "merge-base --is-ancestor a b"],
  [args.commitsBetween("a", "b", 9), "log --max-count=9 --format=%H %ct %s --end-of-options a..b"],
  [
    args.status({ renames: false }),
    "status --porcelain=v2 -z --untracked-files=all --ignore-submodules=none --no-renames",
  ],
  [args.worktreeList(true), "worktree list --porcelain -z"],
  [args.worktreeList(false), "worktree list --porcelain"],
  [args.worktreeAdd({ path: "-p", branch: "b" }), "worktree add --quiet --no-guess-remote -- -p b"],
  [args.worktreeForget("/p"), "worktree remove --force -- /p"],
  [snapshotArgs.listTrackedFiles(), "-c core.quotePath=true ls-files --stage -t --full-name"],
  [snapshotArgs.listUntrackedFiles(), "-c core.quotePath=true ls-files --others --exclude-standard"],
  [snapshotArgs.hashFilesRaw(), "hash-object -w --no-filters --stdin-paths"],
  [snapshotArgs.indexFromLines(), `${O} update-index --add --index-info`],
  [snapshotArgs.treeFromIndex(), `${O} write-tree --missing-ok`],
  [snapshotArgs.checkoutFromTo("t1", "t2"), `${O} read-tree -m -u t1 t2`],
  [snapshotArgs.commitTree("t", ["p1", "p2"]), "commit-tree -p p1 -p p2 -F - t"],
];
test.each(cases)("git %j", (built, text) => expect(built.join(" ")).toBe(text));

test("ref changes name what they expect to find", () => {
  const text = refTransaction([
    { kind: "create", ref: "refs/a", to: "1" },
    { kind: "update", ref: "refs/b", to: "2", from: "1" },
    { kind: "delete", ref: "refs/c", from: "3" },
  ]);
  expect(text).toBe("create refs/a\x001\0update refs/b\x002\x001\0delete refs/c\x003\0");
});

test.each([
  ["fatal: cannot lock ref 'refs/a': reference already exists", true],
  ["fatal: cannot lock ref 'refs/a': is at 1 but expected 2", true],
  ["fatal: cannot lock ref 'refs/a': unable to resolve reference 'refs/a'", true],
  ["fatal: cannot lock ref 'refs/a/b': 'refs/a' exists; cannot create 'refs/a/b'", true],
  ["fatal: invalid ref format: refs/..", false],
])("%s: lost race %p", (stderr, lost) => expect(isLostRace(stderr)).toBe(lost));

test.each([
  ["overseer/builder/T1.1", true],
  ["overseer/ä/T1-47", true],
  ["", false],
  ["-x", false],
  ["a..b", false],
  ["a b", false],
  ["a/.b", false],
  ["a//b", false],
  ["a.lock", false],
  ["a.lock/b", false],
  ["a.", false],
  ["a@{1}", false],
  ["@", false],
  ["a~1", false],
  ["a\nb", false],
])("a branch named %j: %p", (name, valid) => expect(isBranchName(name)).toBe(valid));

test("the target branch named first wins: flag, goal, config", () => {
  const all = { flag: "f", goal: "g", config: "c", atInit: "i" };
  expect(findNamedTarget(all)?.branch).toBe("f");
  expect(findNamedTarget({ ...all, flag: undefined })?.branch).toBe("g");
  expect(findNamedTarget({ config: "c", atInit: "i" })?.source).toBe("repo.targetBranch");
  expect(findNamedTarget({ atInit: "i" })).toBeUndefined();
});

test("files take whole blocks of the disk, submodules none", () => {
  const listing = ["100644 blob aa       1\ta b", "100644 blob bb    4097\tx\ty", "160000 commit cc       -\tlib", ""];
  expect(bytesOnDisk(listing.join("\0"))).toBe(3 * 4096);
});

import { expect, test } from "bun:test";
import { type CheckedOut, parseCheckedOut, parseStatus, type StatusEntry } from "./status.ts";

const A = "a".repeat(40);
const plain = { submodule: false } as const;
const cases: [why: string, output: string, entries: StatusEntry[]][] = [
  ["nothing changed", "", []],
  ["headers and unknown lines are passed over", `# branch.oid ${A}\0# stash 1\0`, []],
  [
    "staged and unstaged sides are kept apart",
    `1 MD N... 100644 100644 000000 ${A} ${A} a.txt\0`,
    [{ kind: "changed", staged: "M", unstaged: "D", path: "a.txt", ...plain }],
  ],
  [
    "spaces, quotes, newlines and unicode in names are names",
    `1 .M N... 100644 100644 100644 ${A} ${A}  two  spaces "and"\nüñï\0`,
    [{ kind: "changed", staged: ".", unstaged: "M", path: ' two  spaces "and"\nüñï', ...plain }],
  ],
  [
    "a rename carries where it came from",
    `2 R. N... 100644 100644 100644 ${A} ${A} R087 new name\0old name\0? x\0`,
    [
      { kind: "renamed", staged: "R", unstaged: ".", path: "new name", from: "old name", ...plain },
      { kind: "untracked", path: "x" },
    ],
  ],
  [
    "a submodule with new commits",
    `1 .M SC.. 160000 160000 160000 ${A} ${A} lib\0`,
    [
      {
        ...{ kind: "changed", staged: ".", unstaged: "M", path: "lib", submodule: true },
        inside: { commit: true, files: false, untracked: false },
      },
    ],
  ],
  [
    "a conflict",
    `u UU N... 100644 100644 100644 100644 ${A} ${A} ${A} both sides\0`,
    [{ kind: "unmerged", conflict: "UU", path: "both sides", ...plain }],
  ],
  [
    "untracked and ignored",
    "? 1 new\0! build/\0",
    [
      { kind: "untracked", path: "1 new" },
      { kind: "ignored", path: "build/" },
    ],
  ],
];

test.each(cases)("%s", (_why, output, entries) => expect(parseStatus(output)).toEqual(entries));

const heads: [why: string, output: string, checkedOut: CheckedOut][] = [
  [
    "a branch",
    `# branch.oid ${A}\0# branch.head a/b\0# branch.ab +1 -0\0? x\0`,
    { commit: A, branch: "a/b", rest: "? x\0" },
  ],
  ["detached", `# branch.oid ${A}\0# branch.head (detached)\0`, { commit: A, rest: "" }],
  ["no commit yet", "# branch.oid (initial)\0# branch.head main\0", { branch: "main", rest: "" }],
  [
    "a file that looks like a header",
    `# branch.oid ${A}\0? # branch.head x\0`,
    { commit: A, rest: "? # branch.head x\0" },
  ],
];

test.each(heads)("what is checked out: %s", (_why, output, checkedOut) => {
  expect(parseCheckedOut(output)).toEqual(checkedOut);
});

/** Argument lists for merging, for moving branches and checkouts, and for the remote; see arguments.ts. */
import { ANY_FILE_NAME } from "./arguments.ts";

/** Prints the tree, and after it the files in conflict; ends with 1 when there are any. */
export const mergeTree = (target: string, commit: string): string[] => [
  "merge-tree",
  "--write-tree",
  "-z",
  "--name-only",
  "--no-messages",
  target,
  commit,
];

/** Prints the tree, and after it each side of each file in conflict: mode, content, stage, path. */
export const mergeTreeStages = (target: string, commit: string): string[] => [
  "merge-tree",
  "--write-tree",
  "-z",
  "--no-messages",
  target,
  commit,
];

/** All that a commit would bring into a target, newest first. */
export const listIncomingCommits = (target: string, commit: string, most: number): string[] => [
  "rev-list",
  "--topo-order",
  `--max-count=${most}`,
  "--end-of-options",
  commit,
  `^${target}`,
];

/** Where a ref has been, the newest first. */
export const refLog = (ref: string, most: number): string[] => [
  "log",
  "-g",
  "--format=%H",
  `--max-count=${most}`,
  ref,
  "--",
];

/** What these bring into the target, newest first: id, a space, the subject. */
export const commitsOf = (commits: readonly string[], target: string, most: number): string[] => [
  "log",
  "--topo-order",
  `--max-count=${most}`,
  "--format=%H %s",
  "--end-of-options",
  ...commits,
  `^${target}`,
];

/** Commits of a branch that its target has not, newest first, each with its parents. */
export const ownCommits = (target: string, commit: string, most: number, without: readonly string[] = []): string[] => [
  "rev-list",
  "--first-parent",
  "--parents",
  `--max-count=${most}`,
  "--end-of-options",
  commit,
  `^${target}`,
  ...without.map((each) => `^${each}`),
];

/** What was said about those commits, newest first, merges left out. */
export const ownMessages = (
  target: string,
  commit: string,
  most: number,
  without: readonly string[] = [],
): string[] => [
  "log",
  "--first-parent",
  "--no-merges",
  "-z",
  "--format=%H %B",
  `--max-count=${most}`,
  "--end-of-options",
  commit,
  `^${target}`,
  ...without.map((each) => `^${each}`),
];

/** These alone, in this order. */
export const theseCommits = (commits: readonly string[]): string[] => [
  "log",
  "--no-walk=unsorted",
  "--format=%H %s",
  "--end-of-options",
  ...commits,
];

/** When each was committed, in seconds. */
export const commitDates = (commits: readonly string[]): string[] => [
  ...["log", "--no-walk=unsorted", "--format=%ct", "--end-of-options"],
  ...commits,
];

/** Commits that these, given line by line, have and a later `^commit` has not; what is gone by now is passed over. */
export const commitsListed = (most: number): string[] => [
  "rev-list",
  "--ignore-missing",
  "--no-merges",
  `--max-count=${most}`,
  "--stdin",
];

/** What each commit on its input changes. No lines around it: those change when a commit is brought elsewhere. */
export const patchesListed = (): string[] => [
  "diff-tree",
  "--stdin",
  "-p",
  "-U0",
  "--root",
  "--no-ext-diff",
  "--no-textconv",
  "--no-renames",
];

export const patchIds = (): string[] => ["patch-id", "--stable"];

/** As committing it would: with the filters that its path is given. */
export const hashFile = (path: string): string[] => ["hash-object", "-w", "--", path];

export const hashText = (): string[] => ["hash-object", "-w", "--stdin"];

/** Records `mode oid stage TAB path NUL`; a private index only, named by GIT_INDEX_FILE. */
export const indexFromRecords = (): string[] => [...ANY_FILE_NAME, "update-index", "-z", "--add", "--index-info"];

/**
 * What the target would change by, file by file, with both versions of each: `:mode mode oid oid kind`, then the path.
 * A rename is a removal and an addition.
 */
export const listChangedEntries = (from: string, to: string): string[] => [
  "diff-tree",
  "-r",
  "-z",
  "--no-renames",
  "--raw",
  "--no-abbrev",
  from,
  to,
];

/** Of each object named on stdin. */
export const objectSizes = (): string[] => ["cat-file", "--batch-check=%(objectsize)"];

/** Files that are not as the index has them, or missing. */
export const unlikeIndex = (): string[] => ["diff-files", "--name-only", "-z", "--no-renames"];

/** Writes the files named on stdin as the index has them. */
export const checkoutFromIndex = (): string[] => ["checkout-index", "--force", "-z", "--stdin"];

/** The change as people read it, without the extras that a user may have configured for showing one. */
export const patchBetween = (from: string, to: string): string[] => [
  "diff-tree",
  "-r",
  "-p",
  "-M",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  from,
  to,
];

export const treeEntries = (tree: string): string[] => ["ls-tree", "-r", "-z", "--full-tree", tree];

/** The objects on its input, each below a line with its size. */
export const objectsListed = (): string[] => ["cat-file", "--batch"];

/** Paths of a tree, taken as they are written. */
export const treeEntry = (tree: string, ...paths: string[]): string[] => [
  "--literal-pathspecs",
  "ls-tree",
  "-z",
  "--full-tree",
  tree,
  "--",
  ...paths,
];

/** The merges on the way from one commit to another, each with its parents, the oldest first. */
export const mergesBetween = (from: string, to: string, most: number): string[] => [
  "rev-list",
  "--merges",
  "--parents",
  "--first-parent",
  "--reverse",
  `--max-count=${most}`,
  `${from}..${to}`,
];

export const blobText = (oid: string): string[] => ["cat-file", "blob", oid];

export const blobBytes = (oid: string): string[] => ["cat-file", "-s", oid];

/** Written below another directory instead, under the same names. */
export const checkoutBelow = (directory: string): string[] => [...checkoutFromIndex(), `--prefix=${directory}/`];

/** Which filter each of the files named on stdin is given; by the index alone, or as the worktree has it. */
export const filterOf = (by: "index" | "worktree"): string[] => [
  "check-attr",
  "-z",
  "--stdin",
  ...(by === "index" ? ["--cached"] : []),
  "filter",
];

/** In which paths the index is not as the commit. */
export const listStaged = (commit: string): string[] => [
  ...["diff-index", "--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=none"],
  commit,
  "--",
];

/** The same as both versions of each, as `listChangedEntries` has them. */
export const listStagedEntries = (commit: string): string[] => [
  ...["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none"],
  commit,
  "--",
];

/** The newest first. */
export const listCommitsOnTop = (commit: string, ref: string): string[] => [
  ...["rev-list", "--first-parent", "--end-of-options", ref, `^${commit}`],
];

export const commitMessage = (commit: string): string[] => ["show", "--no-patch", "--format=%B", commit];

export const indexUnsplit = (): string[] => [...ANY_FILE_NAME, "update-index", "--no-split-index"];

/** What a path of a branch has been, the newest first: both versions of each change. */
export const pathHistory = (commit: string, path: string, most: number): string[] => [
  "--literal-pathspecs",
  "log",
  "--format=",
  "--raw",
  "--no-abbrev",
  "--no-renames",
  "-m",
  "--first-parent",
  "-z",
  `--max-count=${most}`,
  commit,
  "--",
  path,
];

/** A checkout, only ever forward, without any of the extras that a user may have configured for merges. */
export const fastForward = (to: string): string[] => [
  "merge",
  "--ff-only",
  "--no-overwrite-ignore",
  "--no-autostash",
  "--no-verify-signatures",
  "--no-stat",
  "--quiet",
  to,
];

// The remote

/** One branch into its remote-tracking ref, and nothing else of the user's is touched, not even FETCH_HEAD. */
export const fetchBranchArguments = (remote: string, branch: string): string[] => [
  "fetch",
  "--quiet",
  "--no-tags",
  "--no-recurse-submodules",
  "--no-auto-maintenance",
  "--no-write-fetch-head",
  "--refmap=",
  "--end-of-options",
  remote,
  `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`,
];

/** Forward only: without a plus the other side refuses everything else. */
export const pushBranchArguments = (remote: string, commit: string, branch: string): string[] => [
  "push",
  "--quiet",
  "--no-verify",
  "--no-follow-tags",
  "--recurse-submodules=no",
  "--end-of-options",
  remote,
  `${commit}:refs/heads/${branch}`,
];

export const mergeBase = (one: string, other: string): string[] => ["merge-base", one, other];

/** For a git without merge-tree: index and files merged, and no commit made of them. */
export const mergeHere = (commit: string): string[] => [
  "merge",
  "--no-ff",
  "--no-commit",
  "--no-autostash",
  "--no-verify-signatures",
  "--quiet",
  commit,
];

export const listConflictedFiles = (): string[] => ["diff", "--name-only", "--diff-filter=U", "-z"];

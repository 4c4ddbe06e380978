/** Argument lists for snapshots of a worktree: what lies in it, objects and private indexes; see arguments.ts. */
import { ANY_FILE_NAME, QUOTED } from "./arguments.ts";

// Snapshots: lists

export const listTrackedFiles = (): string[] => [...QUOTED, "ls-files", "--stage", "-t", "--full-name"];

export const listUntrackedFiles = (): string[] => [...QUOTED, "ls-files", "--others", "--exclude-standard"];

export const listIgnoredFiles = (): string[] => [
  ...QUOTED,
  "ls-files",
  "--others",
  "--ignored",
  "--exclude-standard",
  "--directory",
];

/** Commits from standard input, each with the files in which it differs from its first parent; a name is one line. */
export const listFilesOfCommits = (): string[] => [
  ...[...QUOTED, "log", "--no-walk=unsorted", "--diff-merges=first-parent", "--no-renames", "--name-only"],
  ...["--format=%x00%H", "--stdin"],
];

/** A commit and those before it, newest first, each as its short id, its subject and its files as above. */
export const pastCommits = (commit: string, most: number): string[] => [
  ...[...QUOTED, "log", `--max-count=${most}`, "--diff-merges=first-parent", "--no-renames", "--name-only"],
  ...["--format=%x00%h %s", "--end-of-options", commit, "--"],
];

/** Against the index, only an intent-to-add entry is an addition. */
export const listIntentToAddFiles = (): string[] => [...QUOTED, "diff-files", "--diff-filter=A", "--name-only"];

// Snapshots: objects and private indexes

export const hashFilesRaw = (): string[] => ["hash-object", "-w", "--no-filters", "--stdin-paths"];

/** Lines `mode oid stage TAB path`; a private index only, named by GIT_INDEX_FILE. */
export const indexFromLines = (): string[] => [...ANY_FILE_NAME, "update-index", "--add", "--index-info"];

/** Reads each path from the worktree, as git does: kind, mode and content. */
export const indexFromWorktree = (): string[] => [...ANY_FILE_NAME, "update-index", "--add", "--remove", "--stdin"];

export const indexWithout = (): string[] => [...ANY_FILE_NAME, "update-index", "--force-remove", "--stdin"];

export const indexRefresh = (): string[] => [...ANY_FILE_NAME, "update-index", "-q", "--refresh"];

export const indexSkipWorktree = (): string[] => [...ANY_FILE_NAME, "update-index", "--skip-worktree", "--stdin"];

export const indexFromTree = (tree: string): string[] => [...ANY_FILE_NAME, "read-tree", tree];

/** Takes the worktree from one tree to the other; refuses, with nothing changed, where a file is in the way. */
export const checkoutFromTo = (from: string, to: string): string[] => [
  ...ANY_FILE_NAME,
  "read-tree",
  "-m",
  "-u",
  from,
  to,
];

export const treeFromIndex = (): string[] => [...ANY_FILE_NAME, "write-tree", "--missing-ok"];

export const intendToAdd = (): string[] => [
  "--literal-pathspecs",
  "add",
  "--intent-to-add",
  "--force",
  "--pathspec-from-file=-",
];

export const commitTree = (tree: string, parents: readonly string[]): string[] => [
  "commit-tree",
  ...parents.flatMap((parent) => ["-p", parent]),
  "-F",
  "-",
  tree,
];

/** Walks everything a commit needs and fails where something is missing; prints nothing. */
export const needs = (commit: string, known?: string): string[] => [
  "rev-list",
  "--quiet",
  "--objects",
  commit,
  ...(known === undefined ? [] : [`^${known}`]),
];

export const commitText = (commit: string): string[] => ["cat-file", "commit", commit];

export const resolveTree = (commit: string): string[] => ["rev-parse", "--verify", "--quiet", `${commit}^{tree}`];

/**
 * Argument lists for git, as pure functions: what is asked of git can be read and tested here as text. Paths and
 * refs come after `--` or `--end-of-options` wherever a name could look like an option.
 */
/** Paths are printed in git's quoted ASCII form (quoted-path.ts) instead of raw bytes. */
const QUOTED = ["-c", "core.quotePath=true"];
/** Our private trees hold whatever lies in the worktree, also names that would be trouble on other systems. */
const ANY_NAME = ["-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "-c", "core.splitIndex=false"];

// Facts about a repository

export const repositoryFacts = (): string[] => [
  "rev-parse",
  "--path-format=absolute",
  "--is-bare-repository",
  "--git-common-dir",
  "--git-dir",
  "--show-object-format",
  "--show-toplevel",
];

export const resolveCommitArguments = (ref: string): string[] => [
  "rev-parse",
  "--verify",
  "--quiet",
  "--end-of-options",
  `${ref}^{commit}`,
];

export const symbolicRef = (ref: string): string[] => ["symbolic-ref", "--quiet", ref];

export const isAncestor = (ancestor: string, of: string): string[] => ["merge-base", "--is-ancestor", ancestor, of];

/** Commits reachable from one and not from the other, newest first: id, a space, the subject. */
export const commitsBetween = (from: string, to: string, most: number): string[] => [
  "log",
  `--max-count=${most}`,
  "--format=%H %ct %s",
  "--end-of-options",
  `${from}..${to}`,
];

/** Everything that is not as committed, untracked files one by one. Renames cost a comparison, so only on request. */
export const status = (options: { renames: boolean }): string[] => [
  "status",
  "--porcelain=v2",
  "-z",
  "--untracked-files=all",
  "--ignore-submodules=none",
  options.renames ? "--renames" : "--no-renames",
];

/** What is staged, by content: unlike the bytes of the index it does not change when somebody merely looks. */
export const listStagedContent = (): string[] => ["ls-files", "--stage", "-t", "-z"];

export const configMatching = (pattern: string): string[] => ["config", "-z", "--get-regexp", pattern];

export const submodulePaths = (): string[] => [
  "config",
  "-z",
  "--file",
  ".gitmodules",
  "--get-regexp",
  "^submodule\\..*\\.path$",
];

/** The same of a commit. */
export const submodulePathsAt = (commit: string): string[] => [
  "config",
  "-z",
  "--blob",
  `${commit}:.gitmodules`,
  "--get-regexp",
  "^submodule\\..*\\.path$",
];

/** The id of what a commit has at a path; of a submodule, the commit it points to. */
export const entryAt = (commit: string, path: string): string[] => [
  "rev-parse",
  "--verify",
  "--quiet",
  "--end-of-options",
  `${commit}:${path}`,
];

/** Prints it when no branch of a remote has the commit; fails when it is not here. */
export const isOnNoRemote = (commit: string): string[] => ["rev-list", "--max-count=1", commit, "--not", "--remotes"];

/** Files that git was told not to look at; a letter other than H stands before each. */
export const listFileFlags = (): string[] => [...QUOTED, "ls-files", "-v"];

/** Into an index of its own, which remembers of no file that it need not be looked at. */
export const indexFromCommit = (commit: string): string[] => ["-c", "core.ignoreStat=false", "read-tree", commit];

/** Reads every file again; its answer is that of the next one. */
export const lookAtEveryFile = (): string[] => ["update-index", "-q", "--really-refresh"];

/** Files that are there and are not as in the index; those that are gone hold nothing. */
export const listChangedFiles = (): string[] => [
  ...["diff-files", "--name-only", "-z", "--diff-filter=d", "--ignore-submodules=all"],
];

// Refs

export const updateRefs = (message?: string): string[] => [
  "update-ref",
  ...(message === undefined ? [] : ["-m", message]),
  "--stdin",
  "-z",
];

export const listRefsArguments = (prefix: string): string[] => [
  "for-each-ref",
  "--format=%(refname) %(objectname) %(creatordate:unix)",
  "--end-of-options",
  prefix,
];

// Worktrees

export const worktreeList = (withNul: boolean): string[] => [
  "worktree",
  "list",
  "--porcelain",
  ...(withNul ? ["-z"] : []),
];

export const worktreeAdd = (place: { path: string; branch: string }): string[] => [
  "worktree",
  "add",
  "--quiet",
  "--no-guess-remote",
  "--",
  place.path,
  place.branch,
];

/** On a directory that is already gone this removes its administrative entry and no other. */
export const worktreeForget = (path: string): string[] => ["worktree", "remove", "--force", "--", path];

/** The same for one whose making was cut short: git itself keeps it locked while it initialises. */
export const worktreeForgetLocked = (path: string): string[] => [
  "worktree",
  "remove",
  "--force",
  "--force",
  "--",
  path,
];

/** Where we are: top level, common dir, own git dir, kind of ids, commit and branch, in one process. */
export const worktreeFacts = (): string[] => [
  "rev-parse",
  "--path-format=absolute",
  "--show-toplevel",
  "--git-common-dir",
  "--git-dir",
  "--show-object-format",
  "HEAD",
  "--symbolic-full-name",
  "HEAD",
];

/** Files of HEAD that are missing in the worktree or the index. */
export const missingFiles = (): string[] => ["diff-index", "--diff-filter=D", "--name-only", "-z", "HEAD", "--"];

export const fileSizes = (tree: string): string[] => ["ls-tree", "-r", "-l", "-z", "--full-tree", tree];

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

/** Against the index, only an intent-to-add entry is an addition. */
export const listIntentToAddFiles = (): string[] => [...QUOTED, "diff-files", "--diff-filter=A", "--name-only"];

// Repositories inside a worktree

export const gitDir = (): string[] => ["rev-parse", "--absolute-git-dir"];

/** Kind of ids, and whether the history is cut off. */
export const copyFacts = (): string[] => ["rev-parse", "--show-object-format", "--is-shallow-repository"];

/** Whatever is reachable from a ref, a HEAD, a stash or a reflog and from no remote's branch, each with its parents. */
export const commitsOfItsOwn = (): string[] => ["rev-list", "--parents", "--all", "--reflog", "--not", "--remotes"];

/** The same for a repository that stays: only what this checkout alone has. */
export const commitsOfHeadAlone = (): string[] => [
  "rev-list",
  "--parents",
  "HEAD",
  "--not",
  "--branches",
  "--tags",
  "--remotes",
];

/** Every commit that a log of a ref names, newest first; nothing where no log is kept. */
export const listReflogCommits = (ref: string): string[] => ["log", "--walk-reflogs", "--format=%H", ref, "--"];

/** Commits that refs of this worktree alone stand at. */
export const ownRefs = (): string[] => [
  ...["for-each-ref", "--format=%(objectname)", "refs/worktree/", "refs/bisect/", "refs/rewritten/"],
];

/** Of the commits on stdin, and what stays out of it there as `^commit`: those that no other name reaches. */
export const commitsWithoutName = (branch: string, kept: string): string[] => [
  ...["rev-list", "--parents", "--ignore-missing", "--stdin", "--not"],
  ...[`--exclude=refs/heads/${branch}`, "--branches", "--tags", "--remotes", `--glob=${kept}*`],
];

/** Commits by their ids, one per line, from another repository of this disk: objects only, no ref, no FETCH_HEAD. */
export const fetchObjects = (from: string): string[] => [
  "-c",
  "protocol.version=2",
  "-c",
  "protocol.file.allow=always",
  "fetch",
  "--quiet",
  "--no-tags",
  "--no-write-fetch-head",
  "--no-recurse-submodules",
  "--stdin",
  "--end-of-options",
  from,
];

// Snapshots: objects and private indexes

export const hashFilesRaw = (): string[] => ["hash-object", "-w", "--no-filters", "--stdin-paths"];

/** Lines `mode oid stage TAB path`; a private index only, named by GIT_INDEX_FILE. */
export const indexFromLines = (): string[] => [...ANY_NAME, "update-index", "--add", "--index-info"];

/** Reads each path from the worktree, as git does: kind, mode and content. */
export const indexFromWorktree = (): string[] => [...ANY_NAME, "update-index", "--add", "--remove", "--stdin"];

export const indexWithout = (): string[] => [...ANY_NAME, "update-index", "--force-remove", "--stdin"];

export const indexRefresh = (): string[] => [...ANY_NAME, "update-index", "-q", "--refresh"];

export const indexSkipWorktree = (): string[] => [...ANY_NAME, "update-index", "--skip-worktree", "--stdin"];

export const indexFromTree = (tree: string): string[] => [...ANY_NAME, "read-tree", tree];

/** Takes the worktree from one tree to the other; refuses, with nothing changed, where a file is in the way. */
export const checkoutFromTo = (from: string, to: string): string[] => [...ANY_NAME, "read-tree", "-m", "-u", from, to];

export const treeFromIndex = (): string[] => [...ANY_NAME, "write-tree", "--missing-ok"];

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

// Checks: our own worktree, detached, made as if new for every commit

export const worktreeAddDetached = (place: { path: string; commit: string }): string[] => [
  "worktree",
  "add",
  "--quiet",
  "--force",
  "--detach",
  "--",
  place.path,
  place.commit,
];

export const checkoutDetached = (commit: string): string[] => ["checkout", "--quiet", "--force", "--detach", commit];

/** `ignored`: also what .gitignore names, such as what an earlier set-up installed. */
export const cleanWorktree = (ignored: boolean): string[] => ["clean", "--quiet", "-ffd", ...(ignored ? ["-x"] : [])];

// Landing

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
export const indexFromRecords = (): string[] => [...ANY_NAME, "update-index", "-z", "--add", "--index-info"];

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

/** Ends with 1 when the index is not as the commit. */
export const indexUnlike = (commit: string): string[] => ["diff-index", "--cached", "--quiet", commit, "--"];

export const indexUnsplit = (): string[] => [...ANY_NAME, "update-index", "--no-split-index"];

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

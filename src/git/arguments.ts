/**
 * Argument lists for git, as pure functions: what is asked of git can be read and tested here as text. Paths and
 * refs come after `--` or `--end-of-options` wherever a name could look like an option.
 */
/** Paths are printed in git's quoted ASCII form (quoted-path.ts) instead of raw bytes. */
export const QUOTED = ["-c", "core.quotePath=true"];
/** Our private trees hold whatever lies in the worktree, also names that would be trouble on other systems. */
export const ANY_FILE_NAME = [
  "-c",
  "core.protectNTFS=false",
  "-c",
  "core.protectHFS=false",
  "-c",
  "core.splitIndex=false",
];

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

/** The names come on stdin, one per line; each is answered by its id and kind, or by a line that says what is wrong. */
export const resolveNames = (): string[] => ["cat-file", "--batch-check=%(objectname) %(objecttype)"];

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

/** The same, with what is checked out before it; not how far that is from another branch, which costs a walk. */
export const statusWithHead = (): string[] => [...status({ renames: false }), "--branch", "--no-ahead-behind"];

/** What is staged, by content: unlike the bytes of the index it does not change when somebody merely looks. */
export const listStagedContent = (): string[] => ["ls-files", "--stage", "-t", "-z"];

export const listTrackedBelow = (path: string): string[] => ["ls-files", "-z", "--", path];

export const bundleOf = (file: string, refs: readonly string[]): string[] => [
  "bundle",
  "create",
  "--quiet",
  file,
  ...refs,
];

export const verifyBundle = (file: string): string[] => ["bundle", "verify", "--quiet", file];

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

/** Fails where the index cannot be read; lists nothing, because nothing can have that name. */
export const readIndexOnly = (): string[] => ["ls-files", "--", ":(top,literal).git/none"];

/** The first level of a commit's files: what fails where the commit or its tree is gone. */
export const listTopOf = (commit: string): string[] => ["ls-tree", "--name-only", "-z", commit];

export const fileSizes = (tree: string): string[] => ["ls-tree", "-r", "-l", "-z", "--full-tree", tree];

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

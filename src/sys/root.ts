/**
 * Finds the one state root of a repository, the same from everywhere inside it: main checkout, subdirectory, linked
 * worktree, submodule, bare repository. It reads git's own pointer files and starts no git process, because hooks and
 * every command ask this first; for the same reason nothing of node: is loaded unless a person named the root.
 * It does not say whether the state exists there. A submodule that keeps a `.git` directory of its own (made before it
 * was absorbed) is a repository of its own.
 */
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import { assertRootAllowed } from "./isolation.ts";
import { nameOf, parentOf, resolvePath } from "./paths.ts";
import { readNow } from "./read-now.ts";

export interface Root {
  /** The main checkout; for bare repositories and separate git directories, the common directory itself. */
  readonly project: string;
  /** What the user edits and commits, and the worktrees: `<project>/.overseer`, or the state directory of a bare one. */
  readonly userDir: string;
  /**
   * Where Overseer keeps its store, its logs and its run files: `<common directory>/overseer`. Not in the work tree:
   * `git stash -u` and `git clean` take what lies there, also while a daemon writes it (docs/decisions/0011).
   */
  readonly state: string;
  /** What all worktrees of the repository share. */
  readonly gitCommonDir: string;
}

/** The text of a file; undefined when there is none or it is a directory. */
export type ReadText = (path: string) => Promise<string | undefined>;

export interface RootQuery {
  /** Absolute and free of symlinks, as the kernel reports it. */
  readonly cwd: string;
  /** The value of `--root`. */
  readonly flag?: string;
  readonly env: { readonly OVERSEER_ROOT?: string; readonly OVERSEER_ATTEMPT?: string };
  readonly read?: ReadText;
}

/**
 * `--root`, else OVERSEER_ROOT, else the repository around the working directory. Rejects with OverseerError
 * NOT_A_REPOSITORY, TWO_ROOTS (environment and working directory disagree and nobody said which) or TEST_ISOLATION.
 */
export async function findRoot(query: RootQuery): Promise<Root> {
  const root = await chooseRoot(query);
  assertRootAllowed(root.state);
  return root;
}

async function chooseRoot({ cwd, flag, env, read = readWithBun }: RootQuery): Promise<Root> {
  if (flag) return findNamedRoot("--root", realPath(resolvePath(cwd, flag)), read);
  if (!env.OVERSEER_ROOT) {
    const found = await discoverRoot(cwd, read);
    if (found === undefined) throw notARepository(`${cwd} is not inside a git repository.`);
    return found;
  }
  const given = resolvePath(cwd, env.OVERSEER_ROOT);
  // Inside an attempt we wrote the variable ourselves, resolved; and an agent may stand in any repository it likes.
  if (env.OVERSEER_ATTEMPT) return findNamedRoot("OVERSEER_ROOT", given, read);
  const named = await findNamedRoot("OVERSEER_ROOT", realPath(given), read);
  const around = await discoverRoot(realPath(cwd), read);
  if (around !== undefined && around.state !== named.state) throw twoRoots(named, around);
  return named;
}

async function findNamedRoot(source: string, directory: string, read: ReadText): Promise<Root> {
  const root = await discoverRoot(directory, read);
  if (root === undefined) throw notARepository(`${source} names ${directory}, which is not inside a git repository.`);
  return root;
}

async function discoverRoot(start: string, read: ReadText): Promise<Root | undefined> {
  for (let directory = resolvePath("/", start); ; directory = parentOf(directory)) {
    const gitDir = await gitDirAt(directory, read);
    if (gitDir !== undefined) return rootOf(await outermostCommonDir(gitDir, read));
    if (directory === "/") return undefined;
  }
}

/** The git directory that a directory has, points to, or is. Asked in the order that costs a main checkout least. */
async function gitDirAt(directory: string, read: ReadText): Promise<string | undefined> {
  const dotGit = resolvePath(directory, ".git");
  if (await hasHead(dotGit, read)) return dotGit;
  const pointer = await read(dotGit);
  if (pointer?.startsWith("gitdir:")) return resolvePath(directory, pathIn(pointer.slice("gitdir:".length)));
  return (await isGitDir(directory, read)) ? directory : undefined;
}

/** Under any name but `.git`, a HEAD alone proves little: there is `config` too, or a linked worktree's `commondir`. */
async function isGitDir(directory: string, read: ReadText): Promise<boolean> {
  if (!(await hasHead(directory, read))) return false;
  if ((await read(resolvePath(directory, "config"))) !== undefined) return true;
  return (await readCommonDir(directory, read)) !== undefined;
}

async function hasHead(directory: string, read: ReadText): Promise<boolean> {
  const head = await read(resolvePath(directory, "HEAD"));
  return head !== undefined && /^(ref: ?\S|[0-9a-f]{40,64}\s*$)/.test(head);
}

/** Up from a worktree to its repository, and from a submodule to its superproject, until neither is left. */
async function outermostCommonDir(gitDir: string, read: ReadText): Promise<string> {
  const commonDir = (await readCommonDir(gitDir, read)) ?? gitDir;
  const superGitDir = await superprojectGitDir(commonDir, read);
  return superGitDir === undefined ? commonDir : outermostCommonDir(superGitDir, read);
}

async function readCommonDir(gitDir: string, read: ReadText): Promise<string | undefined> {
  const text = await read(resolvePath(gitDir, "commondir"));
  return text === undefined ? undefined : resolvePath(gitDir, pathIn(text));
}

/**
 * Submodules live in `<git directory of the superproject>/modules/<name>`. A name may hold slashes and even the word
 * `modules`, and so may the path of any repository, so only a prefix that is a git directory counts.
 */
async function superprojectGitDir(gitDir: string, read: ReadText): Promise<string | undefined> {
  for (let directory = gitDir; directory !== "/"; directory = parentOf(directory)) {
    if (nameOf(directory) !== "modules" || directory === gitDir) continue;
    if (await isGitDir(parentOf(directory), read)) return parentOf(directory);
  }
  return undefined;
}

function rootOf(gitCommonDir: string): Root {
  const state = resolvePath(gitCommonDir, "overseer");
  if (nameOf(gitCommonDir) !== ".git") return { project: gitCommonDir, userDir: state, state, gitCommonDir };
  const project = parentOf(gitCommonDir);
  return { project, userDir: resolvePath(project, ".overseer"), state, gitCommonDir };
}

/** Git ends these files with one newline; everything before it, blanks included, is the path. */
function pathIn(text: string): string {
  return text.replace(/^ /, "").replace(/[\r\n]+$/, "");
}

/** A name typed by a person may pass through symlinks; the root must still be the same text every time. */
function realPath(path: string): string {
  const fs: typeof import("node:fs") = require("node:fs");
  try {
    return fs.realpathSync(path);
  } catch (error) {
    if (systemCode(error) !== "ENOENT" && systemCode(error) !== "ENOTDIR") throw unreadable(path, error);
    throw notARepository(`There is no directory ${path}.`, error);
  }
}

const readWithBun: ReadText = async (path) => {
  try {
    return readNow(path);
  } catch (error) {
    throw unreadable(path, error);
  }
};

function notARepository(message: string, cause?: unknown): OverseerError {
  const hint = "Run `git init` here, go to a repository, or name one with --root <directory>.";
  return new OverseerError("environment", "NOT_A_REPOSITORY", message, hint, { cause });
}

function unreadable(path: string, cause: unknown): OverseerError {
  const message = `${path} could not be read: ${messageOf(cause)}`;
  const hint = "Check the permissions of the repository, or name another one with --root <directory>.";
  return new OverseerError("environment", "REPOSITORY_UNREADABLE", message, hint, { cause });
}

function twoRoots(named: Root, around: Root): OverseerError {
  const message = `OVERSEER_ROOT names ${named.project}, but the working directory belongs to ${around.project}.`;
  const hint = `Say which one you mean with --root ${around.project}, or unset OVERSEER_ROOT.`;
  return new OverseerError("conflict", "TWO_ROOTS", message, hint);
}

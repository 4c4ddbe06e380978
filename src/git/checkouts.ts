/**
 * Where a branch is checked out, and whether its files may be moved forward there. What somebody has changed and not
 * committed is in the way where the new commit changes something at its place (meeting-paths.ts), as for git's own
 * fast-forward; what is untracked too, and then also when it is ignored, because git would overwrite that without a
 * word. Reads only, and never refreshes anybody's index.
 */
import { dirname, join, resolve } from "node:path";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import type { FileChange } from "./landing.ts";
import * as landingArgs from "./landing-arguments.ts";
import { meetingPaths } from "./meeting-paths.ts";
import { listWorktrees, readStatus, within } from "./repository.ts";
import type { StatusEntry } from "./status.ts";

export interface Checkout {
  readonly path: string;
  /** Its own git dir. */
  readonly gitDir: string;
  /** Set when the branch is not at rest there: a rebase or a bisect of it is under way. */
  readonly busy?: string;
}

/** All worktrees of the repository that have the branch checked out or in the middle of something. */
export async function checkoutsOf(tools: GitTools, repository: string, branch: string): Promise<Checkout[]> {
  const gitDirs = [repository, ...(await listLinkedGitDirs(tools, repository))];
  const holding: { gitDir: string; busy?: string }[] = [];
  for (const gitDir of gitDirs) {
    const found = await holds(tools, gitDir, `refs/heads/${branch}`);
    if (found !== undefined) holding.push({ gitDir, ...found });
  }
  if (holding.length === 0) return [];
  const listed = await listWorktrees(tools.git, repository);
  const main = listed[0];
  const checkouts: Checkout[] = [];
  for (const one of holding) {
    if (one.gitDir === repository) {
      if (main !== undefined && !main.bare) checkouts.push({ ...one, path: main.path });
      continue;
    }
    const pointer = (await tools.files.read(join(one.gitDir, "gitdir")))?.trim();
    const path = pointer === undefined ? undefined : dirname(pointer);
    // A worktree whose directory was deleted by hand holds nothing that could be harmed; one that names another
    // repository is that one's: the entries of a copied repository still point to the worktrees of its original.
    if (path !== undefined && (await isOurs(tools, path, one.gitDir))) checkouts.push({ ...one, path });
  }
  return checkouts;
}

/** Unless it names the git directory of another repository that is there. */
async function isOurs(tools: GitTools, path: string, gitDir: string): Promise<boolean> {
  if ((await tools.files.facts(path)) === undefined) return false;
  const text = await tools.files.read(join(path, ".git"));
  if (!text?.startsWith("gitdir:")) return true;
  const named = resolve(path, text.slice("gitdir:".length).trim());
  if (named === gitDir || (await tools.files.facts(named)) === undefined) return true;
  return (await tools.files.realPath(named)) === (await tools.files.realPath(gitDir));
}

async function listLinkedGitDirs(tools: GitTools, repository: string): Promise<string[]> {
  const parent = join(repository, "worktrees");
  return ((await tools.files.list(parent)) ?? []).map((name) => join(parent, name));
}

async function holds(tools: GitTools, gitDir: string, ref: string): Promise<{ busy?: string } | undefined> {
  const head = (await tools.files.read(join(gitDir, "HEAD")))?.trim();
  if (head === `ref: ${ref}`) return {};
  // Refs kept in another way (reftable): git's own list is asked.
  if (head === "ref: refs/heads/.invalid") {
    const asked = await tools.git.attempt(["symbolic-ref", "--quiet", "HEAD"], { cwd: gitDir });
    if (asked.stdout.trim() === ref) return {};
  }
  // One look at the directory: most of the time nothing is under way, and this is asked twice for every landing.
  const names = new Set(await tools.files.list(gitDir));
  for (const dir of ["rebase-merge", "rebase-apply"].filter((name) => names.has(name))) {
    const rebased = (await tools.files.read(join(gitDir, dir, "head-name")))?.trim();
    if (rebased === ref) return { busy: "a rebase is under way" };
  }
  if (!names.has("BISECT_START")) return undefined;
  const bisected = (await tools.files.read(join(gitDir, "BISECT_START")))?.trim();
  return `refs/heads/${bisected}` === ref ? { busy: "a bisect is under way" } : undefined;
}

export interface Obstacle {
  readonly detail: string;
  readonly files: readonly string[];
}

export const UNFINISHED: readonly (readonly [file: string, what: string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
  ["rebase-apply/applying", "a git am"],
  ["rebase-apply", "a rebase"],
  ["rebase-merge", "a rebase"],
  ["sequencer", "a cherry-pick or revert"],
  ["BISECT_START", "a bisect"],
];

/** What stands in the way of moving this checkout forward by these changes; undefined when nothing does. */
export async function obstacleIn(
  tools: GitTools,
  checkout: Checkout,
  move: { readonly branch: string; readonly changes: readonly FileChange[] },
): Promise<Obstacle | undefined> {
  const where = `in ${checkout.path}, where ${move.branch} is checked out`;
  if (checkout.busy !== undefined) return { detail: `${checkout.busy} ${where}`, files: [] };
  for (const [file, what] of UNFINISHED) {
    if ((await tools.files.facts(join(checkout.gitDir, file))) === undefined) continue;
    return { detail: `${what} is unfinished ${where}; finish or abort it ('git status' says how)`, files: [] };
  }
  const changed: string[] = [];
  const unmerged: string[] = [];
  for (const entry of await readStatus(tools.git, checkout.path)) {
    if (entry.kind === "untracked" || (await isSubmoduleLeftBehind(tools, checkout, entry))) continue;
    (entry.kind === "unmerged" ? unmerged : changed).push(entry.path);
  }
  // Git moves no checkout with those, whatever they are about.
  if (unmerged.length > 0) {
    const wayOut = "resolve them and 'git add' them, or abort what brought them ('git status' says how)";
    return { detail: `there are unresolved conflicts ${where}; ${wayOut}`, files: unmerged };
  }
  const met = await findMet(tools, checkout.path, changed, move.changes);
  if (met.length > 0) {
    const lock = join(checkout.gitDir, "index.lock");
    const held = (await tools.files.facts(lock)) !== undefined;
    const also = held ? ` (a git is at work there or was stopped: ${lock}; remove it if none runs)` : "";
    return { detail: describeMet(where, also), files: met };
  }
  return inTheWayOf(tools, checkout, move);
}

/** Another branch is the way out for whoever does not want to be waited for: then nobody's files are moved. */
export function describeMet(where: string, also = ""): string {
  const wayOut = "commit or stash them, or work on another branch ('git switch -c <name>')";
  return `there are uncommitted changes to files that this landing changes too, ${where}${also}; ${wayOut}`;
}

/** Those of the changed paths that the new commit has something to do with. */
export async function findMet(
  tools: GitTools,
  checkout: string,
  changed: readonly string[],
  changes: readonly { readonly path: string }[],
): Promise<readonly string[]> {
  if (changed.length === 0) return [];
  const paths = changes.map(({ path }) => path);
  const met = meetingPaths(changed, paths);
  const folded = meetingPaths(changed, paths, { foldCase: true });
  if (folded.length === met.length) return met;
  const asked = await tools.git.attempt(args.configMatching("^core\\.ignorecase$"), within(checkout));
  return /\ntrue\0?$/.test(asked.stdout.trim()) ? folded : met;
}

/**
 * What git does not guard and a move would overwrite or delete: untracked files, ignored ones too, where the new commit
 * has something, and a submodule's checkout in the place of which it has something else. Looks at the files alone.
 */
export async function inTheWayOf(
  tools: GitTools,
  checkout: Checkout,
  move: { readonly branch: string; readonly changes: readonly FileChange[] },
): Promise<Obstacle | undefined> {
  const where = `in ${checkout.path}, where ${move.branch} is checked out`;
  const replaced = await findReplacedSubmodules(tools, checkout.path, move.changes);
  const [first] = replaced;
  if (first !== undefined) {
    const named = replaced.length === 1 ? `the submodule ${first} has` : `submodules (${replaced.join(", ")}) have`;
    const next = `keep what you need of it and move ${first} away, or empty it with 'git submodule deinit ${first}'`;
    return {
      detail: `${named} files, and the new commit has something else there, ${where}; ${next}`,
      files: replaced,
    };
  }
  const nested = await findNestedRepositories(tools, checkout.path, move.changes);
  if (nested.length > 0) {
    const detail = `the new commit has files in ${nested.join(", ")}, where a repository of its own lies`;
    return { detail: `${detail} ${where}; move it away`, files: nested };
  }
  const inTheWay = await findUntrackedInTheWay(tools, checkout.path, move.changes);
  if (inTheWay.length === 0) return undefined;
  const wayOut = "move them away or commit them, or work on another branch ('git switch -c <name>')";
  return { detail: `files that git does not track would be overwritten ${where}; ${wayOut}`, files: inTheWay };
}

/** How far back a branch is asked what it has recorded for a submodule. */
const RECORDED_BEFORE = 200;

/**
 * A submodule whose checkout is at a commit that the branch itself had recorded for it before: a later one has landed,
 * and nobody has run `git submodule update` since. That is nobody's uncommitted change, and no landing touches it. Nor
 * does one touch what is untracked in it.
 */
async function isSubmoduleLeftBehind(tools: GitTools, checkout: Checkout, entry: StatusEntry): Promise<boolean> {
  if (entry.kind !== "changed" || entry.staged !== "." || entry.unstaged !== "M") return false;
  if (entry.inside === undefined || entry.inside.files) return false;
  if (!entry.inside.commit) return true;
  const head = await tools.git.attempt(args.resolveCommitArguments("HEAD"), within(join(checkout.path, entry.path)));
  if (head.code !== 0) return false;
  const history = landingArgs.pathHistory("HEAD", entry.path, RECORDED_BEFORE);
  const recorded = await tools.git.attempt(history, within(checkout.path));
  return recorded.code === 0 && recorded.stdout.includes(head.stdout.trim());
}

/** Submodules that become something else, or a directory of the branch's own files, while files lie in them. */
async function findReplacedSubmodules(tools: GitTools, top: string, changes: readonly FileChange[]): Promise<string[]> {
  const found: string[] = [];
  for (const { kind, path, submodule } of changes) {
    if (submodule !== "was") continue;
    // Of one that is only removed, git leaves everything where it is.
    if (kind === "D" && !changes.some((other) => other.path.startsWith(`${path}/`))) continue;
    const inside = await tools.files.list(join(top, path));
    if (inside !== undefined && inside.length > 0) found.push(path);
  }
  return found;
}

/** Directories that are repositories of their own, and in which the new commit has files. */
async function findNestedRepositories(tools: GitTools, top: string, changes: readonly FileChange[]): Promise<string[]> {
  const above = new Set<string>();
  for (const { kind, path } of changes) {
    if (kind === "D") continue;
    for (let dir = dirname(path); dir !== "." && !above.has(dir); dir = dirname(dir)) above.add(dir);
  }
  const found: string[] = [];
  for (const dir of above) if ((await tools.files.facts(join(top, dir, ".git"))) !== undefined) found.push(dir);
  return found;
}

/** Whatever lies where the new commit has a file and the old one had none. */
async function findUntrackedInTheWay(tools: GitTools, top: string, changes: readonly FileChange[]): Promise<string[]> {
  const deleted = new Set(changes.filter(({ kind }) => kind === "D").map(({ path }) => path));
  const found = new Set<string>();
  for (const { kind, path, submodule } of changes) {
    if (kind !== "A") continue;
    // A new submodule is an empty directory for git; one that is there already, it leaves as it is.
    if (submodule === "is" && (await tools.files.facts(join(top, path)))?.kind === "directory") continue;
    for (const each of await occupants(tools, top, path)) if (!deleted.has(each)) found.add(each);
  }
  return [...found].slice(0, 100);
}

/** The file at that place, every file below it if it is a directory, or the file that stands where a directory must. */
async function occupants(tools: GitTools, top: string, path: string): Promise<string[]> {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = parts.slice(0, depth).join("/");
    const facts = await tools.files.facts(join(top, above));
    if (facts === undefined) return [];
    if (facts.kind !== "directory") return [above];
  }
  return filesBelow(tools, top, path);
}

async function filesBelow(tools: GitTools, top: string, path: string): Promise<string[]> {
  const facts = await tools.files.facts(join(top, path));
  if (facts === undefined) return [];
  if (facts.kind !== "directory") return [path];
  const found: string[] = [];
  for (const name of (await tools.files.list(join(top, path))) ?? []) {
    found.push(...(await filesBelow(tools, top, `${path}/${name}`)));
  }
  return found;
}

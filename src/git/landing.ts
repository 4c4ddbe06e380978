/**
 * Bringing a commit into a branch without touching anybody's files until it is sure to work. The merge happens in the
 * object database; the result is a commit that nobody sees yet and that can be checked at leisure; then the branch is
 * moved by compare-and-set, or, where it is checked out, by a fast-forward of that checkout, and only when nothing that
 * somebody has changed there is in its way.
 * Every step may be repeated: the same merge makes the same commit, and a branch that has moved on is an answer.
 *
 * Git reads the attributes that steer a merge (drivers, line endings) from the files of the directory it runs in. So
 * the merge runs in our own directory that holds the target's .gitattributes and nothing else: what a user has lying
 * around uncommitted has no say in it, and no checkout is needed.
 */
import { dirname, join } from "node:path";
import { prepareCheckWorktree } from "./check-worktree.ts";
import { type Checkout, checkoutsOf, inTheWayOf, obstacleIn } from "./checkouts.ts";
import { moveFiles, moveForward } from "./fast-forward.ts";
import { type GitTools, gitFailure } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import type { CheckoutMove } from "./move-notes.ts";
import { isAttributes } from "./prepared-contents.ts";
import { changeRefs } from "./refs.ts";
import { branchTip, findCommit, type GitIdentity, isMergedInto, OVERSEER_IDENTITY, within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { GITLINK } from "./tree-entries.ts";

export interface FileChange {
  /** A added, D deleted, M modified, T kind changed. */
  readonly kind: string;
  readonly path: string;
  /** Which of the two versions is a submodule. */
  readonly submodule?: "was" | "is" | "both";
}

export type MergeResult =
  | { readonly kind: "clean"; readonly tree: string; readonly changes: readonly FileChange[] }
  /** `files` is empty when the two have no common history. */
  | { readonly kind: "conflict"; readonly files: readonly string[] }
  /** One of the two commits does not exist. */
  | { readonly kind: "missing" };

/** Merges in the object database. Writes objects only; may be called again at any time. */
export async function mergeInto(tools: GitTools, repository: string, merge: MergeWish): Promise<MergeResult> {
  const { git } = tools;
  const view = await integrationView(tools, repository, merge.target);
  if (view === undefined) return { kind: "missing" };
  const env = { ...view, ...objectsAside(repository, merge.objects) };
  const command = [...(merge.settings ?? []), ...landingArgs.mergeTree(merge.target, merge.commit)];
  const result = await git.attempt(command, { cwd: view.GIT_WORK_TREE, env });
  const [tree = "", ...rest] = result.stdout.split("\0");
  // A commit that is gone ends with 1 as well, but then there is no tree.
  if (result.code === 1 && tree !== "") {
    return { kind: "conflict", files: [...new Set(rest.filter((name) => name !== ""))] };
  }
  if (result.code !== 0) {
    if (/unrelated histories/.test(result.stderr)) return { kind: "conflict", files: [] };
    if ((await findCommit(git, repository, merge.commit)) === undefined) return { kind: "missing" };
    throw gitFailure(command, repository, result);
  }
  return { kind: "clean", tree, changes: await changesBetween(tools, repository, merge.target, tree, merge.objects) };
}

export interface MergeWish {
  readonly target: string;
  readonly commit: string;
  /** A directory that takes the objects instead of the repository, for a look that must leave nothing behind. */
  readonly objects?: string;
  /** Commits that must not come along; for a replay only. */
  readonly without?: readonly string[];
  /** Commits that must not come along, while those below them may; for a replay only. */
  readonly skipped?: readonly string[];
  /** Settings of git for this merge alone, as `-c name=value`. */
  readonly settings?: readonly string[];
}

export function objectsAside(repository: string, objects: string | undefined): Record<string, string> {
  if (objects === undefined) return {};
  return { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, "objects") };
}

/** The same for a git older than 2.38, which merges only in a checkout: in one of ours. */
export async function mergeInWorktree(
  tools: GitTools,
  repository: string,
  merge: { readonly target: string; readonly commit: string; readonly path: string },
): Promise<MergeResult> {
  const { git } = tools;
  if ((await findCommit(git, repository, merge.commit)) === undefined) return { kind: "missing" };
  const { path } = await prepareCheckWorktree(tools, { repository, path: merge.path, commit: merge.target });
  const result = await git.attempt(landingArgs.mergeHere(merge.commit), within(path));
  if (result.code === 0) {
    const tree = (await git.run(snapshotArgs.treeFromIndex(), within(path))).trim();
    return { kind: "clean", tree, changes: await changesBetween(tools, repository, merge.target, tree) };
  }
  const files = (await git.run(landingArgs.listConflictedFiles(), within(path)))
    .split("\0")
    .filter((name) => name !== "");
  if (files.length > 0 || /unrelated histories/.test(result.stderr)) return { kind: "conflict", files };
  throw gitFailure(landingArgs.mergeHere(merge.commit), path, result);
}

export async function changesBetween(
  tools: GitTools,
  repository: string,
  from: string,
  to: string,
  objects?: string,
): Promise<FileChange[]> {
  const options = { cwd: repository, env: objectsAside(repository, objects) };
  const fields = (await tools.git.run(landingArgs.listChangedEntries(from, to), options)).split("\0");
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [was = "", is = "", , , kind = "M"] = (fields[at] ?? "").slice(1).split(" ");
    const submodule = submoduleIn(was === GITLINK, is === GITLINK);
    changes.push({ kind: kind[0] ?? "M", path: fields[at + 1] ?? "", ...(submodule ? { submodule } : {}) });
  }
  return changes;
}

function submoduleIn(was: boolean, is: boolean): FileChange["submodule"] {
  return was && is ? "both" : was ? "was" : is ? "is" : undefined;
}

export interface CommitWish {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** When it was written, ms. With the same wish, the same commit comes out. */
  readonly at: number;
}

/** Makes the commit, under the user's name if git knows one and Overseer's otherwise. Repeatable. */
export async function writeCommit(tools: GitTools, repository: string, wish: CommitWish): Promise<string> {
  const written = Math.floor(wish.at / 1000);
  // Git walks by these dates and counts wrongly where a commit is older than its parents.
  const made = Math.max(written, await newestDate(tools, repository, wish.parents));
  const dates = { GIT_AUTHOR_DATE: `${written} +0000`, GIT_COMMITTER_DATE: `${made} +0000` };
  const command = snapshotArgs.commitTree(wish.tree, wish.parents);
  const options = { cwd: repository, stdin: wish.message };
  const result = await tools.git.attempt(["-c", "user.useConfigOnly=true", ...command], { ...options, env: dates });
  if (result.code === 0) return result.stdout.trim();
  if (!/identity|ident name|auto-detect/.test(result.stderr)) throw gitFailure(command, repository, result);
  const env = { ...dates, ...asIdentity(OVERSEER_IDENTITY) };
  return (await tools.git.run(command, { ...options, env })).trim();
}

/** In seconds; 0 where there is none. */
async function newestDate(tools: GitTools, repository: string, commits: readonly string[]): Promise<number> {
  if (commits.length === 0) return 0;
  const dates = await tools.git.run(landingArgs.commitDates(commits), { cwd: repository });
  return Math.max(0, ...dates.split("\n").map(Number));
}

function asIdentity({ name, email }: GitIdentity): Record<string, string> {
  return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
}

/** True when the branch holds the commit. False when either is gone. */
export async function holds(tools: GitTools, repository: string, branch: string, commit: string): Promise<boolean> {
  const tip = await branchTip(tools, repository, branch);
  if (tip === undefined || (await findCommit(tools.git, repository, commit)) === undefined) return false;
  return isMergedInto(tools.git, repository, commit, tip);
}

export interface BranchMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
  readonly changes: readonly FileChange[];
}

export type MoveResult =
  /** `behind`: checkouts of the branch that appeared meanwhile and could not be brought along. */
  | { readonly kind: "moved"; readonly behind: readonly string[] }
  /** The branch is not at `from` any more; nothing was changed. */
  | { readonly kind: "lost" }
  /** What lies in a checkout is in the way; nothing was changed. */
  | {
      readonly kind: "dirty";
      readonly checkout: string;
      readonly detail: string;
      readonly files: readonly string[];
    };

/** Moves the branch from one commit to its descendant, all or nothing. A repeat after success is `lost`. */
export async function advanceBranch(tools: GitTools, repository: string, move: BranchMove): Promise<MoveResult> {
  const checkouts = await checkoutsOf(tools, repository, move.branch);
  const obstacle = await firstObstacle(tools, checkouts, move);
  // Asked first: once somebody else has landed it, the very files of the commit look as if they were in its way.
  if ((await branchTip(tools, repository, move.branch)) !== move.from) return { kind: "lost" };
  if (obstacle) return obstacle;
  const [first, ...others] = checkouts;
  if (first === undefined) return moveUnseen(tools, repository, move);
  const look = () => obstacleIn(tools, first, move);
  const forward = await moveForward(tools, repository, moveOf(first, move), look);
  switch (forward.kind) {
    case "moved":
      return { kind: "moved", behind: await bringAlong(tools, repository, others, move) };
    case "lost":
      return forward;
    case "in-the-way":
      return { kind: "dirty", checkout: first.path, detail: forward.detail, files: forward.files };
    case "stopped": {
      const half = forward.stuck.length === 0 ? "" : "; these files could not be put back yet";
      const detail = `git would not fast-forward ${first.path}: ${forward.said}${half}`;
      return { kind: "dirty", checkout: first.path, detail, files: forward.stuck };
    }
  }
}

function moveOf({ path, gitDir }: Checkout, { branch, from, to }: BranchMove): CheckoutMove {
  return { checkout: path, gitDir, branch, from, to };
}

type Dirty = Extract<MoveResult, { kind: "dirty" }>;

/** Whether moving it would have to wait, without moving it. */
export async function obstacleTo(tools: GitTools, repository: string, move: BranchMove): Promise<Dirty | undefined> {
  return firstObstacle(tools, await checkoutsOf(tools, repository, move.branch), move);
}

async function firstObstacle(
  tools: GitTools,
  checkouts: readonly Checkout[],
  move: BranchMove,
): Promise<Dirty | undefined> {
  for (const checkout of checkouts) {
    const obstacle = await obstacleIn(tools, checkout, move);
    if (obstacle) return { kind: "dirty", checkout: checkout.path, ...obstacle };
  }
  return undefined;
}

/** Nobody has it checked out. Should somebody have done so in that very moment, their files follow. */
async function moveUnseen(tools: GitTools, repository: string, move: BranchMove): Promise<MoveResult> {
  const { branch, from, to } = move;
  if (!(await changeRefs(tools.git, repository, [{ kind: "update", ref: `refs/heads/${branch}`, from, to }]))) {
    return { kind: "lost" };
  }
  return {
    kind: "moved",
    behind: await bringAlong(tools, repository, await checkoutsOf(tools, repository, branch), move),
  };
}

/** Index and files from the old commit to the new one, where nothing stands in the way; the rest is told. */
async function bringAlong(
  tools: GitTools,
  repository: string,
  checkouts: readonly Checkout[],
  move: BranchMove,
): Promise<string[]> {
  const behind: string[] = [];
  for (const checkout of checkouts) {
    const look = async () => inTheWayOf(tools, checkout, move);
    const free = (await look()) === undefined;
    const forward = free ? await moveFiles(tools, repository, moveOf(checkout, move), look) : undefined;
    if (forward?.kind !== "moved") behind.push(checkout.path);
  }
  return behind;
}

/** A commit's .gitattributes lie in a directory named after their content; which one that is, is asked once. */
const knownViews = new WeakMap<object, Map<string, string>>();
const VIEWS_KNOWN = 64;

/** After a landing that changed no attributes, the new tip is merged with the same ones. */
export function sameAttributes(tools: GitTools, from: string, to: string, changes: readonly FileChange[]): void {
  const key = knownViews.get(tools.git)?.get(from);
  if (key !== undefined && !changes.some(({ path }) => isAttributes(path))) remember(tools, to, key);
}

function remember(tools: GitTools, commit: string, key: string): void {
  const views = knownViews.get(tools.git) ?? new Map<string, string>();
  knownViews.set(tools.git, views);
  views.set(commit, key);
  const oldest = views.keys().next().value;
  if (views.size > VIEWS_KNOWN && oldest !== undefined) views.delete(oldest);
}

export interface IntegrationView extends Record<string, string> {
  readonly GIT_DIR: string;
  readonly GIT_WORK_TREE: string;
}

export async function integrationView(
  tools: GitTools,
  repository: string,
  target: string,
): Promise<IntegrationView | undefined> {
  const parent = join(repository, "overseer", "integration");
  const known = knownViews.get(tools.git)?.get(target);
  const at = (key: string): IntegrationView => ({ GIT_DIR: repository, GIT_WORK_TREE: join(parent, key) });
  if (known !== undefined && (await tools.files.facts(join(parent, known))) !== undefined) return at(known);
  const listed = await tools.git.attempt(landingArgs.treeEntries(target), { cwd: repository });
  if (listed.code !== 0) return undefined;
  const attributes = listed.stdout.split("\0").flatMap((record) => {
    const [facts = "", path = ""] = record.split("\t");
    const [mode = "", , oid = ""] = facts.split(" ");
    return isAttributes(path) && mode.startsWith("100") ? [{ path, oid }] : [];
  });
  const key = new Bun.CryptoHasher("sha256").update(JSON.stringify(attributes)).digest("hex").slice(0, 16);
  if ((await tools.files.facts(join(parent, key))) === undefined)
    await fill(tools, repository, parent, key, attributes);
  remember(tools, target, key);
  return at(key);
}

/** Made beside its place and renamed, so that it is there whole or not at all. */
async function fill(
  tools: GitTools,
  repository: string,
  parent: string,
  key: string,
  attributes: readonly { readonly path: string; readonly oid: string }[],
): Promise<void> {
  const making = join(parent, `.${key}-${tools.ids.next("")}`);
  await tools.files.makeDir(making);
  // Never empty: an empty directory would be replaced by the rename, under the feet of a git that works in it.
  await tools.files.append(join(making, ".made"), "");
  for (const { path, oid } of attributes) {
    await tools.files.makeDir(dirname(join(making, path)));
    await tools.files.append(join(making, path), await tools.git.run(landingArgs.blobText(oid), { cwd: repository }));
  }
  try {
    await tools.files.rename(making, join(parent, key));
  } catch (error) {
    await tools.files.remove(making);
    // Another process was faster with the very same content.
    if ((await tools.files.facts(join(parent, key))) === undefined) throw error;
  }
}

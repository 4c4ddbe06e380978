/**
 * Removing worktrees without losing work. The directory is proven to be the worktree meant, then asked: leased to
 * someone, uncommitted changes, commits that are nowhere else? Each is a refusal with a name. `force` overrides the
 * last two, and even then everything stays reachable from `refs/overseer/recovery/<name>-<n>`: what was uncommitted
 * as a snapshot (wip-restore.ts brings it back), what was unmerged as the commit itself, with the commits that HEAD and
 * the branch have left, which are kept and refuse nothing (an amend leaves one); the same of submodules and
 * nested repositories as `<name>-of-<path>-<n>`. What no ref can hold (worktree-contents.ts) is refused by name with
 * or without force, until `discard` says that it may go.
 *
 * The directory is first renamed, which is one step, and removed afterwards, so a crash in between never leaves half
 * a worktree under its name; every step looks first whether it was done before.
 */
import { basename, dirname, join } from "node:path";
import { describeLosses, type Loss } from "#domain/landing/rebuildable.ts";
import { OverseerError, systemCode } from "#errors.ts";
import type { GitTools } from "./git.ts";
import { findLeftCommits } from "./left-commits.ts";
import { changeRefs, listRefs } from "./refs.ts";
import { branchTip, findCommits, isMergedInto, listWorktrees } from "./repository.ts";
import { isAboutMissing, isWhole, MOST_REWRITES, notWhole } from "./whole.ts";
import { type Contents, readContents } from "./worktree-contents.ts";
import { type ProvenWorktree, proveWorktree, resolveRealPath } from "./worktree-proof.ts";
import { forgetWorktree } from "./worktrees.ts";

export const RECOVERY_PREFIX = "refs/overseer/recovery/";

/** Beside the worktrees, so that the rename stays on one file system. */
const DISCARDED = ".discarded-";

export interface RemovalRequest {
  readonly path: string;
  /** The branch it was made with, short; deleted too when nothing on it can be lost. */
  readonly branch: string;
  readonly expectedCommonDir: string;
  /** The branch or commit that merged work is in. */
  readonly target: string;
  /** The commit the branch began at: a branch that is still there holds no work. */
  readonly base?: string;
  /** Commits whose work is in the target under another id: they refuse nothing, and are kept by a recovery ref. */
  readonly landed?: readonly string[];
  /** Asked right before the first change, and once more when the directory is out of the way; true: somebody lives there. */
  readonly isLeased: () => boolean | Promise<boolean>;
  /** Removes what is dirty or unmerged as well, leaving recovery refs. Never overrides a lease. */
  readonly force?: boolean;
  /** Uncommitted files larger than this are listed in the recovery snapshot but not kept. */
  readonly maxFileBytes?: number;
  /** Names of ignored files that can be made again, beside those that always can. */
  readonly rebuildable: readonly string[];
  /** Removes also what cannot be kept. */
  readonly discard?: boolean;
}

export interface RemovalOutcome {
  /** False when the directory was gone already. */
  readonly removed: boolean;
  readonly branchDeleted: boolean;
  /** Refs that hold what would otherwise be lost; empty when nothing would. */
  readonly recovery: readonly string[];
  /** What could not be kept and went all the same, because `discard` said so. */
  readonly lost: readonly Loss[];
}

/**
 * Throws `conflict` WORKTREE_LEASED, WORKTREE_DIRTY, WORKTREE_UNMERGED, WORKTREE_ON_OTHER_BRANCH,
 * WORKTREE_HAS_REPOSITORIES, WORKTREE_HOLDS_MORE (`details.wouldLose` lists what), WORKTREE_LOCKED or NOT_THE_WORKTREE,
 * each before anything is changed. May be called again
 * at any time; what is gone already is simply not removed.
 */
export async function removeWorktree(tools: GitTools, request: RemovalRequest): Promise<RemovalOutcome> {
  const { path, worktree, saving, recovery } = await keepAll(tools, request);
  if (worktree !== undefined) {
    const aside = await setAside(tools, path);
    // Somebody who was let in after we asked has not proven the directory yet, or finds it where it was.
    if (aside !== undefined && (await request.isLeased())) {
      await tools.files.rename(aside, path);
      throw worktreeLeasedError(path);
    }
  }
  await forgetWorktree(tools, request.expectedCommonDir, path);
  const branchDeleted = await deleteBranch(tools, request, saving.branchTip);
  await emptyDiscarded(tools, path);
  return { removed: worktree !== undefined, branchDeleted, recovery, lost: saving.contents?.losses ?? [] };
}

/** Everything that can be kept has its ref, and each is whole: only then may anything go. */
async function keepAll(
  tools: GitTools,
  request: RemovalRequest,
): Promise<Judged & { readonly recovery: readonly string[] }> {
  const cwd = request.expectedCommonDir;
  for (let round = 1; round <= MOST_REWRITES; round += 1) {
    try {
      const judged = await judgeRemoval(tools, request);
      if (await request.isLeased()) throw worktreeLeasedError(judged.path);
      const left = await leaveRecoveryRefs(tools, request, judged.path, judged.saving);
      const broken = [];
      for (const one of left) if (!(await isWhole(tools, cwd, one.commit, request.target))) broken.push(one);
      if (broken.length === 0) return { ...judged, recovery: left.map(({ ref }) => ref) };
      // A snapshot is made again with another id; whatever else is named gets back what it lacks.
      for (const { ref, commit } of broken) {
        if (commit !== judged.saving.contents?.snapshot) continue;
        await changeRefs(tools.git, cwd, [{ kind: "delete", ref, from: commit }]);
      }
    } catch (error) {
      if (!isAboutMissing(error)) throw error;
    }
  }
  throw notWhole(`What ${request.path} holds`);
}

/** Throws every refusal of removeWorktree but that of a lease, and changes nothing: for whoever has more to end first. */
export async function assertRemovable(tools: GitTools, request: RemovalRequest): Promise<void> {
  await judgeRemoval(tools, request);
}

interface Judged {
  readonly path: string;
  readonly worktree: ProvenWorktree | undefined;
  readonly saving: Saving;
}

/** Somebody else may remove it while we look, at which git stumbles in many ways: then it is judged as one that is gone. */
async function judgeRemoval(tools: GitTools, request: RemovalRequest): Promise<Judged> {
  const path = await resolveRecordedPath(tools, request.path);
  try {
    return await judgeOnce(tools, request, path);
  } catch (error) {
    if ((await tools.files.facts(path)) !== undefined) throw error;
    return judgeOnce(tools, request, path);
  }
}

async function judgeOnce(tools: GitTools, request: RemovalRequest, path: string): Promise<Judged> {
  const present = (await tools.files.facts(path)) !== undefined;
  const worktree = present ? await proveLinked(tools, request, path) : undefined;
  const entry = (await listWorktrees(tools.git, request.expectedCommonDir)).find((each) => each.path === path);
  if (entry?.locked !== undefined) throw worktreeLockedError(path, entry.locked);
  return { path, worktree, saving: await whatWouldBeLost(tools, request, worktree, entry?.head) };
}

interface Saving {
  /** What lies in it beside its branch; undefined when the directory is gone. */
  readonly contents: Contents | undefined;
  readonly unmerged: readonly string[];
  /** Commits that HEAD and the branch have left behind, which nothing else names. */
  readonly left: readonly string[];
  readonly branchTip?: string;
}

async function proveLinked(tools: GitTools, request: RemovalRequest, path: string): Promise<ProvenWorktree> {
  const worktree = await proveWorktree(tools, { path, expectedCommonDir: request.expectedCommonDir });
  if (worktree.linked) return worktree;
  const hint = "Nothing was touched. Only worktrees that Overseer made can be removed.";
  throw new OverseerError("conflict", "NOT_THE_WORKTREE", `${path} is the main checkout.`, hint);
}

async function whatWouldBeLost(
  tools: GitTools,
  request: RemovalRequest,
  worktree: ProvenWorktree | undefined,
  /** Known to git even when the directory is gone. */
  recordedHead: string | undefined,
): Promise<Saving> {
  const { git } = tools;
  const cwd = request.expectedCommonDir;
  const tip = await branchTip(tools, cwd, request.branch);
  const tips = [...new Set([tip, worktree?.head ?? recordedHead])].filter((tip) => tip !== undefined);
  const unmerged: string[] = [];
  for (const one of tips) {
    if (one !== request.base && !(await isMergedInto(git, cwd, one, request.target))) unmerged.push(one);
  }
  const contents = worktree === undefined ? undefined : await readContents(tools, worktree, request);
  if (request.force !== true) refuseUnforced(request, worktree, contents, unmerged);
  if (request.discard !== true && contents !== undefined && contents.losses.length > 0) {
    throw holdsMore(request.path, contents.losses);
  }
  const left = await findLeftCommits(tools, {
    commonDir: cwd,
    gitDir: worktree?.gitDir ?? (await findRecordedGitDir(tools, cwd, request.path)),
    branch: request.branch,
    kept: [...tips, ...(await listKeptCommits(tools, request))],
    keptPrefix: RECOVERY_PREFIX,
  });
  return { contents, unmerged, left, branchTip: tip };
}

/** The target, and where the branch began: that was somebody's before it was this worktree's. */
async function listKeptCommits(
  { git }: GitTools,
  { expectedCommonDir, target, base }: RemovalRequest,
): Promise<string[]> {
  return findCommits(git, { cwd: expectedCommonDir }, base === undefined ? [target] : [target, base]);
}

/** The entry that git still has of a worktree whose directory is gone. */
async function findRecordedGitDir(tools: GitTools, commonDir: string, path: string): Promise<string | undefined> {
  const link = join(await resolveRecordedPath(tools, path), ".git");
  const entries = join(commonDir, "worktrees");
  for (const name of (await tools.files.list(entries)) ?? []) {
    const gitDir = join(entries, name);
    if ((await tools.files.read(join(gitDir, "gitdir")))?.trim() === link) return gitDir;
  }
  return undefined;
}

function refuseUnforced(
  request: RemovalRequest,
  worktree: ProvenWorktree | undefined,
  contents: Contents | undefined,
  unmerged: readonly string[],
): void {
  if (worktree !== undefined) {
    if (contents?.dirty) throw refusal("WORKTREE_DIRTY", worktree.path, "has uncommitted changes");
    if (worktree.branchRef !== `refs/heads/${request.branch}`) {
      throw refusal("WORKTREE_ON_OTHER_BRANCH", worktree.path, `is on ${worktree.branchRef ?? "no branch"}`);
    }
  }
  if (unmerged.some((commit) => !request.landed?.includes(commit))) {
    throw refusal("WORKTREE_UNMERGED", request.path, `has commits that are not in ${request.target}`);
  }
  const inside = new Set(contents?.inside.map(({ path }) => path));
  if (inside.size > 0) {
    const what = `has repositories in it whose work is nowhere else: ${[...inside].join(", ")}`;
    throw refusal("WORKTREE_HAS_REPOSITORIES", request.path, what);
  }
}

/** A snapshot of what is uncommitted covers HEAD too, being its child. A commit that has a recovery ref gets no second. */
async function leaveRecoveryRefs(
  tools: GitTools,
  { expectedCommonDir }: RemovalRequest,
  path: string,
  { unmerged, left, contents }: Saving,
): Promise<{ readonly ref: string; readonly commit: string }[]> {
  const name = basename(path);
  const commits = [
    ...[...unmerged, ...left, ...(contents?.snapshot === undefined ? [] : [contents.snapshot])].map((commit) => ({
      name,
      commit,
    })),
    ...(contents?.inside ?? []).map((one) => ({ name: `${name}-of-${one.path}`, commit: one.commit })),
  ];
  const refs: { ref: string; commit: string }[] = [];
  for (const { name: of, commit } of commits) {
    refs.push({ ref: await leaveRecoveryRef(tools, expectedCommonDir, of, commit), commit });
  }
  return refs;
}

/** As refs of what a worktree of that name held begin, below their prefix. */
export function nameOfRecovery(worktree: string): string {
  return worktree.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Keeps the commit reachable under a name of its own; the same ref for the same commit. */
export async function leaveRecoveryRef(tools: GitTools, cwd: string, name: string, commit: string): Promise<string> {
  const prefix = `${RECOVERY_PREFIX}${nameOfRecovery(name)}-`;
  for (;;) {
    const known = (await listRefs(tools.git, cwd, RECOVERY_PREFIX)).filter(({ ref }) => ref.startsWith(prefix));
    const same = known.find(({ oid }) => oid === commit);
    if (same !== undefined) return same.ref;
    const numbers = known.map(({ ref }) => Number(ref.slice(prefix.length))).filter(Number.isInteger);
    const ref = `${prefix}${Math.max(0, ...numbers) + 1}`;
    if (await changeRefs(tools.git, cwd, [{ kind: "create", ref, to: commit }])) return ref;
  }
}

/** Where it is now; undefined when somebody else was faster. */
async function setAside(tools: GitTools, path: string): Promise<string | undefined> {
  const aside = join(dirname(path), `${DISCARDED}${basename(path)}-${tools.ids.next("")}`);
  try {
    await tools.files.rename(path, aside);
    return aside;
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return undefined;
  }
}

/** Also what an earlier removal of the same name left when it was interrupted. */
async function emptyDiscarded(tools: GitTools, path: string): Promise<void> {
  const parent = dirname(path);
  for (const name of (await tools.files.list(parent)) ?? []) {
    if (name.startsWith(`${DISCARDED}${basename(path)}-`)) await tools.files.remove(join(parent, name));
  }
}

/** Only at the commit that was judged: a commit made meanwhile keeps the branch alive. */
async function deleteBranch(tools: GitTools, request: RemovalRequest, tip: string | undefined): Promise<boolean> {
  if (tip === undefined) return false;
  const cwd = request.expectedCommonDir;
  const ref = `refs/heads/${request.branch}`;
  const elsewhere = (await listWorktrees(tools.git, cwd)).some((each) => each.branch === ref);
  return !elsewhere && changeRefs(tools.git, cwd, [{ kind: "delete", ref, from: tip }]);
}

/** As git wrote it down: with the parent's symlinks resolved, whether or not the directory is still there. */
async function resolveRecordedPath(tools: GitTools, path: string): Promise<string> {
  const parent = await resolveRealPath(tools, dirname(path));
  return parent === undefined ? path : join(parent, basename(path));
}

function worktreeLockedError(path: string, reason: string): OverseerError {
  const message = `${path} is locked in git${reason === "" ? "" : ` (${reason})`}.`;
  const hint = `If that has ended: git worktree unlock '${path}'`;
  return new OverseerError("conflict", "WORKTREE_LOCKED", message, hint);
}

function worktreeLeasedError(path: string): OverseerError {
  const hint = "Stop the agent first: overseer stop <agent>. `--force` does not override this.";
  return new OverseerError("conflict", "WORKTREE_LEASED", `An agent lives in ${path}.`, hint);
}

function refusal(code: string, path: string, what: string): OverseerError {
  const hint = "Land or commit it first, or remove it with --force: a recovery ref is left.";
  return new OverseerError("conflict", code, `${path} ${what}.`, hint);
}

function holdsMore(path: string, losses: readonly Loss[]): OverseerError {
  const message = `${path} holds what no ref can keep: ${describeLosses(losses)}.`;
  const hint =
    "Copy what you need out of it. Then --discard lets the rest go; what can be made again belongs into worktree.rebuildable.";
  const details = { wouldLose: losses.slice(0, MOST_TOLD) };
  return new OverseerError("conflict", "WORKTREE_HOLDS_MORE", message, hint, { details });
}

const MOST_TOLD = 1000;

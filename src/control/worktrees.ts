/** Worktrees of agents: what there is, what may go, and bringing back what was not committed. */

import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { findStrays, tenantsOf } from "#act/attempt-end/strays.ts";
import { attemptDir, removalLimits, wipLimits } from "#act/attempt-files.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { forgetSerenaProjects } from "#act/serena.ts";
import { livingDescendants } from "#domain/agents/lineage.ts";
import { strayLine } from "#domain/agents/stray.ts";
import { nearest } from "#domain/core/nearest.ts";
import { whyWorktreeStays } from "#domain/health/left-worktrees.ts";
import type { Loss } from "#domain/landing/rebuildable.ts";
import { type Attempt, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { Merge } from "#domain/model/merge.ts";
import { nodeKey } from "#domain/model/work.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { isDirty } from "#git/hidden-changes.ts";
import { anotherRepository, type KeptHere, readKept } from "#git/kept-inside.ts";
import { listRefs } from "#git/refs.ts";
import { findCommit, isMergedInto } from "#git/repository.ts";
import { countWipFiles, listWip } from "#git/wip.ts";
import { restoreWip } from "#git/wip-restore.ts";
import { RECOVERY_PREFIX, removeWorktree } from "#git/worktree-removal.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import { listLandedMerges } from "#store/merges.ts";
import { nodeById } from "#store/work.ts";
import { clipWord } from "./id-word.ts";
import { assertOneMeaning, resolveAgent } from "./names.ts";
import { isStoreLost } from "./store-lost.ts";
import type { World } from "./world.ts";

/** A worktree as every list shows it. */
export interface WorktreeRow {
  readonly agent: string;
  readonly attempt: number;
  /** `goal/node`, and what it is called. */
  readonly task: string;
  readonly taskName: string;
  readonly createdAt: number;
  /** When its last agent ended; null while one lives. */
  readonly endedAt: number | null;
  /** On the disk; null where that could not be found out. */
  readonly bytes: number | null;
}

export interface WorktreeView extends WorktreeRow {
  readonly path: string;
  readonly branch: string;
  readonly status: Attempt["status"];
  readonly dirty: boolean;
  /** Everything on its branch is in the target, or has landed from it as other commits. */
  readonly merged: boolean;
  /** Why it stayed when it was to go after its work had ended; null when that did not happen. */
  readonly kept: string | null;
  /** Why 'worktree clean' would leave it; null where it would remove it. */
  readonly stays: string | null;
}

/** The worktrees that are there, of living and ended attempts alike. */
export async function worktrees(world: World): Promise<WorktreeView[]> {
  const { attempts, all, landed } = await (await world.reader()).read({
    attempts: latestAttempts(1000),
    all: latestAttempts(10_000),
    landed: listLandedMerges(MOST_LANDED),
  });
  const { git } = world.git;
  const target = await landingBranch(world);
  const views: WorktreeView[] = [];
  for (const attempt of newestOfEach(attempts)) {
    if ((await world.files.facts(attempt.worktree)) === undefined) continue;
    const head = await findCommit(git, world.root.project, `refs/heads/${attempt.branch}`);
    const merged =
      head === undefined ||
      head === attempt.base ||
      listLandedCommits(landed).includes(head) ||
      (await isMergedInto(git, world.root.project, head, target));
    const dirty = await isDirty(world.git, attempt.worktree);
    const kept = attempt.worktreeKept ?? null;
    const [child] = livingDescendants(new Set(shares(all, attempt).map((one) => one.attempt)), all);
    const living = shares(all, attempt).some(isLiving);
    const facts = { living, child: child ? attemptLabel(child) : null, dirty, landed: merged, target, kept };
    const { branch, status } = attempt;
    const stays = whyWorktreeStays(facts);
    views.push({
      ...(await rowOf(world, attempt)),
      path: attempt.worktree,
      branch,
      status,
      dirty,
      merged,
      kept,
      stays,
    });
  }
  return views;
}

const MOST_LANDED = 10_000;

/** What landed as other commits, by a squash: its author's own are nowhere in the target. Reverts are nobody's worktree. */
function listLandedCommits(landed: readonly Merge[]): string[] {
  return landed.flatMap(({ commit, takesBack }) => (takesBack ? [] : [commit]));
}

async function rowOf(world: World, attempt: Attempt): Promise<WorktreeRow> {
  const { agent, attempt: number, goalId, workNodeId, createdAt, endedAt, worktree } = attempt;
  const { node } = await (await world.reader()).read({ node: nodeById(goalId, workNodeId) });
  const about = { agent, attempt: number, task: nodeKey(goalId, workNodeId), taskName: node?.name ?? "" };
  return { ...about, createdAt, endedAt: endedAt ?? null, bytes: await measureDirectory(world, worktree) };
}

/** As `du` counts it: what is removed with it. */
async function measureDirectory(world: World, path: string): Promise<number | null> {
  const { code, stdout } = await world.exec.run(["du", "-sk", "--", path], { timeoutMs: 20_000 });
  const blocks = /^(\d+)/.exec(stdout)?.[1];
  return code === 0 && blocks !== undefined ? Number(blocks) * 1024 : null;
}

export interface Cleaned {
  readonly removed: readonly (WorktreeRow & {
    recovery: readonly string[];
    lost: readonly Loss[];
    /** Processes that stood in it, as sentences. */
    standing: readonly string[];
  })[];
  /** What stays, and why; `wouldLose` lists what no ref can keep, where that is the reason. */
  readonly kept: readonly (WorktreeRow & { because: string; wouldLose?: unknown })[];
}

/**
 * Removes worktrees of ended attempts. What is dirty or unmerged stays unless `force`, which leaves recovery refs; what
 * no ref can keep stays unless `discard`; where
 * an agent lives, or one that it put to work, nothing is removed.
 */
export async function clean(
  world: World,
  choice: { readonly name?: string; readonly force: boolean; readonly discard?: boolean },
): Promise<Cleaned> {
  await settleLeftovers(world);
  const store = await world.writer();
  if (choice.name !== undefined) await assertOneMeaning(store, choice.name);
  const meant = choice.name === undefined ? undefined : await resolveAgent(store, choice.name);
  const {
    attempts: ofName,
    all,
    landed,
  } = await store.read({
    attempts: latestAttempts(1000, meant?.agent),
    all: latestAttempts(10_000),
    landed: listLandedMerges(MOST_LANDED),
  });
  const attempts = choice.name?.includes("#") ? ofName.filter(({ attempt }) => attempt === meant?.attempt) : ofName;
  const target = await landingBranch(world);
  const limits = removalLimits(await world.config());
  const removed: Cleaned["removed"][number][] = [];
  const kept: Cleaned["kept"][number][] = [];
  for (const attempt of newestOfEach(attempts)) {
    if ((await world.files.facts(attempt.worktree)) === undefined) continue;
    const row = await rowOf(world, attempt);
    const shared = new Set(all.filter((one) => one.worktree === attempt.worktree).map((one) => one.attempt));
    const [child] = livingDescendants(shared, all);
    if (child) {
      kept.push({ ...row, because: `${attemptLabel(child)} still works for it.` });
      continue;
    }
    // Looked at before: afterwards they stand nowhere.
    const standing = (await findStrays(world, tenantsOf(shares(all, attempt)), [])).map(strayLine);
    try {
      const outcome = await removeWorktree(world.git, {
        path: attempt.worktree,
        branch: attempt.branch,
        expectedCommonDir: world.root.gitCommonDir,
        target,
        base: attempt.base,
        landed: listLandedCommits(landed),
        isLeased: () => isLeased(world, attempt.worktree),
        force: choice.force,
        discard: choice.discard,
        ...limits,
      });
      await forgetStarts(world, attempt.worktree);
      removed.push({ ...row, recovery: outcome.recovery, lost: outcome.lost, standing });
    } catch (error) {
      if (!(error instanceof OverseerError) || error.kind !== "conflict") throw error;
      kept.push({ ...row, because: messageOf(error), ...error.details });
    }
  }
  return { removed, kept };
}

function shares(all: readonly Attempt[], attempt: Attempt): Attempt[] {
  return all.filter(({ worktree }) => worktree === attempt.worktree);
}

/** A restarted agent works where the one before it did: of those who share a worktree, the last one counts. */
function newestOfEach(newestFirst: readonly Attempt[]): Attempt[] {
  const seen = new Set<string>();
  return newestFirst.filter(({ worktree }) => !seen.has(worktree) && seen.add(worktree));
}

/** How its agents were started is of no use to anybody any more, and holds their environment; their logs stay. */
export async function forgetStarts(world: World, worktree: string): Promise<void> {
  const { attempts } = await (await world.writer()).read({ attempts: latestAttempts(1000) });
  for (const one of attempts) if (one.worktree === worktree) await world.files.remove(attemptDir(world, one.attempt));
  await forgetSerenaProjects(world);
}

/** Does anybody live there? */
export async function isLeased(world: World, worktree: string): Promise<boolean> {
  const { living } = await (await world.writer()).read({ living: livingAttempts() });
  return living.some((attempt) => attempt.worktree === worktree);
}

/** Work that is on no branch and kept under our own ref. */
export interface KeptWork {
  readonly ref: string;
  readonly commit: string;
  /** When the commit was made; ms. */
  readonly at: number;
  /** Files that were not committed, brought back by `restore`; or commits that have not landed, for `git branch`. */
  readonly holds: KeptHere["holds"];
  /** The submodule or nested repository that held it, as seen from the worktree; null where it was the worktree itself. */
  readonly of: string | null;
  /** Whose it was, and `goal/node` and what that is called; null where the ref does not say. */
  readonly agent: string | null;
  readonly task: string | null;
  readonly taskName: string | null;
  /** How many were not committed; null for commits, and where git cannot tell. */
  readonly files: number | null;
}

/** Everything that is kept: snapshots of uncommitted work, and what removed worktrees and rebased branches held. */
export async function listKeptWork(world: World): Promise<KeptWork[]> {
  const place = { cwd: world.root.project };
  const attempts = await listAuthors(world);
  const snapshots: KeptWork[] = [];
  for (const { ref, commit, at, assignment } of await listWip(world.git.git, place)) {
    // The newest comes first; a commit knows its time only by the second.
    const owners = attempts.filter(({ assignmentId }) => assignmentId === assignment);
    const owner = owners.find(({ createdAt }) => createdAt <= at + 999) ?? owners[0];
    snapshots.push({ ref, commit, at, holds: "files", of: null, ...(await tellOwner(world, owner)), files: null });
  }
  const recovered: KeptWork[] = [];
  for (const { ref, oid, at } of await listRefs(world.git.git, place.cwd, RECOVERY_PREFIX)) {
    const { holds, of } = await readKept(world.git.git, place.cwd, { ref, commit: oid });
    const owner = await tellOwner(world, undefined);
    recovered.push({ ref, commit: oid, at, holds, of: of ?? null, ...owner, files: null });
  }
  const all = [...snapshots, ...recovered];
  // Where another repository held it, the commit it differs from is not here.
  const countable = all.filter(({ holds, of }) => holds === "files" && of === null).map(({ commit }) => commit);
  const counts = await countWipFiles(world.git.git, place.cwd, countable);
  return all.map((one) => ({ ...one, files: counts.get(one.commit) ?? null }));
}

/** Nobody where there is no store any more: what is kept outlives it, and that is when it is looked for most. */
async function listAuthors(world: World): Promise<readonly Attempt[]> {
  try {
    return (await (await world.reader()).read({ attempts: latestAttempts(10_000) })).attempts;
  } catch (error) {
    if (isStoreLost(error)) return [];
    throw error;
  }
}

async function tellOwner(
  world: World,
  owner: Attempt | undefined,
): Promise<Pick<KeptWork, "agent" | "task" | "taskName">> {
  if (!owner) return { agent: null, task: null, taskName: null };
  const { agent, goalId, workNodeId } = owner;
  const { node } = await (await world.reader()).read({ node: nodeById(goalId, workNodeId) });
  return { agent, task: nodeKey(goalId, workNodeId), taskName: node?.name ?? null };
}

/**
 * Brings a snapshot back into a directory of the repository, by default the worktree it came from; what a repository
 * inside of that held, into one with the same history.
 */
export async function restoreSnapshot(world: World, ref: string, into: string | undefined, force: boolean) {
  await assertFilesOf(world, ref, into);
  const target = into ?? (await placeOf(world, ref));
  const limits = wipLimits(await world.config());
  return restoreWip(world.git, { ref, into: target, expectedCommonDir: world.root.gitCommonDir, force, limits });
}

/** What a submodule or nested repository held is not restored, or only by saying into which repository. */
async function assertFilesOf(world: World, ref: string, into: string | undefined): Promise<void> {
  const { git } = world.git;
  const home = world.root.gitCommonDir;
  const commit = await findCommit(git, home, ref);
  if (commit === undefined) throw await unknownRef(world, ref);
  const { holds, of } = await readKept(git, home, { ref, commit });
  if (of === undefined || (holds !== "commits" && into !== undefined)) return;
  const held = `${ref} holds ${holds} of ${of}, a nested repository in a worktree that is gone`;
  throw await anotherRepository(world.git, { home, ref, of, files: holds !== "commits" }, `${held}.`);
}

async function unknownRef(world: World, ref: string): Promise<OverseerError> {
  const like = nearest(
    ref,
    (await listKeptWork(world)).map((one) => one.ref),
  );
  const hint = `${like === undefined ? "" : `Did you mean ${like}? `}'overseer worktree restore' lists all kept work.`;
  return new OverseerError("not-found", "SNAPSHOT_UNKNOWN", `Nothing is kept under ${clipWord(ref)}.`, hint);
}

async function placeOf(world: World, ref: string): Promise<string> {
  const { attempts } = await (await world.reader()).read({ attempts: latestAttempts(1000) });
  const owner = attempts.find((attempt) => ref.includes(attempt.assignmentId));
  if (owner && (await world.files.facts(owner.worktree)) !== undefined) return owner.worktree;
  throw new OverseerError(
    "conflict",
    "WORKTREE_GONE",
    "The worktree this snapshot came from is gone.",
    "Say where to restore it: --into <a worktree of this repository>.",
  );
}

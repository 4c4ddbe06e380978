/** Worktrees of agents: what there is, what may go, and bringing back what was not committed. */

import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { findStrays, tenantsOf } from "#act/attempt-end/strays.ts";
import { attemptDir, removalLimits, wipLimits } from "#act/attempt-files.ts";
import { landingBranch } from "#act/landing/target-branch.ts";
import { livingDescendants } from "#domain/agents/lineage.ts";
import { strayLine } from "#domain/agents/stray.ts";
import type { Loss } from "#domain/landing/rebuildable.ts";
import { type Attempt, attemptLabel } from "#domain/model/attempt.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { isDirty } from "#git/hidden-changes.ts";
import { anotherRepository, type KeptHere, readKept } from "#git/kept-inside.ts";
import { listRefs } from "#git/refs.ts";
import { findCommit, isMergedInto } from "#git/repository.ts";
import { listWip } from "#git/wip.ts";
import { restoreWip } from "#git/wip-restore.ts";
import { RECOVERY_PREFIX, removeWorktree } from "#git/worktree-removal.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import type { World } from "./world.ts";

export interface WorktreeView {
  readonly agent: string;
  readonly attempt: number;
  readonly path: string;
  readonly branch: string;
  readonly status: Attempt["status"];
  readonly dirty: boolean;
  /** Everything on its branch is in the target. */
  readonly merged: boolean;
  /** Why it stayed when it was to go after its work had ended; null when that did not happen. */
  readonly kept: string | null;
}

/** The worktrees that are there, of living and ended attempts alike. */
export async function worktrees(world: World): Promise<WorktreeView[]> {
  const { attempts } = await (await world.reader()).read({ attempts: latestAttempts(1000) });
  const { git } = world.git;
  const target = await landingBranch(world);
  const views: WorktreeView[] = [];
  for (const attempt of newestOfEach(attempts)) {
    if ((await world.files.facts(attempt.worktree)) === undefined) continue;
    const head = await findCommit(git, world.root.project, `refs/heads/${attempt.branch}`);
    views.push({
      agent: attempt.agent,
      attempt: attempt.attempt,
      path: attempt.worktree,
      branch: attempt.branch,
      status: attempt.status,
      dirty: await isDirty(world.git, attempt.worktree),
      merged:
        head === undefined || head === attempt.base || (await isMergedInto(git, world.root.project, head, target)),
      kept: attempt.worktreeKept ?? null,
    });
  }
  return views;
}

export interface Cleaned {
  readonly removed: readonly {
    agent: string;
    attempt: number;
    recovery: readonly string[];
    lost: readonly Loss[];
    /** Processes that stood in it, as sentences. */
    standing: readonly string[];
  }[];
  /** What stays, and why; `wouldLose` lists what no ref can keep, where that is the reason. */
  readonly kept: readonly { agent: string; attempt: number; because: string; wouldLose?: unknown }[];
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
  const { attempts, all } = await store.read({
    attempts: latestAttempts(1000, choice.name),
    all: latestAttempts(10_000),
  });
  if (choice.name !== undefined && attempts.length === 0) {
    throw new OverseerError(
      "not-found",
      "AGENT_UNKNOWN",
      `There is no agent called ${choice.name.slice(0, 40)}.`,
      "'overseer worktree list' shows what there is.",
    );
  }
  const target = await landingBranch(world);
  const limits = removalLimits(await world.config());
  const removed: Cleaned["removed"][number][] = [];
  const kept: Cleaned["kept"][number][] = [];
  for (const attempt of newestOfEach(attempts)) {
    const { agent, attempt: number } = attempt;
    if ((await world.files.facts(attempt.worktree)) === undefined) continue;
    const shared = new Set(all.filter((one) => one.worktree === attempt.worktree).map((one) => one.attempt));
    const [child] = livingDescendants(shared, all);
    if (child) {
      kept.push({ agent, attempt: number, because: `${attemptLabel(child)} still works for it.` });
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
        isLeased: () => isLeased(world, attempt.worktree),
        force: choice.force,
        discard: choice.discard,
        ...limits,
      });
      await forgetStarts(world, attempt.worktree);
      removed.push({ agent, attempt: number, recovery: outcome.recovery, lost: outcome.lost, standing });
    } catch (error) {
      if (!(error instanceof OverseerError) || error.kind !== "conflict") throw error;
      kept.push({ agent, attempt: number, because: messageOf(error), ...error.details });
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
}

/** Everything that is kept: snapshots of uncommitted work, and what removed worktrees and rebased branches held. */
export async function listKeptWork(world: World): Promise<KeptWork[]> {
  const place = { cwd: world.root.project };
  const snapshots = (await listWip(world.git.git, place)).map(
    ({ ref, commit, at }) => ({ ref, commit, at, holds: "files", of: null }) as const,
  );
  const recovered: KeptWork[] = [];
  for (const { ref, oid, at } of await listRefs(world.git.git, place.cwd, RECOVERY_PREFIX)) {
    const { holds, of } = await readKept(world.git.git, place.cwd, { ref, commit: oid });
    recovered.push({ ref, commit: oid, at, holds, of: of ?? null });
  }
  return [...snapshots, ...recovered];
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
  if (commit === undefined) return;
  const { holds, of } = await readKept(git, home, { ref, commit });
  if (of === undefined || (holds !== "commits" && into !== undefined)) return;
  const held = `${ref} holds ${holds} of ${of}, a nested repository in a worktree that is gone`;
  throw await anotherRepository(world.git, { home, ref, of, files: holds !== "commits" }, `${held}.`);
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

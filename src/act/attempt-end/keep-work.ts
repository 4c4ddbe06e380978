/**
 * Keeps what an agent has not committed, whatever became of its worktree (FAIL-11). Where git cannot snapshot it, somebody
 * looks why: from a worktree whose own git files are spoiled the files are kept all the same, and it is told as broken, so
 * that nobody is started in it again.
 */
import { judgeWorktree } from "#domain/health/worktree.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { recordBrokenWorktree } from "#domain/model/attempt.ts";
import { messageOf, OverseerError, orThrow } from "#errors.ts";
import type { GitTools } from "#git/git.ts";
import type { WipLimits } from "#git/wip.ts";
import { snapshotWip } from "#git/wip.ts";
import { snapshotSpoiled } from "#git/wip-stand-in.ts";
import { lookAtWorktree } from "#git/worktree-look.ts";
import { attemptByNumber } from "#store/attempts.ts";
import type { Store } from "#store/store.ts";
import type { Clock } from "#sys/clock.ts";

/** Whose work, and where it is. */
export interface WorkPlace extends Pick<Attempt, "worktree" | "branch" | "base" | "assignmentId"> {
  readonly commonDir: string;
  readonly limits: WipLimits;
}

export type BrokenWorktree = NonNullable<Attempt["brokenWorktree"]>;

export interface SavedWork {
  /** The ref that keeps it; null when there is nothing to keep, or nothing left to read. */
  readonly wip: string | null;
  readonly broken?: BrokenWorktree;
}

/** Throws what git throws where the worktree is whole, and where nobody can tell: then nothing was kept. */
export async function keepUncommitted(tools: GitTools, place: WorkPlace): Promise<SavedWork> {
  try {
    const outcome = await snapshotWip(tools, {
      worktree: place.worktree,
      assignment: place.assignmentId,
      expectedCommonDir: place.commonDir,
      limits: place.limits,
    });
    return { wip: outcome.kind === "clean" ? null : outcome.ref };
  } catch (error) {
    const broken = await findBroken(tools, place);
    if (!broken) throw error;
    return { wip: broken.wip, broken };
  }
}

/** What is broken about a worktree, with its files kept; undefined where it is whole, or nobody can tell. */
export async function findBroken(
  tools: GitTools,
  place: WorkPlace,
  withObjects = true,
): Promise<BrokenWorktree | undefined> {
  const { commonDir, branch, base } = place;
  const look = () => lookAtWorktree(tools, { path: place.worktree, commonDir, branch, base, withObjects });
  const verdict = judgeWorktree(await look());
  if (verdict.state !== "broken") return undefined;
  // Somebody may have been in the middle of something: what is broken stays so.
  await tools.clock.sleep(SURE_AFTER_MS);
  const again = judgeWorktree(await look());
  if (again.state !== "broken" || again.part !== verdict.part) return undefined;
  const { part, detail } = again;
  if (part === "directory") return { part, detail, wip: null };
  try {
    const outcome = await snapshotSpoiled(tools, { ...place, assignment: place.assignmentId });
    return { part, detail, wip: outcome.kind === "clean" ? null : outcome.ref };
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return { part, detail: `${detail}; its files could not be kept: ${messageOf(error)}`, wip: null };
  }
}

const SURE_AFTER_MS = 200;

/** Said once, before it counts: what follows from its end is decided by it. */
export async function recordBroken(
  parts: { writer(): Promise<Pick<Store, "commit">>; readonly clock: Clock },
  attempt: number,
  broken: BrokenWorktree,
): Promise<void> {
  const store = await parts.writer();
  orThrow(
    await store.commit({
      at: parts.clock.now(),
      reads: { now: attemptByNumber(attempt) },
      decide: ({ now }) => recordBrokenWorktree(now, broken),
    }),
  );
}

/**
 * When what was kept of a piece of work may go: its snapshots and the commits that were claimed for it. As long as the
 * node is open anybody may still need them; after its end they stay for as long as the configuration says. What nobody
 * knows anything about stays. Pure.
 */

import type { Attempt } from "#domain/model/attempt.ts";
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";

/** Whether a snapshot or a claimed commit of that node has been kept long enough. */
export function isKeptLongEnough(node: WorkNode | undefined, keepMs: number, now: number): boolean {
  return node !== undefined && !isOpen(node) && now - node.updatedAt >= keepMs;
}

/** A commit that a person brought is theirs again once it is in no queue. */
export function isBroughtStill(commit: string, queued: readonly Pick<Merge, "commit">[]): boolean {
  return queued.some((merge) => merge.commit === commit);
}

/**
 * The attempt in whose worktree a recovery ref was made, by the name of the ref below its prefix; undefined where that
 * cannot be told, and for what repositories inside a worktree held.
 */
export function attemptOfRecovery(name: string): { readonly attempt: number; readonly worktree: string } | undefined {
  const [, worktree, attempt] = /^([A-Za-z0-9_-]+-(\d+))-\d+$/.exec(name) ?? [];
  if (worktree === undefined || attempt === undefined || worktree.includes("-of-")) return undefined;
  return { attempt: Number(attempt), worktree };
}

/**
 * What a worktree held beside the branch that has landed from it: drafts, notes, commits that were made anew. It goes
 * with the snapshots of that work. What was never landed, whoever else finished the work, stays.
 */
export function isRecoveryOver(
  attempt: Pick<Attempt, "branch" | "goalId" | "workNodeId"> | undefined,
  node: WorkNode | undefined,
  landed: readonly Pick<Merge, "branch" | "goalId" | "workNodeId">[],
  keep: { readonly keepMs: number; readonly now: number },
): boolean {
  if (attempt === undefined || node?.status !== "done" || !isKeptLongEnough(node, keep.keepMs, keep.now)) return false;
  const { branch, goalId, workNodeId } = attempt;
  return landed.some((merge) => merge.branch === branch && merge.goalId === goalId && merge.workNodeId === workNodeId);
}

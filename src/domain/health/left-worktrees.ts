/**
 * Whether the worktree of an attempt may go by itself. Not while it lives or shares it with one that does; not where it is
 * the last one of open work, which may go on there; not where somebody has asked to keep it or it was found to hold what no
 * ref can keep. Pure.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { isLiving } from "#domain/model/attempt.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";

/** Whoever was just stopped may be looked at; and what ends the work clears away after itself. */
export const GRACE_MS = 60 * 60_000;

export function choosesToRemove(
  attempt: Attempt,
  all: readonly Attempt[],
  node: WorkNode | undefined,
  now: number,
): boolean {
  if (isLiving(attempt) || attempt.keep || attempt.worktreeKept !== undefined) return false;
  if (now - (attempt.endedAt ?? now) < GRACE_MS) return false;
  const others = all.filter((one) => one.worktree === attempt.worktree && one.attempt !== attempt.attempt);
  if (others.some((one) => isLiving(one) || one.keep || one.worktreeKept !== undefined)) return false;
  // Of those who share it the last one speaks for it.
  if (others.some((one) => one.attempt > attempt.attempt)) return false;
  if (node === undefined) return false;
  if (!isOpen(node)) return now - node.updatedAt >= GRACE_MS;
  return all.some(
    (one) =>
      one.goalId === attempt.goalId &&
      one.workNodeId === attempt.workNodeId &&
      one.attempt > attempt.attempt &&
      one.worktree !== attempt.worktree,
  );
}

/** What decides whether a person's `worktree clean` would remove it without being forced. */
export interface WorktreeFacts {
  readonly living: boolean;
  /** An agent that it put to work and that still lives. */
  readonly child: string | null;
  readonly dirty: boolean;
  /** Everything on its branch is in the target, or has landed from it as other commits. */
  readonly landed: boolean;
  readonly target: string;
  /** What of it no ref can keep, as it was found to be. */
  readonly kept: string | null;
}

/** Why it stays when it is cleaned; null where nothing is in the way. */
export function whyWorktreeStays(facts: WorktreeFacts): string | null {
  if (facts.living) return "its agent is at work";
  if (facts.child !== null) return `${facts.child} still works for it`;
  if (facts.dirty) return "it has uncommitted work";
  if (!facts.landed) return `it has commits that are not in ${facts.target}`;
  return facts.kept === null ? null : "it holds what no ref can keep";
}

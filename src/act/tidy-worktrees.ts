/**
 * Worktrees that nobody needs any more, removed by the daemon: of attempts that have ended, where the work itself has ended
 * or a later attempt has gone on elsewhere. What is not in the target is kept in recovery refs first, and a worktree that
 * holds what no ref can keep stays (reap.ts). Safe to repeat.
 */
import { reap } from "#act/landing/reap.ts";
import type { ActParts } from "#act/parts.ts";
import { choosesToRemove } from "#domain/health/left-worktrees.ts";
import { messageOf } from "#errors.ts";
import { latestAttempts } from "#store/attempts.ts";
import { nodeById } from "#store/work.ts";

/** Of a long history only these are looked at; those before them were. */
const MOST_ATTEMPTS = 10_000;
/** The rest is for the next time: others want the disk too. */
const MOST_REMOVED = 50;

export interface TidiedWorktree {
  readonly attempt: number;
  readonly worktree: string;
  /** Where its work is kept; empty where all of it is in the target. */
  readonly recovery: readonly string[];
  readonly problem?: string;
}

export async function tidyWorktrees(parts: ActParts): Promise<readonly TidiedWorktree[]> {
  const store = await parts.writer();
  const { attempts } = await store.read({ attempts: latestAttempts(MOST_ATTEMPTS) });
  const done: TidiedWorktree[] = [];
  for (const attempt of attempts) {
    if (done.length >= MOST_REMOVED) break;
    if ((await parts.files.facts(attempt.worktree)) === undefined) continue;
    const { node } = await store.read({ node: nodeById(attempt.goalId, attempt.workNodeId) });
    if (!choosesToRemove(attempt, attempts, node, parts.clock.now())) continue;
    const about = { attempt: attempt.attempt, worktree: attempt.worktree };
    try {
      const outcome = await reap(parts, attempt.attempt);
      if (outcome.kind === "reaped") done.push({ ...about, recovery: outcome.recovery });
    } catch (error) {
      done.push({ ...about, recovery: [], problem: messageOf(error) });
    }
  }
  return done;
}

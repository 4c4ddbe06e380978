/**
 * One landing at a time. Moving a branch that is checked out is two steps for git, the files and then the branch, and
 * two that move it at once leave one's files in the other's checkout. So the last step of a landing is done under a lock
 * of the repository, whether the daemon lands or a person; everything before it may continue side by side.
 */

import type { ActParts } from "#act/parts.ts";
import { gitAtWorkIn } from "#act/sling/git-at-work.ts";
import { OverseerError } from "#errors.ts";
import { type GitsAtWork, isMoveNoted, settleNotedMoves } from "#git/move-notes.ts";
import { inTurn } from "#sys/turn.ts";

/** Others move a branch in a moment; whoever holds it longer hangs, and the landing is tried again later. */
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 50;

type LandingParts = Pick<ActParts, "root" | "clock" | "files" | "processes" | "takeLock">;

/** A checkout that somebody was stopped half-way in moving is put right before anybody looks whether it is clean. */
export async function settleUnfinishedMove(parts: LandingParts & Pick<ActParts, "git">): Promise<void> {
  const repository = parts.root.gitCommonDir;
  if (!(await isMoveNoted(parts.git, repository))) return;
  await inLandingTurn(parts, () => settleNotedMoves(parts.git, repository, gitsAtWork(parts)));
}

/**
 * The same for whoever comes by regularly, so that nobody's checkout stays half-way until the next landing. While
 * somebody lands, there is nothing to put right. True when there was.
 */
export async function settleLeftMove(parts: LandingParts & Pick<ActParts, "git">): Promise<boolean> {
  const repository = parts.root.gitCommonDir;
  if (!(await isMoveNoted(parts.git, repository))) return false;
  const lock = parts.takeLock(lockOf(parts));
  if (!lock) return false;
  try {
    await settleNotedMoves(parts.git, repository, gitsAtWork(parts));
    return true;
  } finally {
    lock.release();
  }
}

/** Whether there is one to put right; not while somebody lands. Changes nothing. */
export async function isMoveLeft(parts: LandingParts & Pick<ActParts, "git">): Promise<boolean> {
  if (!(await isMoveNoted(parts.git, parts.root.gitCommonDir))) return false;
  if ((await parts.files.facts(lockOf(parts))) === undefined) return true;
  const lock = parts.takeLock(lockOf(parts));
  lock?.release();
  return lock !== undefined;
}

function gitsAtWork(parts: LandingParts): GitsAtWork {
  return {
    isNamed: (word) => parts.processes.list().some(({ command, zombie }) => !zombie && command.includes(word)),
    isIn: async (places) => (await gitAtWorkIn(parts, places)) !== undefined,
  };
}

function lockOf({ root }: Pick<LandingParts, "root">): string {
  return `${root.state}/run/landing.db`;
}

/** Waiters of this process wait in line first: they would block each other in the lock itself. */
export function inLandingTurn<T>(parts: LandingParts, work: () => Promise<T>): Promise<T> {
  return inTurn(parts.processes, `land ${parts.root.state}`, () => withLandingLock(parts, work));
}

async function withLandingLock<T>(parts: LandingParts, work: () => Promise<T>): Promise<T> {
  const { root, clock, files } = parts;
  const path = lockOf(parts);
  await files.makeDir(`${root.state}/run`, { mode: 0o700 });
  const until = clock.monotonic() + PATIENCE_MS;
  let lock = parts.takeLock(path);
  while (!lock) {
    if (clock.monotonic() > until) {
      const message = "Another landing of this repository does not finish.";
      throw new OverseerError(
        "conflict",
        "LANDING_BUSY",
        message,
        "Look for a git process that hangs; the landing is retried.",
      );
    }
    await clock.sleep(LOOK_AGAIN_MS);
    lock = parts.takeLock(path);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/**
 * Git's lock files that outlived their git. Whoever is killed in the middle of a commit leaves `index.lock` behind, and
 * every later commit there fails until somebody removes it. One is stale when no git works where it lies: a commit whose
 * message is being written holds its lock for as long as that takes, without having the file open.
 */
import { join } from "node:path";
import type { ActParts } from "#act/parts.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { systemCode } from "#errors.ts";
import { proveWorktree } from "#git/worktree-proof.ts";

type LockParts = Pick<ActParts, "files" | "processes">;

/** The first git that works in or below one of these directories; one of which nothing is known may be there. */
export async function gitAtWorkIn(parts: LockParts, roots: readonly string[]): Promise<number | undefined> {
  for (const { pid, command, zombie } of parts.processes.list()) {
    if (zombie || !/^(?:\S*\/)?git(?:\s|$)/.test(command)) continue;
    const place = await placeOfProcess(parts, pid);
    const here = roots.some((root) => place === root || place?.startsWith(`${root}/`) || command.includes(root));
    if (here || place === undefined) return pid;
  }
  return undefined;
}

const PATIENCE_MS = 2_000;
const LOOK_EVERY_MS = 100;

/**
 * Before somebody continues in a worktree whose agent was killed: locks of its index, its HEAD and its branch that nobody
 * holds are removed (FAIL-15). One that is held is waited for, for a while. Says what was done.
 */
export async function clearLocks(
  parts: LockParts & Pick<ActParts, "root" | "clock" | "git">,
  { worktree, branch }: Pick<Attempt, "worktree" | "branch">,
): Promise<string[]> {
  const { path, gitDir } = await proveWorktree(parts.git, {
    path: worktree,
    expectedCommonDir: parts.root.gitCommonDir,
  });
  const locks = [
    join(gitDir, "index.lock"),
    join(gitDir, "HEAD.lock"),
    join(parts.root.gitCommonDir, "refs/heads", `${branch}.lock`),
  ];
  const done: string[] = [];
  for (const lock of locks) {
    const left = await parts.files.facts(lock);
    if (left === undefined || !(await isReleased(parts, lock, left.inode, [path, gitDir]))) continue;
    await parts.files.remove(lock);
    done.push(`Removed ${lock}, left by a git process that was killed.`);
  }
  return done;
}

/** True when that very lock is there and nobody holds it; false when it is gone, renewed, or held for too long. */
async function isReleased(
  parts: LockParts & Pick<ActParts, "clock">,
  lock: string,
  inode: number,
  roots: readonly string[],
): Promise<boolean> {
  for (const until = parts.clock.now() + PATIENCE_MS; parts.clock.now() < until; ) {
    const held = (await gitAtWorkIn(parts, roots)) !== undefined;
    if ((await parts.files.facts(lock))?.inode !== inode) return false;
    if (!held) return true;
    await parts.clock.sleep(LOOK_EVERY_MS);
  }
  return false;
}

async function placeOfProcess(parts: LockParts, pid: number): Promise<string | undefined> {
  try {
    return await parts.files.realPath(`/proc/${pid}/cwd`);
  } catch (error) {
    // It has ended, is somebody else's, or this system has no such file.
    if (systemCode(error) === undefined) throw error;
    return parts.processes.identify(pid) === undefined ? "" : parts.processes.variable(pid, "PWD");
  }
}

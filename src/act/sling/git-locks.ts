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

/** Git holds these for moments; an editor with a commit message, for as long as somebody writes. */
const STALE_AFTER_MS = 10 * 60_000;
const SHARED_LOCKS = ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock"];

/**
 * FAIL-15: locks of the repository itself that outlived their git, and in the way of every landing. Proven stale: older than
 * ten minutes, no git at work there, and no process has it open. Where that cannot be seen, they stay. Answers with those
 * that are gone.
 */
export async function clearStaleLocks(parts: LockParts & Pick<ActParts, "root" | "clock">): Promise<string[]> {
  const { gitCommonDir, project } = parts.root;
  const heads = (await parts.files.list(join(gitCommonDir, "refs/heads"))) ?? [];
  const refs = heads.filter((name) => name.endsWith(".lock")).map((name) => `refs/heads/${name}`);
  const cleared: string[] = [];
  for (const lock of [...SHARED_LOCKS, ...refs].map((name) => join(gitCommonDir, name))) {
    const before = await parts.files.facts(lock);
    if (before?.kind !== "file" || parts.clock.now() - before.mtimeMs < STALE_AFTER_MS) continue;
    // A landing of ours that was stopped half-way knows what to do with its own.
    if ((await parts.files.read(lock))?.startsWith("overseer ")) continue;
    if ((await gitAtWorkIn(parts, [project, gitCommonDir])) !== undefined || isOpenSomewhere(parts, lock)) continue;
    const now = await parts.files.facts(lock);
    if (now?.inode !== before.inode || now.mtimeMs !== before.mtimeMs) continue;
    await parts.files.remove(lock);
    cleared.push(lock);
  }
  return cleared;
}

/** Also where nobody can say. */
function isOpenSomewhere({ processes }: LockParts, path: string): boolean {
  const own = processes.place(processes.self().pid);
  if (own === undefined) return true;
  return processes.list().some(({ pid }) => processes.place(pid)?.files.includes(path) ?? false);
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

/**
 * Git's lock files that outlived their git. Whoever is killed in the middle of a commit leaves `index.lock` behind, and
 * every later commit there fails until somebody removes it. One is stale when no git works where it lies: a commit whose
 * message is being written holds its lock for as long as that takes, without having the file open.
 */
import { dirname, join, resolve } from "node:path";
import type { ActParts } from "#act/parts.ts";
import { areHoldersSeen } from "#domain/agents/lock-holders.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { proveWorktree } from "#git/worktree-proof.ts";
import { gitAtWorkIn } from "./git-at-work.ts";

type LockParts = Pick<ActParts, "files" | "processes">;

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

const WORKTREE_LOCKS = ["index.lock", "HEAD.lock"];
const SHARED_LOCKS = ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock"];

/**
 * FAIL-15: locks of the repository itself that outlived their git, and in the way of every landing. Proven stale: older than
 * `repo.staleLockAfter`, no git at work there, and no process has it open. Where that cannot be seen (another machine may be at work
 * on the same files, or processes outside of this container), they stay. Answers with those that are gone.
 */
export async function clearStaleLocks(
  parts: LockParts & Pick<ActParts, "root" | "clock">,
  staleAfterMs: number,
): Promise<string[]> {
  const { gitCommonDir, project } = parts.root;
  const trees = await listWorktrees(parts, gitCommonDir);
  const roots = [project, gitCommonDir, ...trees.flatMap(({ checkout }) => checkout ?? [])];
  const locks = [
    ...SHARED_LOCKS.map((name) => join(gitCommonDir, name)),
    ...(await listRefLocks(parts, join(gitCommonDir, "refs/heads"))),
    ...trees.flatMap(({ gitDir }) => WORKTREE_LOCKS.map((name) => join(gitDir, name))),
  ];
  const cleared: string[] = [];
  for (const lock of locks) {
    const before = await parts.files.facts(lock);
    if (before?.kind !== "file" || parts.clock.now() - before.mtimeMs < staleAfterMs) continue;
    // A landing of ours that was stopped half-way knows what to do with its own.
    if ((await parts.files.read(lock))?.startsWith("overseer ")) continue;
    if (!(await areAllSeen(parts, lock))) continue;
    if ((await gitAtWorkIn(parts, roots)) !== undefined || isOpenSomewhere(parts, lock)) continue;
    const now = await parts.files.facts(lock);
    if (now?.inode !== before.inode || now.mtimeMs !== before.mtimeMs) continue;
    await parts.files.remove(lock);
    cleared.push(lock);
  }
  return cleared;
}

/** A branch may be called `release/2`; no part of a name ends like a lock. */
async function listRefLocks({ files }: Pick<LockParts, "files">, directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await files.list(directory)) ?? []) {
    const path = join(directory, name);
    if (name.endsWith(".lock")) found.push(path);
    else if ((await files.facts(path))?.kind === "directory") found.push(...(await listRefLocks({ files }, path)));
  }
  return found;
}

/** Each with the place of its files, which need not be below the project, where that is known. */
async function listWorktrees(
  { files }: Pick<LockParts, "files">,
  gitCommonDir: string,
): Promise<{ readonly gitDir: string; readonly checkout: string | undefined }[]> {
  const names = (await files.list(join(gitCommonDir, "worktrees"))) ?? [];
  return Promise.all(
    names.map(async (name) => {
      const gitDir = join(gitCommonDir, "worktrees", name);
      const pointer = (await files.read(join(gitDir, "gitdir")))?.trim();
      return { gitDir, checkout: pointer ? dirname(resolve(gitDir, pointer)) : undefined };
    }),
  );
}

async function areAllSeen({ files, processes }: LockParts, lock: string): Promise<boolean> {
  // Where another user's processes are hidden, the first of all is too.
  if (processes.identify(1) === undefined) return false;
  const mounts = await files.read("/proc/self/mountinfo");
  // The kernel's own threads are in no container.
  const seesMachine = (await files.read("/proc/2/comm")) === "kthreadd\n";
  return areHoldersSeen(await files.realPath(lock), { mounts, seesMachine });
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

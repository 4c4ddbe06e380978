/**
 * Submodule bumps that have landed and whose commit only the author's worktree has: the target would point at what
 * `git submodule update` cannot fetch, once the worktree is gone for good. Such a commit gets a recovery ref in the
 * project, and our own ref in the user's own repository of that submodule, where an update then finds it. No branch,
 * no HEAD and no file of the user's moves. Submodules of submodules are not looked into. Repeatable.
 */
import { basename, join } from "node:path";
import type { LandedSubmodule } from "#domain/model/claim.ts";
import { messageOf, OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { bringOver, gitDirOf } from "./inner-repositories.ts";
import { changesBetween } from "./landing.ts";
import { refTransaction } from "./refs.ts";
import { findCommit, within } from "./repository.ts";
import { leaveRecoveryRef } from "./worktree-removal.ts";

export interface BumpWish {
  readonly repository: string;
  /** The user's checkout. */
  readonly project: string;
  readonly from: string;
  readonly to: string;
  /** The author's, if it is still there. */
  readonly worktree?: string;
}

/** Those of the landing that need it. Throws only what reading the project throws. */
export async function bringBumps(tools: GitTools, wish: BumpWish): Promise<LandedSubmodule[]> {
  if (wish.from === wish.to) return [];
  const changes = await changesBetween(tools, wish.repository, wish.from, wish.to);
  const bumps: LandedSubmodule[] = [];
  for (const { path, submodule } of changes) {
    if (submodule !== "is" && submodule !== "both") continue;
    const commit = (await tools.git.run(args.entryAt(wish.to, path), { cwd: wish.repository })).trim();
    const bump = await bringBump(tools, wish, path, commit);
    if (bump) bumps.push(bump);
  }
  return bumps;
}

async function bringBump(
  tools: GitTools,
  wish: BumpWish,
  path: string,
  commit: string,
): Promise<LandedSubmodule | undefined> {
  const known = { path, commit };
  let ref: string | null = null;
  try {
    if (!(await keepInProject(tools, wish, path, commit))) return undefined;
    ref = await leaveRecoveryRef(tools, wish.repository, `${basename(wish.worktree ?? "landed")}-of-${path}`, commit);
    return { ...known, ref, brought: await bringToUser(tools, wish, path, commit) };
  } catch (error) {
    // The work has landed, whatever becomes of this: it is told instead.
    if (!(error instanceof OverseerError)) throw error;
    return { ...known, ref, brought: false, problem: messageOf(error).split("\n", 1)[0] ?? error.code };
  }
}

/** False when it is nobody's own: a remote of the submodule has it, or nobody here does. */
async function keepInProject(tools: GitTools, wish: BumpWish, path: string, commit: string): Promise<boolean> {
  const { git } = tools;
  const inside = wish.worktree === undefined ? undefined : join(wish.worktree, path);
  if (inside !== undefined && (await tools.files.facts(join(inside, ".git"))) !== undefined) {
    const own = await git.attempt(args.isOnNoRemote(commit), within(inside));
    if (own.code === 0 && own.stdout.trim() === "") return false;
    if (own.code === 0) {
      const [objectFormat] = (await git.run(args.copyFacts(), { cwd: wish.repository })).split("\n");
      await bringOver(tools, { commonDir: wish.repository, objectFormat }, within(inside), path, [commit]);
      return true;
    }
  }
  // Its worktree may have gone before it landed; then it was kept.
  return (await findCommit(git, wish.repository, commit)) !== undefined;
}

/** False where the user has no repository of that submodule. */
async function bringToUser(tools: GitTools, wish: BumpWish, path: string, commit: string): Promise<boolean> {
  const gitDir = await usersGitDir(tools, wish, path);
  if (gitDir === undefined) return false;
  const place = { cwd: gitDir, env: { GIT_DIR: gitDir } };
  const stdin = `${commit}\n`;
  await tools.git.run(args.fetchObjects(wish.repository), { ...place, stdin, timeoutMs: 15 * 60_000 });
  const change = { kind: "set", ref: `refs/overseer/landed/${commit}`, to: commit } as const;
  await tools.git.run(args.updateRefs(), { ...place, stdin: refTransaction([change]) });
  return true;
}

async function usersGitDir(tools: GitTools, wish: BumpWish, path: string): Promise<string | undefined> {
  const checkout = join(wish.project, path);
  if ((await tools.files.facts(join(checkout, ".git"))) !== undefined) return gitDirOf(tools, checkout);
  const listed = await tools.git.attempt(args.submodulePathsAt(wish.to), { cwd: wish.repository });
  for (const entry of listed.stdout.split("\0")) {
    const [key = "", value] = entry.split("\n");
    const name = key.slice("submodule.".length, -".path".length);
    if (value !== path || name.split("/").includes("..")) continue;
    const gitDir = join(wish.repository, "modules", name);
    if ((await tools.files.facts(join(gitDir, "objects"))) !== undefined) return gitDir;
  }
  return undefined;
}

/**
 * A disposable worktree, detached at one commit, in which checks run: never the author's, whose leftovers would make a
 * broken commit look whole, and never the user's. It is kept and used again, because making one costs a checkout, but
 * everything an earlier run left in it is removed first, ignored files included; whatever looks odd about it, it is
 * thrown away and made again. Who may use it, one at a time, is the caller's to say.
 */
import { dirname, join } from "node:path";
import { OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import { bytesOnDisk } from "./disk-space.ts";
import { diskFull, type GitTools, gitFailure } from "./git.ts";
import { within } from "./repository.ts";
import { proveWorktree, resolveRealPath } from "./worktree-proof.ts";
import { forgetWorktree } from "./worktrees.ts";

export interface CheckWorktreePlan {
  /** The common dir of the repository. */
  readonly repository: string;
  readonly path: string;
  readonly commit: string;
}

export interface ReadyWorktree {
  /** With symlinks resolved. */
  readonly path: string;
}

const CHECKOUT_TIMEOUT_MS = 15 * 60_000;

/**
 * Makes it ready: at the commit, nothing else in it. The place is ours alone, so whatever a killed process left there
 * goes. Repeatable at any time. Throws `environment` GIT_FAILED, DISK_FULL, WORKTREE_BROKEN.
 */
export async function prepareCheckWorktree(tools: GitTools, plan: CheckWorktreePlan): Promise<ReadyWorktree> {
  await tools.files.makeDir(dirname(plan.path));
  try {
    return await restoreOrMake(tools, plan);
  } catch (error) {
    if (!(error instanceof OverseerError) || !MAY_BE_A_FULL_DISK.has(error.code)) throw error;
    const sizes = await tools.git.run(args.fileSizes(plan.commit), { cwd: plan.repository });
    const full = (await tools.files.freeBytes(dirname(plan.path))) < bytesOnDisk(sizes);
    if (!full && error.code !== "DISK_FULL") throw error;
    // What was written of it would only fill the disk further.
    await tools.files.remove(plan.path);
    throw diskFull(`No space left on the disk for the files of ${plan.path}.`, error);
  }
}

/** Git says so in many ways, down to a signal: a file that it has mapped and that has no room for its pages. */
const MAY_BE_A_FULL_DISK: ReadonlySet<string> = new Set(["DISK_FULL", "GIT_FAILED", "WORKTREE_BROKEN"]);

async function restoreOrMake(tools: GitTools, plan: CheckWorktreePlan): Promise<ReadyWorktree> {
  if (!(await tryRestore(tools, plan, true))) await makeAnew(tools, plan);
  const path = (await resolveRealPath(tools, plan.path)) ?? plan.path;
  const missing = await tools.git.run(args.missingFiles(), within(path));
  const [first] = missing.split("\0");
  if (first !== undefined && first !== "") {
    const message = `The worktree for checks at ${path} is broken: ${first} is missing.`;
    throw new OverseerError(
      "environment",
      "WORKTREE_BROKEN",
      message,
      "Try again; `git fsck` looks at the repository.",
    );
  }
  return { path };
}

/**
 * Between two checks on one commit: tracked files as committed, nothing new. What the set-up installed stays. False when
 * the check left nothing that could be tidied: then it is to be prepared again.
 */
export async function tidyCheckWorktree(tools: GitTools, plan: CheckWorktreePlan): Promise<boolean> {
  return tryRestore(tools, plan, false);
}

/** True when what is there was ours and is as good as new now. */
async function tryRestore(tools: GitTools, plan: CheckWorktreePlan, ignoredToo: boolean): Promise<boolean> {
  if ((await tools.files.facts(plan.path)) === undefined) return false;
  try {
    // Without this proof a place that lost its .git would be cleaned as if it were the user's own checkout.
    const proven = await proveWorktree(tools, { path: plan.path, expectedCommonDir: plan.repository });
    if (!proven.linked || proven.branchRef !== undefined) return false;
    // A submodule that a set-up filled is not cleaned by git, and may stand at another commit.
    const filled = (await tools.files.facts(join(proven.gitDir, "modules"))) !== undefined;
    if (ignoredToo && filled) return false;
    await tools.git.run(args.checkoutDetached(plan.commit), { ...within(proven.path), timeoutMs: CHECKOUT_TIMEOUT_MS });
    await tools.git.run(args.cleanWorktree(ignoredToo), within(proven.path));
    return true;
  } catch (error) {
    if (error instanceof OverseerError && error.code !== "DISK_FULL") return false;
    throw error;
  }
}

async function makeAnew(tools: GitTools, plan: CheckWorktreePlan): Promise<void> {
  const parent = (await resolveRealPath(tools, dirname(plan.path))) ?? dirname(plan.path);
  const path = join(parent, plan.path.slice(dirname(plan.path).length + 1));
  await tools.files.remove(path);
  await forgetWorktree(tools, plan.repository, path, { evenLocked: true });
  const command = args.worktreeAddDetached({ path, commit: plan.commit });
  const result = await tools.git.attempt(command, { cwd: plan.repository, timeoutMs: CHECKOUT_TIMEOUT_MS });
  if (result.code !== 0) throw gitFailure(command, plan.repository, result);
}

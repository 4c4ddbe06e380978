/**
 * Making worktrees: always fresh, from a commit, on a branch of their own. A directory or branch that exists is never
 * taken over, because a stale base or somebody else's files would look like the agent's work. Git's word that it
 * worked is checked (an empty directory in place of a checkout has cost others days), and whatever fails, nothing is
 * left behind: no directory, no entry, no branch. Removing them is worktree-removal.ts.
 */
import { basename, dirname, join } from "node:path";
import { messageOf, OverseerError, systemCode } from "#errors.ts";
import * as args from "./arguments.ts";
import { checkoutFailure } from "./disk-space.ts";
import { diskFull, type GitTools, gitFailure } from "./git.ts";
import { isDirty } from "./hidden-changes.ts";
import { changeRefs } from "./refs.ts";
import { findCommit, listWorktrees, within } from "./repository.ts";
import { type ProvenWorktree, proveWorktree, resolveRealPath } from "./worktree-proof.ts";

export interface WorktreePlan {
  /** Any directory of the repository; the common dir will do. */
  readonly repository: string;
  readonly path: string;
  /** Short name. */
  readonly branch: string;
  /** A full commit id (repository.ts resolves names). */
  readonly base: string;
}

export interface MadeWorktree {
  readonly path: string;
  readonly commonDir: string;
  readonly gitDir: string;
  /** Submodules of the project; they are not initialised, which is for `worktree.setup` to do. */
  readonly submodules: readonly string[];
}

const CHECKOUT_TIMEOUT_MS = 15 * 60_000;

/**
 * Throws `conflict` WORKTREE_EXISTS, WORKTREE_REGISTERED, BRANCH_EXISTS; `usage` BRANCH_INVALID; `not-found`
 * COMMIT_MISSING; `environment` DISK_FULL, GIT_FAILED, WORKTREE_BROKEN. After any of them nothing is left behind.
 * Called twice, the second call is refused: `verifyWorktree` tells whether the first one finished.
 */
export async function addWorktree(tools: GitTools, plan: WorktreePlan): Promise<MadeWorktree> {
  assertBranchName(plan.branch);
  const path = await freePlace(tools, plan.path);
  await claimBranch(tools, plan);
  try {
    await checkout(tools, { ...plan, path });
    const proven = await verifyWorktree(tools, { ...plan, path });
    return { ...proven, submodules: await listSubmodules(tools, path) };
  } catch (error) {
    await undoAdd(tools, { ...plan, path }, error);
    throw error;
  }
}

/**
 * The post-condition of addWorktree: registered, our repository, on the branch, at the base, files there. Throws
 * `environment` WORKTREE_BROKEN with the reason, or what proveWorktree throws. Reads only.
 */
export async function verifyWorktree(
  tools: GitTools,
  plan: Omit<WorktreePlan, "repository">,
): Promise<Pick<ProvenWorktree, "path" | "commonDir" | "gitDir">> {
  const proven = await proveWorktree(tools, { path: plan.path });
  if (!proven.linked) throw worktreeBrokenError(plan.path, "it is a repository of its own");
  if (proven.branchRef !== `refs/heads/${plan.branch}`)
    throw worktreeBrokenError(plan.path, `it is on ${proven.branchRef}`);
  if (proven.head !== plan.base) throw worktreeBrokenError(plan.path, `it is at ${proven.head}, not at ${plan.base}`);
  const missing = await tools.git.run(args.missingFiles(), within(proven.path));
  const [first] = missing.split("\0");
  if (first !== undefined && first !== "") throw worktreeBrokenError(plan.path, `${first} is missing`);
  const { path, commonDir, gitDir } = proven;
  return { path, commonDir, gitDir };
}

/** The rules of git-check-ref-format that our own branch can meet, without asking a process. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name.startsWith("-") || name.endsWith(".") || name === "HEAD") return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git forbids exactly these.
  if (/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}

export function assertBranchName(name: string): void {
  if (isBranchName(name)) return;
  const hint = "Use letters, digits, `-`, `_` and `/`; `git check-ref-format --branch <name>` tells.";
  throw new OverseerError("usage", "BRANCH_INVALID", `"${name}" cannot be the name of a branch.`, hint);
}

/** The path with its parent made and resolved, as git will record it. */
async function freePlace(tools: GitTools, wanted: string): Promise<string> {
  const parent = dirname(wanted);
  try {
    await tools.files.makeDir(parent);
  } catch (error) {
    if (systemCode(error) === "ENOSPC") throw diskFull(`No space left on the disk for ${wanted}.`, error);
    throw error;
  }
  const path = join((await resolveRealPath(tools, parent)) ?? parent, basename(wanted));
  if ((await tools.files.facts(path)) === undefined) return path;
  const hint = "Remove or rename it; `overseer worktree list` shows whether an agent works there.";
  throw new OverseerError("conflict", "WORKTREE_EXISTS", `${path} exists already.`, hint);
}

/** First of all, and by compare-and-set: of two that want the same branch, one gets it. */
async function claimBranch(tools: GitTools, plan: WorktreePlan): Promise<void> {
  const ref = `refs/heads/${plan.branch}`;
  let claimed: boolean;
  try {
    claimed = await changeRefs(tools.git, plan.repository, [{ kind: "create", ref, to: plan.base }]);
  } catch (error) {
    if (!/nonexistent object|not a valid|invalid new|non-commit object/.test(messageOf(error))) throw error;
    const hint = "Name a commit of this repository as the base.";
    throw new OverseerError("not-found", "COMMIT_MISSING", `There is no commit ${plan.base}.`, hint, { cause: error });
  }
  if (claimed) return;
  const hint = `Choose another name, or see what is on it: git log ${plan.branch}`;
  throw new OverseerError("conflict", "BRANCH_EXISTS", `The branch ${plan.branch} exists already.`, hint);
}

async function checkout(tools: GitTools, plan: WorktreePlan): Promise<void> {
  const result = await tools.git.attempt(args.worktreeAdd(plan), {
    cwd: plan.repository,
    timeoutMs: CHECKOUT_TIMEOUT_MS,
  });
  if (result.code === 0) return;
  if (/already registered/.test(result.stderr)) {
    const hint = "If its directory was deleted by hand, `git worktree prune` forgets it; then try again.";
    throw new OverseerError("conflict", "WORKTREE_REGISTERED", `Git still lists a worktree at ${plan.path}.`, hint);
  }
  const place = { repository: plan.repository, directory: dirname(plan.path), tree: plan.base };
  throw await checkoutFailure(tools, place, { args: args.worktreeAdd(plan), result });
}

/** Takes back what addWorktree did so far. A failure here is added to the first one, which is what matters. */
async function undoAdd(tools: GitTools, plan: WorktreePlan, first: unknown): Promise<void> {
  const registeredByOthers = first instanceof OverseerError && first.code === "WORKTREE_REGISTERED";
  try {
    await tools.files.remove(plan.path);
    // Still locked by git when it was ended in the middle, by a deadline for example.
    if (!registeredByOthers) await forgetWorktree(tools, plan.repository, plan.path, { evenLocked: true });
    await changeRefs(tools.git, plan.repository, [
      { kind: "delete", ref: `refs/heads/${plan.branch}`, from: plan.base },
    ]);
  } catch (second) {
    const message = `${messageOf(first)} Taking it back failed too: ${messageOf(second)}`;
    const hint = `Remove by hand: ${plan.path}, and the branch ${plan.branch}.`;
    throw new OverseerError("environment", "WORKTREE_LEFT_BEHIND", message, hint, { cause: first });
  }
}

/**
 * Takes back an addWorktree that was cut short by a crash, whatever it got to; for a journal that says "begun" and not
 * "done". Only what nobody can have worked in yet: throws `conflict` WORKTREE_IN_USE when the branch has moved on from
 * the base, a finished checkout has changes, or the directory is no worktree of this repository. `evenChanged`: the
 * changes are known to be nobody's work (a set-up command made them). Repeatable; nothing there is fine.
 */
export async function abandonWorktree(
  tools: GitTools,
  plan: WorktreePlan & { readonly evenChanged?: boolean },
): Promise<void> {
  const path = join((await resolveRealPath(tools, dirname(plan.path))) ?? dirname(plan.path), basename(plan.path));
  const tip = await findCommit(tools.git, plan.repository, `refs/heads/${plan.branch}`);
  if (tip !== undefined && tip !== plan.base) throw inUse(path, `${plan.branch} has commits`);
  const entry = (await listWorktrees(tools.git, plan.repository)).find((each) => each.path === path);
  const unfinished = entry?.locked === INITIALIZING;
  if ((await tools.files.facts(path)) !== undefined) {
    const isEmpty = (await tools.files.list(path))?.length === 0;
    if (entry === undefined && !isEmpty) throw inUse(path, "git does not know it");
    const finished = entry !== undefined && !unfinished && !plan.evenChanged;
    if (finished && (await isDirty(tools, path, { thorough: true }))) throw inUse(path, "it has changes");
  }
  await tools.files.remove(path);
  await forgetWorktree(tools, plan.repository, path, { evenLocked: unfinished });
  const ref = `refs/heads/${plan.branch}`;
  await changeRefs(tools.git, plan.repository, [{ kind: "delete", ref, from: plan.base }]);
}

/** The reason git writes while it makes a worktree, and takes away when it is done. */
const INITIALIZING = "initializing";

/**
 * Removes the administrative entry of a worktree whose directory is gone, and no other entry. False when there was
 * none: already forgotten is fine.
 */
export async function forgetWorktree(
  tools: GitTools,
  repository: string,
  path: string,
  options = { evenLocked: false },
): Promise<boolean> {
  const command = options.evenLocked ? args.worktreeForgetLocked(path) : args.worktreeForget(path);
  const result = await tools.git.attempt(command, { cwd: repository });
  if (result.code === 0) return true;
  if (/is not a working tree/.test(result.stderr)) return false;
  throw gitFailure(command, repository, result);
}

async function listSubmodules(tools: GitTools, path: string): Promise<string[]> {
  if ((await tools.files.facts(join(path, ".gitmodules"))) === undefined) return [];
  const result = await tools.git.attempt(args.submodulePaths(), within(path));
  return result.stdout.split("\0").flatMap((record) => {
    const newline = record.indexOf("\n");
    return newline < 0 ? [] : [record.slice(newline + 1)];
  });
}

function inUse(path: string, because: string): OverseerError {
  const hint = "Look into it, then remove it with `overseer worktree clean <name>`.";
  return new OverseerError("conflict", "WORKTREE_IN_USE", `${path} is not merely half made: ${because}.`, hint);
}

function worktreeBrokenError(path: string, because: string): OverseerError {
  const hint = "Try again; if it stays, `git fsck` and `overseer doctor` look at the repository.";
  return new OverseerError("environment", "WORKTREE_BROKEN", `The new worktree ${path} is broken: ${because}.`, hint);
}

/**
 * What really lies behind a report of done: which commit, and whether it holds a change at all. Git is asked, not the
 * agent: reports of done with nothing committed, or with a commit of somebody else's branch, are the commonest lies.
 * Reads only.
 */

import { landingTip } from "#act/landing/target-branch.ts";
import type { ActParts } from "#act/parts.ts";
import type { ClaimedWork } from "#domain/landing/report-done.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";
import { changesBetween } from "#git/landing.ts";
import * as landingArgs from "#git/landing-arguments.ts";
import { branchTip, findCommit, isMergedInto, readStatus } from "#git/repository.ts";
import * as snapshotArgs from "#git/snapshot-arguments.ts";
import { proveWorktree } from "#git/worktree-proof.ts";
import type { Store } from "#store/store.ts";

/** A runner has these too, and not much more. */
export interface WorkParts extends Pick<ActParts, "root" | "git" | "config"> {
  writer(): Promise<Pick<Store, "read">>;
}

export interface ReportedCommits {
  /** Commits as the agent named them; none is fine, its branch speaks for itself. */
  readonly named: readonly string[];
  /** Its role changes nothing. */
  readonly readOnly: boolean;
}

/** Throws what git throws when the repository cannot be read; may be called at any time. */
export async function readClaimedWork(parts: WorkParts, attempt: Attempt, said: ReportedCommits): Promise<ClaimedWork> {
  const repository = parts.root.gitCommonDir;
  const { branch } = attempt;
  const tip = await branchTip(parts.git, repository, branch);
  const stranger = await notOn(parts, tip, said.named);
  if (stranger !== undefined) return { kind: "elsewhere", named: stranger, branch };
  // Whatever a reader may have committed all the same is not landed; it stays reachable when its worktree goes.
  if (said.readOnly) return { kind: "reading", base: attempt.base };
  const changed = tip === undefined ? undefined : await changeOf(parts, tip);
  if (changed !== undefined && tip !== undefined) {
    const found = await parts.git.git.attempt(snapshotArgs.resolveTree(tip), { cwd: repository });
    const tree = found.code === 0 ? found.stdout.trim() : "";
    return { kind: "commit", commit: tip, base: changed.base, branch, ...(tree === "" ? {} : { tree }) };
  }
  const files = await listUncommitted(parts, attempt);
  return files.length > 0 ? { kind: "uncommitted", files, branch } : { kind: "nothing", base: attempt.base };
}

/** The first commit named that is not on the branch. */
async function notOn(parts: WorkParts, tip: string | undefined, named: readonly string[]): Promise<string | undefined> {
  const { git } = parts.git;
  const repository = parts.root.gitCommonDir;
  for (const name of named) {
    const commit = await findCommit(git, repository, name);
    if (commit === undefined || tip === undefined || !(await isMergedInto(git, repository, commit, tip))) return name;
  }
  return undefined;
}

/**
 * What the branch has that its target has not, measured from where the two parted. Not from where this attempt began:
 * one that took over finished work has added nothing itself, and there is still something to land.
 */
async function changeOf(parts: WorkParts, tip: string): Promise<{ readonly base: string } | undefined> {
  const repository = parts.root.gitCommonDir;
  const { git, root } = parts;
  const target = await landingTip({ git, root, config: () => parts.config(), reader: () => parts.writer() });
  const found = await parts.git.git.attempt(landingArgs.mergeBase(target.commit, tip), { cwd: repository });
  const base = found.stdout.trim();
  // No common history at all: there is a change, and landing will say what is wrong with it.
  if (found.code !== 0 || base === "") return { base: target.commit };
  if (base === tip || (await changesBetween(parts.git, repository, base, tip)).length === 0) return undefined;
  return { base };
}

async function listUncommitted(parts: WorkParts, attempt: Attempt): Promise<string[]> {
  try {
    // A worktree that lost its .git would be taken for the user's checkout, and its changes for the agent's.
    await proveWorktree(parts.git, { path: attempt.worktree, expectedCommonDir: parts.root.gitCommonDir });
  } catch (error) {
    if (error instanceof OverseerError && (error.code === "WORKTREE_MISSING" || error.code === "NOT_THE_WORKTREE")) {
      return [];
    }
    throw error;
  }
  return (await readStatus(parts.git.git, attempt.worktree)).map(({ path }) => path);
}

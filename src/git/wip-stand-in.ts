/**
 * Snapshots of a worktree whose own git files are spoiled: the files themselves are read through a git directory that stands
 * in for the lost one. It borrows the repository's objects, refs and settings, begins at a commit that is whole, and is
 * thrown away. What was staged is lost with the index; what lies in the files is kept byte for byte, as any other snapshot.
 */
import { dirname, join } from "node:path";
import { OverseerError } from "#errors.ts";
import type { GitTools } from "./git.ts";
import { withScratch } from "./raw-view.ts";
import { findCommit, repositoryAt } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { keepCapture, type WipOutcome, type WipRequest } from "./wip.ts";
import { captureProven } from "./wip-capture.ts";
import { isReadable } from "./worktree-look.ts";
import { resolveRealPath } from "./worktree-proof.ts";

export interface StandInRequest extends Pick<WipRequest, "worktree" | "assignment" | "limits"> {
  readonly commonDir: string;
  /** Short name; what it holds is taken for committed, as far as it is whole. */
  readonly branch: string;
  /** Where the branch began, for when it is not. */
  readonly base: string;
}

/** Throws WORKTREE_MISSING where there is nothing to read, and what git throws; then no ref was written. Changes nothing in the worktree. */
export async function snapshotSpoiled(tools: GitTools, request: StandInRequest): Promise<WipOutcome> {
  const { worktree, commonDir } = request;
  const path = await resolveRealPath(tools, worktree);
  if (path === undefined) {
    const hint = "'overseer worktree restore' lists what was kept before.";
    throw new OverseerError("not-found", "WORKTREE_MISSING", `There is no worktree at ${worktree}.`, hint);
  }
  const { objectFormat } = await repositoryAt(tools.git, commonDir);
  const head = await findWholeCommit(tools, request);
  return withScratch(tools, commonDir, async (scratch) => {
    const gitDir = join(scratch, "stand-in.git");
    await tools.files.makeDir(gitDir);
    await tools.files.write(join(gitDir, "HEAD"), head === undefined ? "ref: refs/heads/none\n" : `${head}\n`);
    await tools.files.write(join(gitDir, "commondir"), `${commonDir}\n`);
    const env = { GIT_DIR: gitDir, GIT_WORK_TREE: path, GIT_CEILING_DIRECTORIES: dirname(path) };
    const here = { cwd: path, env };
    if (head !== undefined) await tools.git.run(snapshotArgs.indexFromTree(head), here);
    const proven = {
      path,
      commonDir,
      gitDir,
      linked: true,
      objectFormat,
      head,
      branchRef: `refs/heads/${request.branch}`,
    };
    const capture = await captureProven(tools, proven, here, request.limits?.maxFileBytes);
    return (await keepCapture(tools, request, capture)).outcome;
  });
}

/** The branch as it stands, else where it began; undefined where neither can be read. */
async function findWholeCommit(tools: GitTools, request: StandInRequest): Promise<string | undefined> {
  const { commonDir, branch } = request;
  const base = await findCommit(tools.git, commonDir, request.base);
  const tip = await findCommit(tools.git, commonDir, `refs/heads/${branch}`);
  for (const commit of [tip, base]) {
    if (commit !== undefined && (await isReadable(tools, commonDir, commit, base))) return commit;
  }
  return undefined;
}

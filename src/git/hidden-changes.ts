/**
 * Whether anything in a worktree is uncommitted, also what `git status` was told not to see: files marked
 * assume-unchanged or skip-worktree, and, where every file is read again, whatever else an index can be made to believe.
 * What git itself changes at a checkout (line endings, filters) is no change. Writes nothing but scratch files.
 */
import { join } from "node:path";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { splitLines } from "./quoted-path.ts";
import { withScratch } from "./raw-view.ts";
import { findCommit, isStatusClean, repositoryAt, within } from "./repository.ts";

/**
 * `thorough` reads every file, for whoever is about to remove them; without it that is done only where something is
 * marked.
 */
export async function isDirty(tools: GitTools, path: string, options = { thorough: false }): Promise<boolean> {
  const { git } = tools;
  if (!(await isStatusClean(git, path))) return true;
  if (!options.thorough && !(await isAnyMarked(tools, path))) return false;
  const head = await findCommit(git, path, "HEAD");
  if (head === undefined) return false;
  const { commonDir } = await repositoryAt(git, path);
  // The status was clean, so what is staged is what is committed.
  return withScratch(tools, commonDir, async (scratch) => {
    const place = within(path);
    const here = { ...place, env: { ...place.env, GIT_INDEX_FILE: join(scratch, "looked.index") } };
    await git.run(args.indexFromCommit(head), here);
    await git.attempt(args.lookAtEveryFile(), here);
    return (await git.run(args.listChangedFiles(), here)) !== "";
  });
}

async function isAnyMarked({ git }: GitTools, path: string): Promise<boolean> {
  return splitLines(await git.run(args.listFileFlags(), within(path))).some((line) => !line.startsWith("H "));
}

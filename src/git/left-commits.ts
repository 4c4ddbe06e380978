/**
 * Commits that nothing will name once a worktree is gone: its HEAD and its branch have left them (a reset, an amend, a
 * commit on no branch, a branch that was deleted), or only the worktree's own refs and unfinished commands hold them.
 * The log that tells of them goes with the worktree. Reads only, but for the commit that ties very many together.
 */
import { join } from "node:path";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { tieTogether, tipsOf } from "./inner-repositories.ts";
import { splitLines } from "./quoted-path.ts";
import { findCommits } from "./repository.ts";

export interface LeftLook {
  readonly commonDir: string;
  /** The worktree's own git directory; undefined when git has forgotten it. */
  readonly gitDir: string | undefined;
  /** Short; it goes with the worktree. */
  readonly branch: string;
  /** What these reach is kept anyway. */
  readonly kept: readonly string[];
  /** Refs below this stay. */
  readonly keptPrefix: string;
}

/** Where git and its commands keep a commit for a while, beside the log of HEAD. */
const HELD = ["ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_AUTOSTASH"];
const HELD_IN_FILES = ["rebase-merge/autostash", "rebase-apply/autostash", "rebase-merge/orig-head"];

/** The ends of such histories, without a ref yet. */
export async function findLeftCommits(tools: GitTools, look: LeftLook): Promise<string[]> {
  const { git } = tools;
  const cwd = look.commonDir;
  const named = new Set(await listNamedCommits(tools, look));
  for (const commit of look.kept) named.delete(commit);
  if (named.size === 0) return [];
  const stdin = [...named, ...look.kept.map((commit) => `^${commit}`)].map((line) => `${line}\n`).join("");
  const listed = await git.run(args.commitsWithoutName(look.branch, look.keptPrefix), { cwd, stdin });
  return tieTogether(tools, cwd, tipsOf(listed), look.branch);
}

async function listNamedCommits({ git, files }: GitTools, { commonDir, gitDir, branch }: LeftLook): Promise<string[]> {
  const ofBranch = { cwd: commonDir, env: {} };
  const named = await readReflog(git, `refs/heads/${branch}`, ofBranch);
  if (gitDir === undefined || (await files.facts(gitDir)) === undefined) return named;
  const own = { cwd: gitDir, env: { GIT_DIR: gitDir } };
  named.push(...(await readReflog(git, "HEAD", own)));
  const refs = await git.attempt(args.ownRefs(), own);
  named.push(...splitLines(refs.stdout));
  const texts = await Promise.all(HELD_IN_FILES.map((name) => files.read(join(gitDir, name))));
  const held = [...HELD, ...texts.flatMap((text) => (text === undefined ? [] : [text.trim()]))];
  named.push(...(await findCommits(git, own, held)));
  return named;
}

/** A ref that is gone, or that no log is kept of, has left nothing. */
async function readReflog(
  git: GitTools["git"],
  ref: string,
  place: { cwd: string; env: Record<string, string> },
): Promise<string[]> {
  const result = await git.attempt(args.listReflogCommits(ref), place);
  return splitLines(result.stdout);
}

/**
 * What can be seen of a worktree's own git files, for domain/health/worktree.ts to judge. Reading only, at any time, beside
 * an agent that works there. Throws where git itself cannot be asked: then nothing is known.
 */
import { join } from "node:path";
import type { WorktreeLook } from "#domain/health/worktree.ts";
import { OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { findCommit, within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { isWhole } from "./whole.ts";
import { type ProvenWorktree, proveWorktree, resolveRealPath } from "./worktree-proof.ts";

export interface LookRequest {
  readonly path: string;
  readonly commonDir: string;
  /** Short name of the branch that is to be checked out there. */
  readonly branch: string;
  /** Where that branch began: what is before it is the repository's, and not looked at. */
  readonly base: string;
  /** Whether what it stands on is looked at too; its own files alone cost two processes. */
  readonly withObjects: boolean;
}

export async function lookAtWorktree(tools: GitTools, request: LookRequest): Promise<WorktreeLook> {
  const { path, commonDir } = request;
  const nothing = { gitFile: null, index: null, objects: null };
  const repository = (await tools.files.facts(join(commonDir, "HEAD"))) !== undefined;
  const directory = (await resolveRealPath(tools, path)) !== undefined;
  if (!repository || !directory) return { repository, directory, ...nothing };
  let proven: ProvenWorktree;
  try {
    proven = await proveWorktree(tools, { path, expectedCommonDir: commonDir });
  } catch (error) {
    if (error instanceof OverseerError && error.code === "WORKTREE_MISSING") {
      return { repository, directory: false, ...nothing };
    }
    if (!(error instanceof OverseerError) || error.code !== "NOT_THE_WORKTREE") throw error;
    return { repository, directory, ...nothing, gitFile: reasonOf(error) };
  }
  const [index, objects] = await Promise.all([
    sayOfIndex(tools, path),
    request.withObjects ? sayOfObjects(tools, proven, request) : null,
  ]);
  return { repository, directory, gitFile: null, index, objects };
}

/** What proveWorktree found, without the path: the sentence around it names that. */
function reasonOf({ message }: OverseerError): string {
  const [, reason] = / is not the worktree it should be: (.*)\.$/s.exec(message) ?? [];
  if (reason === undefined) return message;
  return reason === "git says: " ? "" : reason;
}

/** Reads the whole index and lists nothing. */
async function sayOfIndex(tools: GitTools, path: string): Promise<string | null> {
  const result = await tools.git.attempt(args.readIndexOnly(), within(path));
  return result.code === 0 ? null : result.stderr;
}

async function sayOfObjects(tools: GitTools, proven: ProvenWorktree, request: LookRequest): Promise<string | null> {
  const { commonDir, branch } = request;
  // Detached, or on another branch, with or without commits: that is the agent's own affair.
  if (proven.head === undefined) {
    const { stdout } = await tools.git.attempt(args.symbolicRef("HEAD"), within(proven.path));
    return stdout.trim() === `refs/heads/${branch}` ? `its branch ${branch} has no commit` : null;
  }
  const tree = await tools.git.attempt(args.listTopOf(proven.head), { cwd: commonDir });
  if (tree.code !== 0) return tree.stderr;
  const base = await findCommit(tools.git, commonDir, request.base);
  if (base === undefined) return null;
  const walked = await tools.git.attempt(snapshotArgs.needs(proven.head, base), { cwd: commonDir });
  return walked.code === 0 ? null : walked.stderr;
}

/** Whether a commit can be begun on: its files can be listed, and all that it has beyond `base` is there. */
export async function isReadable(tools: GitTools, cwd: string, commit: string, base?: string): Promise<boolean> {
  if ((await tools.git.attempt(args.listTopOf(commit), { cwd })).code !== 0) return false;
  return commit === base || isWhole(tools, cwd, commit, base);
}

/**
 * Proof that a directory is the worktree one thinks it is. Our own worktree lies inside the user's checkout, so
 * one that lost its `.git` is silently taken by git for the user's own repository; whatever is snapshotted, cleaned
 * or restored next would then hit the wrong tree. Nothing is read from or done to a worktree without this proof.
 */
import { join, resolve } from "node:path";
import { OverseerError, systemCode } from "#errors.ts";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import { within } from "./repository.ts";

export interface ProvenWorktree {
  /** With all symlinks resolved. */
  readonly path: string;
  readonly commonDir: string;
  readonly gitDir: string;
  /** False for the main checkout. */
  readonly linked: boolean;
  readonly objectFormat: "sha1" | "sha256";
  /** Undefined on a branch without commits. */
  readonly head?: string;
  /** The full ref; undefined when detached. */
  readonly branchRef?: string;
}

/**
 * Throws `not-found` WORKTREE_MISSING when nothing is there, `conflict` NOT_THE_WORKTREE when something else is.
 * Reads only; may be called at any time.
 */
export async function proveWorktree(
  tools: GitTools,
  claim: { readonly path: string; readonly expectedCommonDir?: string },
): Promise<ProvenWorktree> {
  const path = await resolveRealPath(tools, claim.path);
  if (path === undefined) throw missing(claim.path);
  if ((await tools.files.facts(join(path, ".git"))) === undefined) throw notTheWorktree(path, "it has no .git");
  const result = await tools.git.attempt(args.worktreeFacts(), within(path)).catch((error: unknown) => {
    // Somebody may take it away between two looks.
    throw error instanceof OverseerError && error.code === "CWD_MISSING" ? missing(claim.path) : error;
  });
  const [topLevel, commonDir, gitDir, objectFormat, head, branchRef] = result.stdout.split("\n");
  if (topLevel === undefined || commonDir === undefined || gitDir === undefined || gitDir === "") {
    throw notTheWorktree(path, `git says: ${result.stderr.trim()}`);
  }
  if ((await resolveRealPath(tools, topLevel)) !== path) throw notTheWorktree(path, `its top level is ${topLevel}`);
  const expected = claim.expectedCommonDir;
  if (
    expected !== undefined &&
    (await resolveRealPath(tools, expected)) !== (await resolveRealPath(tools, commonDir))
  ) {
    throw notTheWorktree(path, `it belongs to ${commonDir}, not to ${expected}`);
  }
  const linked = gitDir !== commonDir;
  if (linked) await proveRegistered(tools, path, gitDir);
  return {
    path,
    commonDir,
    gitDir,
    linked,
    objectFormat: objectFormat === "sha256" ? "sha256" : "sha1",
    head: result.code === 0 ? head : undefined,
    branchRef: branchRef?.startsWith("refs/") ? branchRef : undefined,
  };
}

/** The path with symlinks resolved; undefined when nothing is there. */
export async function resolveRealPath(tools: Pick<GitTools, "files">, path: string): Promise<string | undefined> {
  try {
    return await tools.files.realPath(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The other direction: the entry of the repository points back at this directory, not at one it was copied from. */
async function proveRegistered(tools: GitTools, path: string, gitDir: string): Promise<void> {
  const pointer = (await tools.files.read(join(gitDir, "gitdir")))?.trim();
  const pointed = pointer === undefined ? undefined : await resolveRealPath(tools, resolve(gitDir, pointer));
  if (pointed !== join(path, ".git")) throw notTheWorktree(path, `${gitDir} is registered for ${pointer ?? "nothing"}`);
}

function missing(path: string): OverseerError {
  const hint = "It may have been removed already; `overseer worktree list` shows those there are.";
  return new OverseerError("not-found", "WORKTREE_MISSING", `There is no worktree at ${path}.`, hint);
}

function notTheWorktree(path: string, because: string): OverseerError {
  const message = `${path} is not the worktree it should be: ${because}.`;
  const hint = "Nothing was touched. Look into the directory; `git worktree list` shows what git knows.";
  return new OverseerError("conflict", "NOT_THE_WORKTREE", message, hint);
}

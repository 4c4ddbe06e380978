/**
 * Brings a snapshot back into a worktree: the files byte for byte, then the index. The way there is a merge of trees
 * in a raw view (raw-view.ts) from what lies in the worktree now to what the snapshot holds, so only files that
 * differ are written, deletions happen, and git refuses before the first write where an ignored file is in the way.
 *
 * HEAD is never moved: the outcome says whether it is the commit the snapshot was taken on. What is checked out has to
 * have a commit in common with that one: laid over anything else a snapshot would replace every file there.
 */
import { join } from "node:path";
import { OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import { checkoutFailure } from "./disk-space.ts";
import type { GitTools } from "./git.ts";
import { isDirty } from "./hidden-changes.ts";
import { anotherRepository, isRelated, pathOf } from "./kept-inside.ts";
import { type QuotedPath, splitLines } from "./quoted-path.ts";
import { rawView, withScratch } from "./raw-view.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { readWip, snapshotWip, WIP_PREFIX, type WipContent, type WipLimits } from "./wip.ts";
import {
  type Capture,
  captureWorktree,
  LARGEST_KEPT_BYTES,
  parseTrackedFiles,
  type SkippedPath,
} from "./wip-capture.ts";
import { type ProvenWorktree, proveWorktree, resolveRealPath } from "./worktree-proof.ts";
import { leaveRecoveryRef } from "./worktree-removal.ts";

export interface RestoreRequest {
  /** A snapshot ref, a recovery ref of a worktree that was dirty, or the commit itself. */
  readonly ref: string;
  /** A worktree of the repository that has the ref; of what a repository inside it held, one of that history. */
  readonly into: string;
  /** The repository that has the ref; that of `into` unless told. */
  readonly expectedCommonDir?: string;
  /** Overwrites uncommitted changes in `into`, after keeping them in a snapshot of their own. */
  readonly force?: boolean;
  /** For the snapshot that `force` makes first. */
  readonly limits?: WipLimits;
}

export interface RestoreOutcome {
  /** "already": files and index are as in the snapshot, nothing was written. */
  readonly kind: "restored" | "already";
  readonly commit: string;
  /** What was checked out when it was taken; null on a branch without commits. */
  readonly head: string | null;
  /** False when `into` has another commit checked out than the snapshot was taken on. */
  readonly sameHead: boolean;
  /** What the snapshot does not hold; such files in `into` were left as they are. */
  readonly notKept: readonly SkippedPath[];
  /** Where the changes went that `force` overwrote. */
  readonly replaced?: string;
}

/**
 * Throws `not-found` WIP_MISSING or WORKTREE_MISSING, `conflict` ANOTHER_REPOSITORY, WORKTREE_DIRTY
 * (without force; of what a repository inside a worktree held, always), RESTORE_BLOCKED
 * (an ignored file is where the snapshot has one; nothing was changed), NOT_THE_WORKTREE, DISK_FULL. Safe to repeat:
 * after success it answers "already"; after an interruption the half-restored state counts as uncommitted changes.
 */
export async function restoreWip(tools: GitTools, request: RestoreRequest): Promise<RestoreOutcome> {
  // A limit that was lowered since must not hide a file that the snapshot holds: what is not looked at is left alone.
  const maxFileBytes = Math.max(request.limits?.maxFileBytes ?? 0, LARGEST_KEPT_BYTES);
  const home = request.expectedCommonDir ?? (await proveWorktree(tools, { path: request.into })).commonDir;
  const wanted = await readWip(tools.git, { cwd: home, ref: request.ref });
  if (wanted.inside !== undefined) await bringInto(tools, request, home, wanted);
  const expectedCommonDir = wanted.inside === undefined ? home : undefined;
  const now = await captureWorktree(tools, { path: request.into, expectedCommonDir, maxFileBytes });
  const { commonDir } = now.worktree;
  const outcome = {
    commit: wanted.commit,
    head: wanted.head ?? null,
    sameHead: wanted.head === now.worktree.head,
    notKept: wanted.skipped,
  };
  if (isAlready(now, wanted)) return { kind: "already", ...outcome };
  if (!(await isOfThatHistory(tools, now.worktree, wanted)))
    throw anotherRepositoryError(request, now.worktree, wanted);

  const replaced = await keepOrRefuse(tools, request, now);
  await withScratch(tools, commonDir, async (scratch) => {
    await restoreFiles(tools, scratch, now, wanted);
    await restoreIndex(tools, now, wanted);
  });
  return { kind: "restored", ...outcome, replaced };
}

/**
 * The objects, from the project into a clean repository with the same history, under a recovery ref of ours there:
 * below what was not committed there may be commits that are nowhere else.
 */
async function bringInto(tools: GitTools, request: RestoreRequest, home: string, wanted: WipContent): Promise<void> {
  const into = await proveWorktree(tools, { path: request.into });
  const of = wanted.inside === undefined ? "" : pathOf(wanted.inside);
  const refuse = (because: string) => anotherRepository(tools, { home, ref: request.ref, of, files: true }, because);
  const held = `${request.ref} holds what ${of} held, a repository of its own`;
  if ((await resolveRealPath(tools, home)) === (await resolveRealPath(tools, into.commonDir))) {
    throw await refuse(`${held}; ${into.path} is a worktree of the project around it.`);
  }
  const [format] = (await tools.git.run(args.copyFacts(), { cwd: home })).split("\n");
  if (format !== into.objectFormat) throw await refuse(`${held}, with ${format} ids; those in ${into.path} are not.`);
  if (await isDirty(tools, into.path, { thorough: true })) {
    const hint = "Commit or move them away first; --force does not override this.";
    throw new OverseerError("conflict", "WORKTREE_DIRTY", `${into.path} has uncommitted changes.`, hint);
  }
  const stdin = `${wanted.commit}\n`;
  await tools.git.run(args.fetchObjects(home), { cwd: into.commonDir, stdin, timeoutMs: 15 * 60_000 });
  if (!(await isOfThatHistory(tools, into, wanted))) {
    throw await refuse(`${held}; ${into.path} has no commit in common with it.`);
  }
  await leaveRecoveryRef(tools, into.commonDir, "restored", wanted.commit);
}

/** Where nothing is checked out, nothing is replaced. */
async function isOfThatHistory(tools: GitTools, { head, commonDir }: ProvenWorktree, wanted: WipContent) {
  if (head === undefined) return true;
  return wanted.head !== undefined && isRelated(tools.git, commonDir, wanted.head, head);
}

function anotherRepositoryError(
  { ref }: RestoreRequest,
  { path }: ProvenWorktree,
  { head }: WipContent,
): OverseerError {
  const message = `${ref} was taken on ${head ?? "a branch without commits"}; ${path} has no commit in common with it.`;
  const hint =
    head === undefined
      ? `'git show ${ref}:<file>' prints a file of it.`
      : `Make a worktree of that commit, and bring it back there: git worktree add --detach <dir> ${head}`;
  return new OverseerError("conflict", "ANOTHER_REPOSITORY", message, hint);
}

function isAlready(now: Capture, wanted: WipContent): boolean {
  return (
    now.worktreeTree === wanted.worktreeTree &&
    now.indexTree === wanted.indexTree &&
    now.intents.join("\n") === wanted.intents.join("\n")
  );
}

async function keepOrRefuse(tools: GitTools, request: RestoreRequest, now: Capture): Promise<string | undefined> {
  const { path, commonDir } = now.worktree;
  if (!(await isDirty(tools, path, { thorough: true }))) return undefined;
  if (request.force !== true) {
    const hint = "Commit them, or use --force: they are then kept in a snapshot of their own first.";
    throw new OverseerError("conflict", "WORKTREE_DIRTY", `${path} has uncommitted changes.`, hint);
  }
  const assignment = assignmentOf(request.ref) ?? "restore";
  const kept = await snapshotWip(tools, {
    worktree: path,
    assignment,
    expectedCommonDir: commonDir,
    protect: [request.ref],
    limits: request.limits,
  });
  return kept.kind === "clean" ? undefined : kept.ref;
}

function assignmentOf(ref: string): string | undefined {
  return ref.startsWith(WIP_PREFIX) ? ref.slice(WIP_PREFIX.length).split("/")[0] : undefined;
}

async function restoreFiles(tools: GitTools, scratch: string, now: Capture, wanted: WipContent): Promise<void> {
  const { git } = tools;
  const { path, commonDir } = now.worktree;
  const index = join(scratch, "restore.index");
  const env = await rawView(tools, {
    scratch,
    worktree: path,
    commonDir,
    objectFormat: now.worktree.objectFormat,
    index,
  });
  const raw = { cwd: path, env };
  const leftAlone = listLeftAlonePaths(now, wanted);
  const target = await treeWithout(tools, raw, wanted.worktreeTree, leftAlone);
  const present = await treeWithout(tools, raw, now.worktreeTree, leftAlone);
  await git.run(snapshotArgs.indexFromTree(present), raw);
  // Without this git would take every file for changed, since a fresh index knows no times. Exit 1 names such files.
  await git.attempt(snapshotArgs.indexRefresh(), raw);
  const result = await git.attempt(snapshotArgs.checkoutFromTo(present, target), raw);
  if (result.code === 0) return;
  if (!/overwritten|not uptodate|would lose|be removed/.test(result.stderr)) {
    const where = { repository: commonDir, directory: path, tree: target };
    throw await checkoutFailure(tools, where, { args: snapshotArgs.checkoutFromTo(present, target), result });
  }
  const hint = "Move the files named out of the way, then restore again. Nothing was changed.";
  const message = `The snapshot cannot be laid over ${path}: ${result.stderr.trim()}`;
  throw new OverseerError("conflict", "RESTORE_BLOCKED", message, hint);
}

/** What one of the two sides does not really hold must neither be written nor deleted. */
function listLeftAlonePaths(now: Capture, wanted: WipContent): QuotedPath[] {
  const unheld = [...now.skipped, ...wanted.skipped].filter(
    ({ reason }) => reason === "large" || reason === "unreadable" || reason === "special" || reason === "submodule",
  );
  return [...new Set([...unheld.map(({ path }) => path), ...now.sparse])];
}

async function treeWithout(
  tools: GitTools,
  raw: { cwd: string; env: Record<string, string> },
  tree: string,
  paths: readonly QuotedPath[],
): Promise<string> {
  if (paths.length === 0) return tree;
  await tools.git.run(snapshotArgs.indexFromTree(tree), raw);
  await tools.git.run(snapshotArgs.indexWithout(), { ...raw, stdin: `${paths.join("\n")}\n` });
  return (await tools.git.run(snapshotArgs.treeFromIndex(), raw)).trim();
}

/** The index of `into` itself, this once: replaced as a whole, then marked as it was and refreshed. */
async function restoreIndex(tools: GitTools, now: Capture, wanted: WipContent): Promise<void> {
  const { git } = tools;
  const here = within(now.worktree.path);
  await git.run(snapshotArgs.indexFromTree(wanted.indexTree), here);
  if (now.sparse.length > 0) {
    const staged = new Set(
      parseTrackedFiles(await git.run(snapshotArgs.listTrackedFiles(), here)).map(({ path }) => path),
    );
    const sparse = now.sparse.filter((path) => staged.has(path));
    await git.run(snapshotArgs.indexSkipWorktree(), {
      ...here,
      stdin: splitLines(sparse.join("\n")).concat("").join("\n"),
    });
  }
  if (wanted.intents.length > 0) {
    await git.run(snapshotArgs.intendToAdd(), { ...here, stdin: `${wanted.intents.join("\n")}\n` });
  }
  // Exit 1 only says that some files differ from what is staged, which is the point of a snapshot.
  await git.attempt(snapshotArgs.indexRefresh(), here);
}

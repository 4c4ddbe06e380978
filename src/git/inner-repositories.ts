/**
 * Repositories that lie inside a worktree: submodules, clones and repositories somebody made there, and the git
 * directories of submodules that are not checked out any more. Their commits live in that directory and nowhere else, so
 * they are fetched into the object database around it before the worktree goes: whatever their remotes do not have, on a
 * branch, detached, stashed or only in a reflog, and what is uncommitted as a snapshot. Only objects are written here;
 * who removes the worktree leaves the refs.
 */
import { basename, dirname, join } from "node:path";
import type { Loss } from "#domain/landing/rebuildable.ts";
import { messageOf, OverseerError } from "#errors.ts";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { quotePath, splitLines, unquotePath } from "./quoted-path.ts";
import { OVERSEER_IDENTITY, within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { commitCapture, isAsCommitted } from "./wip.ts";
import { captureWorktree, type SkippedPath } from "./wip-capture.ts";
import { type ProvenWorktree, proveWorktree, resolveRealPath } from "./worktree-proof.ts";

export interface InnerLook {
  /** Every repository found, as seen from the worktree. */
  readonly paths: readonly string[];
  /** Commits that are nowhere else; by now their objects are in the outer object database, under no ref. */
  readonly commits: readonly { readonly path: string; readonly commit: string }[];
  readonly losses: readonly Loss[];
  /** Ignored files of those repositories, as seen from the worktree. */
  readonly ignored: readonly string[];
}

/** Looks into all of them. Repeatable; changes nothing but objects. */
export async function lookInside(
  tools: GitTools,
  outer: ProvenWorktree,
  options: { readonly maxFileBytes?: number; readonly skip: (path: string) => boolean },
): Promise<InnerLook> {
  const found = await findRepositories(tools, outer, options.skip);
  const commits: { path: string; commit: string }[] = [];
  const losses: Loss[] = [];
  const ignored: string[] = [];
  for (const one of found) {
    try {
      const own = await workOf(tools, outer, one, options.maxFileBytes);
      commits.push(...own.commits.map((commit) => ({ path: one.path, commit })));
      losses.push(...own.losses);
      ignored.push(...own.ignored);
    } catch (error) {
      if (!(error instanceof OverseerError) || error.code === "DISK_FULL") throw error;
      losses.push({ path: one.path, what: "repository", because: firstLine(messageOf(error)) });
    }
  }
  return { paths: found.map(({ path }) => path), commits, losses, ignored };
}

interface Found {
  readonly path: string;
  /** Where its files are; undefined when only its git directory is left. */
  readonly files?: string;
  readonly gitDir?: string;
}

async function findRepositories(
  tools: GitTools,
  outer: ProvenWorktree,
  skip: (path: string) => boolean,
): Promise<Found[]> {
  const found: Found[] = [];
  const known = new Set<string>();
  for (const entry of await listByFind(tools, [outer.path, "-name", ".git", "-prune", "-print0"])) {
    const files = dirname(entry);
    const path = files.slice(outer.path.length + 1);
    if (files === outer.path || skip(path) || (await isEmptyDirectory(tools, entry))) continue;
    const gitDir = await gitDirOf(tools, files);
    if (gitDir !== undefined) known.add(gitDir);
    found.push({ path, files });
  }
  const modules = join(outer.gitDir, "modules");
  if ((await tools.files.facts(modules)) === undefined) return found;
  for (const objects of await listByFind(tools, [modules, "-type", "d", "-name", "objects", "-prune", "-print0"])) {
    const gitDir = (await resolveRealPath(tools, dirname(objects))) ?? dirname(objects);
    if (known.has(gitDir)) continue;
    found.push({ path: dirname(objects).slice(modules.length + 1), gitDir });
  }
  return found;
}

/** `find` is many times faster than asking for every file of a dependency tree one by one. */
export async function listByFind(tools: GitTools, words: readonly string[]): Promise<string[]> {
  const result = await tools.exec.run(["find", ...words], { timeoutMs: 5 * 60_000, maxBytes: 256 * 1024 * 1024 });
  const complaints = splitLines(result.stderr).filter((line) => !/No such file or directory/.test(line));
  if (result.timedOut || result.truncated || complaints.length > 0) {
    const message = `What lies in ${words[0]} could not be listed: ${complaints[0] ?? "there is too much of it"}`;
    const hint = "Look into that directory, and remove what you do not need yourself.";
    throw new OverseerError("environment", "NOT_LISTED", message, hint);
  }
  return result.stdout.split("\0").filter((line) => line !== "");
}

async function isEmptyDirectory(tools: GitTools, path: string): Promise<boolean> {
  return (await tools.files.facts(path))?.kind === "directory" && (await tools.files.list(path))?.length === 0;
}

export async function gitDirOf(tools: GitTools, files: string): Promise<string | undefined> {
  const result = await tools.git.attempt(args.gitDir(), within(files));
  return result.code === 0 ? resolveRealPath(tools, result.stdout.trim()) : undefined;
}

interface Work {
  readonly commits: readonly string[];
  readonly losses: readonly Loss[];
  readonly ignored: readonly string[];
}

async function workOf(
  tools: GitTools,
  outer: ProvenWorktree,
  { path, files, gitDir }: Found,
  maxFileBytes: number | undefined,
): Promise<Work> {
  if (files === undefined) {
    const place = { cwd: gitDir ?? outer.gitDir, env: { GIT_DIR: gitDir ?? "" } };
    const tips = tipsOf(await tools.git.run(args.commitsOfItsOwn(), place));
    return { commits: await bringOver(tools, outer, place, path, tips), losses: [], ignored: [] };
  }
  const proven = await proveWorktree(tools, { path: files });
  const place = within(proven.path);
  const goes = [outer.path, outer.gitDir].some((one) => `${proven.commonDir}/`.startsWith(`${one}/`));
  const list = goes ? args.commitsOfItsOwn() : proven.head === undefined ? undefined : args.commitsOfHeadAlone();
  const tips = list === undefined ? [] : tipsOf(await tools.git.run(list, place));
  const capture = await captureWorktree(tools, { path: proven.path, maxFileBytes });
  const clean = proven.head !== undefined && (await isAsCommitted(tools.git, capture, proven.head));
  const empty =
    proven.head === undefined && capture.worktreeTree === capture.indexTree && (await isBare(tools, capture));
  if (!clean && !empty) {
    const subject = `Uncommitted work of ${path.replaceAll("\n", " ")} in ${basename(outer.path)}`;
    // A worktree of the project itself that lies in another one is no other repository.
    const foreign = proven.commonDir !== outer.commonDir;
    const inside = { path: quotePath(path), ownCommits: proven.head !== undefined && tips.includes(proven.head) };
    const snapshot = await commitCapture(tools, capture, subject, foreign ? inside : undefined);
    // A snapshot is a child of what was checked out, and holds it.
    tips.splice(0, tips.length, snapshot, ...tips.filter((tip) => tip !== proven.head));
  }
  return {
    commits: await bringOver(tools, outer, place, path, tips),
    losses: lossesOf(capture.skipped, path),
    ignored: capture.skipped.flatMap(({ reason, path: quoted }) =>
      reason === "ignored" ? [`${path}/${unquotePath(quoted) ?? quoted}`] : [],
    ),
  };
}

/** A fresh `git init` with no file in it. */
async function isBare(tools: GitTools, { worktreeTree, worktree }: { worktreeTree: string; worktree: ProvenWorktree }) {
  return (await tools.git.run(landingArgs.treeEntries(worktreeTree), { cwd: worktree.commonDir })) === "";
}

/** What a capture leaves out for good: ignored files are judged elsewhere, repositories in repositories by themselves. */
export function lossesOf(skipped: readonly SkippedPath[], inside = ""): Loss[] {
  return skipped.flatMap(({ reason, path }) =>
    reason === "large" || reason === "unreadable" || reason === "special"
      ? [{ path: join(inside, unquotePath(path) ?? path), what: reason }]
      : [],
  );
}

/** Of lines `commit parent…`, the commits that are nobody's parent. Pure. */
export function tipsOf(listed: string): string[] {
  const lines = splitLines(listed).map((line) => line.split(" "));
  const parents = new Set(lines.flatMap((line) => line.slice(1)));
  return lines.flatMap(([commit]) => (commit === undefined || parents.has(commit) ? [] : [commit]));
}

/** More than this many ends of histories in one repository are tied together into one commit. */
const MOST_TIPS = 20;

/** Copies the commits with everything they need. Throws, with the reason, where that cannot be. */
export async function bringOver(
  tools: GitTools,
  outer: { readonly commonDir: string; readonly objectFormat: string | undefined },
  place: { readonly cwd: string; readonly env: Record<string, string> },
  path: string,
  tips: readonly string[],
): Promise<string[]> {
  if (tips.length === 0) return [];
  const [format, shallow] = (await tools.git.run(args.copyFacts(), place)).split("\n");
  if (format !== outer.objectFormat) throw notKept(`its ids are ${format}, those around it ${outer.objectFormat}`);
  if (shallow === "true") throw notKept("it is shallow, so its history is not whole");
  const gitDir = (await tools.git.run(args.gitDir(), place)).trim();
  const cwd = outer.commonDir;
  await tools.git.run(args.fetchObjects(gitDir), { cwd, stdin: `${tips.join("\n")}\n`, timeoutMs: 15 * 60_000 });
  return tieTogether(tools, cwd, tips, path);
}

/** At most so many commits, which hold all of these; `where` is for people. */
export async function tieTogether(
  tools: GitTools,
  cwd: string,
  tips: readonly string[],
  where: string,
): Promise<string[]> {
  if (tips.length <= MOST_TIPS) return [...tips];
  const rest = tips.slice(MOST_TIPS - 1);
  const tree = (await tools.git.run(snapshotArgs.resolveTree(rest[0] ?? ""), { cwd })).trim();
  const { name, email } = OVERSEER_IDENTITY;
  const env = {
    ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
    ...{ GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" },
  };
  const stdin = `${rest.length} more ends of histories in ${where}: each is a parent of this commit\n`;
  const tied = await tools.git.run(snapshotArgs.commitTree(tree, rest), { cwd, env, stdin });
  return [...tips.slice(0, MOST_TIPS - 1), tied.trim()];
}

function notKept(because: string): OverseerError {
  return new OverseerError("conflict", "NOT_KEPT", because, "Push its commits somewhere, then try again.");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}

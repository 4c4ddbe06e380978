/**
 * Two trees out of a worktree, without touching it: what is staged, and what lies in the files, byte for byte. Every
 * file is hashed as it is (`--no-filters`), because git's own `add` would rewrite line endings and run filters; the
 * staged tree is written from a copy of the index, because even writing a tree from the real one would change it.
 * Paths travel in git's quoted form, so newlines and foreign bytes in names are safe.
 *
 * Only objects are written. HEAD, the index, file times, a merge or rebase in progress stay exactly as they are.
 */
import { join } from "node:path";
import { systemCode } from "#errors.ts";
import type { FileFacts } from "#sys/files.ts";
import { diskFull, type GitTools, gitFailure, isDiskFull } from "./git.ts";
import { type QuotedPath, splitLines, unquotePath } from "./quoted-path.ts";
import { rawView, withScratch } from "./raw-view.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { type ProvenWorktree, proveWorktree } from "./worktree-proof.ts";

export type SkipReason = "ignored" | "submodule" | "repository" | "large" | "unreadable" | "special";

/** Something that lies in the worktree and is not in the capture. */
export interface SkippedPath {
  readonly reason: SkipReason;
  readonly path: QuotedPath;
}

export interface Capture {
  readonly worktree: ProvenWorktree;
  readonly indexTree: string;
  readonly worktreeTree: string;
  readonly skipped: readonly SkippedPath[];
  /** Unmerged in the index; the staged tree holds what the file looks like now. */
  readonly conflicts: readonly QuotedPath[];
  /** Added with --intent-to-add: known to the index, without content. */
  readonly intents: readonly QuotedPath[];
  /** Left out of this worktree by a sparse checkout: the trees hold their staged content. */
  readonly sparse: readonly QuotedPath[];
}

/** Files larger than this are listed, not kept, unless the caller says otherwise. */
export const LARGEST_KEPT_BYTES = 50 * 1024 * 1024;

/** Where git is run, and by which environment it finds the index. */
export interface CaptureView {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

const LOOKS_AT_ONCE = 64;

/** Throws NOT_THE_WORKTREE, WORKTREE_MISSING, DISK_FULL or GIT_FAILED. Repeatable; equal content gives equal trees. */
export async function captureWorktree(
  tools: GitTools,
  claim: { readonly path: string; readonly expectedCommonDir?: string; readonly maxFileBytes?: number },
): Promise<Capture> {
  const worktree = await proveWorktree(tools, claim);
  return captureProven(tools, worktree, within(worktree.path), claim.maxFileBytes);
}

/** The same for a worktree that is known, through whatever leads git to its index. */
export async function captureProven(
  tools: GitTools,
  worktree: ProvenWorktree,
  here: CaptureView,
  maxFileBytes: number = LARGEST_KEPT_BYTES,
): Promise<Capture> {
  return withScratch(tools, worktree.commonDir, async (scratch) => {
    const lists = await readLists(tools, here);
    const plan = await planFiles(tools, worktree.path, lists, maxFileBytes);
    const hashed = await hashFiles(tools, here, plan.regular);
    const kept = [...plan.fromIndex, ...hashed.entries, ...fallbacks(hashed.unreadable, lists.tracked)];
    const { commonDir, objectFormat } = worktree;
    const place = { scratch, here, worktree: worktree.path, commonDir, objectFormat };
    const indexed = { ...place, gitDir: worktree.gitDir };
    const indexTree = await writeIndexTree(tools, indexed, plan.conflicts, hashed.entries);
    const isAsStaged = plan.byGit.length === 0 && lists.intents.length === 0 && isSame(kept, lists.tracked);
    return {
      worktree,
      // An agent that has committed everything leaves nothing of its own: most ends of a turn are so.
      worktreeTree: isAsStaged ? indexTree : await writeWorktreeTree(tools, place, kept, plan.byGit),
      indexTree,
      skipped: [
        ...plan.skipped,
        ...hashed.unreadable.map((path): SkippedPath => ({ reason: "unreadable", path })),
        ...lists.ignored.map((path): SkippedPath => ({ reason: "ignored", path })),
      ],
      conflicts: plan.conflicts,
      intents: lists.intents,
      sparse: plan.sparse,
    };
  });
}

/** Whether what is in the worktree is what is staged, entry for entry. */
function isSame(kept: readonly IndexEntry[], tracked: readonly TrackedFile[]): boolean {
  if (kept.length !== tracked.length || tracked.some(({ stage }) => stage !== 0)) return false;
  const staged = new Set(indexLines(tracked).split("\n"));
  return kept.every((entry) => staged.has(indexLines([entry]).slice(0, -1)));
}

export interface TrackedFile {
  /** H cached, S left out by sparse checkout, M unmerged … as `ls-files -t` says. */
  readonly tag: string;
  readonly mode: string;
  readonly oid: string;
  readonly stage: number;
  readonly path: QuotedPath;
}

/** Lines of `ls-files --stage -t`: `H 100644 <oid> 0<TAB>path`. */
export function parseTrackedFiles(output: string): TrackedFile[] {
  return splitLines(output).flatMap((line) => {
    const tab = line.indexOf("\t");
    const [tag, mode, oid, stage] = line.slice(0, tab).split(" ");
    if (tag === undefined || mode === undefined || oid === undefined || stage === undefined) return [];
    return [{ tag, mode, oid, stage: Number(stage), path: line.slice(tab + 1) }];
  });
}

interface Lists {
  readonly tracked: readonly TrackedFile[];
  readonly untracked: readonly QuotedPath[];
  readonly ignored: readonly QuotedPath[];
  readonly intents: readonly QuotedPath[];
}

interface IndexEntry {
  readonly mode: string;
  readonly oid: string;
  readonly path: QuotedPath;
}

interface RegularFile {
  readonly mode: string;
  readonly path: QuotedPath;
}

interface FilePlan {
  /** Hashed by us, raw. */
  readonly regular: RegularFile[];
  /** Symlinks, and names that are not UTF-8: git reads those itself, through a raw view. */
  readonly byGit: QuotedPath[];
  /** Not in the worktree, or not kept from there: their staged content stands for them. */
  readonly fromIndex: IndexEntry[];
  readonly skipped: SkippedPath[];
  readonly conflicts: QuotedPath[];
  readonly sparse: QuotedPath[];
}

async function readLists({ git }: GitTools, here: CaptureView): Promise<Lists> {
  const [tracked, untracked, ignored, intents] = await Promise.all([
    git.run(snapshotArgs.listTrackedFiles(), here),
    git.run(snapshotArgs.listUntrackedFiles(), here),
    git.run(snapshotArgs.listIgnoredFiles(), here),
    git.run(snapshotArgs.listIntentToAddFiles(), here),
  ]);
  return {
    tracked: parseTrackedFiles(tracked),
    untracked: splitLines(untracked),
    ignored: splitLines(ignored),
    intents: splitLines(intents),
  };
}

/** Decides for each path, from one look at it, who reads it. */
async function planFiles(tools: GitTools, top: string, lists: Lists, maxFileBytes: number): Promise<FilePlan> {
  const looks = await lookAtAll(tools, top, [...lists.tracked.map(({ path }) => path), ...lists.untracked]);
  const plan: FilePlan = { regular: [], byGit: [], fromIndex: [], skipped: [], conflicts: [], sparse: [] };
  const seen = new Set<QuotedPath>();
  for (const file of lists.tracked) {
    if (seen.has(file.path)) continue;
    seen.add(file.path);
    if (file.stage > 0) plan.conflicts.push(file.path);
    if (file.mode === "160000") {
      plan.skipped.push({ reason: "submodule", path: file.path });
      if (file.stage === 0) plan.fromIndex.push(file);
      continue;
    }
    const facts = looks.get(file.path);
    if (facts === undefined && file.tag === "S") {
      plan.sparse.push(file.path);
      plan.fromIndex.push(file);
    } else {
      placeFile(plan, file.path, facts, file.stage === 0 ? file : undefined, maxFileBytes);
    }
  }
  for (const path of lists.untracked) {
    if (seen.has(path)) continue;
    if (/\/"?$/.test(path)) plan.skipped.push({ reason: "repository", path });
    else placeFile(plan, path, looks.get(path), undefined, maxFileBytes);
  }
  return plan;
}

type Look = FileFacts | "foreign-name" | "unreadable" | undefined;

function placeFile(
  plan: FilePlan,
  path: QuotedPath,
  facts: Look,
  staged: IndexEntry | undefined,
  maxFileBytes: number,
): void {
  // A directory where a file was tracked means the file is gone; what is inside is listed by itself.
  if (facts === undefined) return;
  if (facts === "foreign-name") return void plan.byGit.push(path);
  if (facts !== "unreadable" && facts.kind === "directory") return;
  if (facts !== "unreadable" && facts.kind === "symlink") return void plan.byGit.push(path);
  const reason = whyNotKept(facts, maxFileBytes);
  if (reason === undefined && facts !== "unreadable") {
    return void plan.regular.push({ mode: facts.mode & 0o100 ? "100755" : "100644", path });
  }
  plan.skipped.push({ reason: reason ?? "unreadable", path });
  if (staged !== undefined) plan.fromIndex.push(staged);
}

function whyNotKept(facts: FileFacts | "unreadable", maxFileBytes: number): SkipReason | undefined {
  if (facts === "unreadable") return "unreadable";
  if (facts.kind === "other") return "special";
  return facts.size > maxFileBytes ? "large" : undefined;
}

/** One after the other would take most of the time of a snapshot; all at once would hold thousands of files open. */
async function lookAtAll(tools: GitTools, top: string, paths: readonly QuotedPath[]): Promise<Map<QuotedPath, Look>> {
  const look = onlooker(tools, top);
  const looks = new Map<QuotedPath, Look>();
  for (let at = 0; at < paths.length; at += LOOKS_AT_ONCE) {
    const batch = paths.slice(at, at + LOOKS_AT_ONCE);
    const seen = await Promise.all(batch.map(look));
    for (const [index, path] of batch.entries()) looks.set(path, seen[index]);
  }
  return looks;
}

/** Looks at paths as git would: a path that leads through a symlink is not there. */
function onlooker(tools: GitTools, top: string): (path: QuotedPath) => Promise<Look> {
  const realDirs = new Map<string, boolean>();
  const factsOf = async (name: string): Promise<FileFacts | "unreadable" | undefined> => {
    try {
      return await tools.files.facts(join(top, name));
    } catch (error) {
      const code = systemCode(error);
      if (code === "EACCES" || code === "EPERM" || code === "EIO") return "unreadable";
      throw error;
    }
  };
  const isRealDir = async (dir: string): Promise<boolean> => {
    if (dir === "") return true;
    const known = realDirs.get(dir);
    if (known !== undefined) return known;
    const facts = (await isRealDir(parentOf(dir))) ? await factsOf(dir) : undefined;
    const real = facts === "unreadable" || facts?.kind === "directory";
    realDirs.set(dir, real);
    return real;
  };
  return async (path) => {
    const name = unquotePath(path);
    if (name === undefined) return "foreign-name";
    return (await isRealDir(parentOf(name))) ? factsOf(name) : undefined;
  };
}

function parentOf(name: string): string {
  const slash = name.lastIndexOf("/");
  return slash < 0 ? "" : name.slice(0, slash);
}

/**
 * Writes the bytes of each file as a blob. Git stops at the first file it cannot read, after printing the ids of
 * those before it: so that one is set aside (or was deleted meanwhile) and the rest continues.
 */
async function hashFiles(
  tools: GitTools,
  here: CaptureView,
  files: readonly RegularFile[],
): Promise<{ entries: IndexEntry[]; unreadable: QuotedPath[] }> {
  const entries: IndexEntry[] = [];
  const unreadable: QuotedPath[] = [];
  let next = 0;
  while (next < files.length) {
    const batch = files.slice(next);
    const stdin = `${batch.map((file) => file.path).join("\n")}\n`;
    const result = await tools.git.attempt(snapshotArgs.hashFilesRaw(), { ...here, stdin });
    const oids = splitLines(result.stdout);
    for (const [at, oid] of oids.entries()) {
      const file = batch[at];
      if (file !== undefined) entries.push({ ...file, oid });
    }
    next += oids.length;
    if (result.code === 0) break;
    const blocked = files[next];
    if (blocked === undefined || !isAboutReading(result.stderr))
      throw gitFailure(snapshotArgs.hashFilesRaw(), here.cwd, result);
    if (!/No such file or directory/.test(result.stderr)) unreadable.push(blocked.path);
    next += 1;
  }
  return { entries, unreadable };
}

/** Trouble with one file, as against trouble with the object store, which concerns them all. */
function isAboutReading(stderr: string): boolean {
  if (/insufficient permission|unable to (write|create|deflate)|write error|Read-only file system/.test(stderr))
    return false;
  return /could not open|short read|read error|Unable to (add|hash)/i.test(stderr);
}

/** What could not be read stays as it is staged, so that a restore does not take it for deleted. */
function fallbacks(unreadable: readonly QuotedPath[], tracked: readonly TrackedFile[]): IndexEntry[] {
  if (unreadable.length === 0) return [];
  const wanted = new Set(unreadable);
  return tracked.filter((file) => file.stage === 0 && wanted.has(file.path));
}

interface CaptureContext {
  readonly scratch: string;
  readonly here: CaptureView;
  readonly worktree: string;
  readonly commonDir: string;
  readonly objectFormat: "sha1" | "sha256";
}

async function writeWorktreeTree(
  tools: GitTools,
  place: CaptureContext,
  entries: readonly IndexEntry[],
  byGit: readonly QuotedPath[],
): Promise<string> {
  const { git } = tools;
  const index = join(place.scratch, "worktree.index");
  const here = { cwd: place.worktree, env: { ...place.here.env, GIT_INDEX_FILE: index } };
  if (entries.length > 0) await git.run(snapshotArgs.indexFromLines(), { ...here, stdin: indexLines(entries) });
  if (byGit.length > 0) {
    const env = await rawView(tools, { ...place, index });
    await git.run(snapshotArgs.indexFromWorktree(), { cwd: place.worktree, env, stdin: `${byGit.join("\n")}\n` });
  }
  return (await git.run(snapshotArgs.treeFromIndex(), here)).trim();
}

/** From a copy. A conflicted path cannot be in a tree, so the file as it lies in the worktree stands for it. */
async function writeIndexTree(
  tools: GitTools,
  place: CaptureContext & { readonly gitDir: string },
  conflicts: readonly QuotedPath[],
  hashed: readonly IndexEntry[],
): Promise<string> {
  const { git } = tools;
  const index = join(place.scratch, "staged.index");
  await copyIndex(tools, join(place.gitDir, "index"), index);
  const here = { cwd: place.worktree, env: { ...place.here.env, GIT_INDEX_FILE: index } };
  if (conflicts.length > 0) {
    const conflicted = new Set(conflicts);
    const zero = "0".repeat(place.objectFormat === "sha256" ? 64 : 40);
    const removals = conflicts.map((path) => `0 ${zero}\t${path}\n`).join("");
    const replacements = indexLines(hashed.filter((entry) => conflicted.has(entry.path)));
    await git.run(snapshotArgs.indexFromLines(), { ...here, stdin: removals + replacements });
  }
  return (await git.run(snapshotArgs.treeFromIndex(), here)).trim();
}

/** Git replaces the index by rename, so a copy is always of one whole version. A missing index is an empty one. */
async function copyIndex(tools: GitTools, from: string, to: string): Promise<void> {
  if ((await tools.files.facts(from)) === undefined) return;
  const result = await tools.exec.run(["cp", "--", from, to]);
  if (result.code === 0) return;
  if (isDiskFull(result.stderr)) throw diskFull("No space left on the disk for a copy of the index.");
  throw gitFailure(["(copy of the index)"], from, result);
}

export function indexLines(entries: readonly IndexEntry[]): string {
  return entries.map((entry) => `${entry.mode} ${entry.oid} 0\t${entry.path}\n`).join("");
}

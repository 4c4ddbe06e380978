/**
 * Everything a worktree holds that removing it would lose: uncommitted files, repositories inside it, and what no ref
 * can hold (ignored files that nobody can make again, files over the limit). What can be kept is brought into the object
 * database here, as commits without a ref; the rest is listed. Changes nothing but objects.
 */
import { basename, join } from "node:path";
import { isRebuildable, type Loss, REBUILDABLE } from "#domain/landing/rebuildable.ts";
import type { GitTools } from "./git.ts";
import { isDirty } from "./hidden-changes.ts";
import { listByFind, lookInside, lossesOf } from "./inner-repositories.ts";
import { splitLines, unquotePath } from "./quoted-path.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { commitCapture } from "./wip.ts";
import { captureWorktree } from "./wip-capture.ts";
import type { ProvenWorktree } from "./worktree-proof.ts";
import { readSetUp, type SetUpMade } from "./worktree-setup.ts";

export interface Contents {
  readonly dirty: boolean;
  /** A snapshot of what is uncommitted, under no ref yet. */
  readonly snapshot?: string;
  /** Commits of repositories inside it, under no ref yet. */
  readonly inside: readonly { readonly path: string; readonly commit: string }[];
  /** Sorted by path. */
  readonly losses: readonly Loss[];
}

export interface ContentsOptions {
  readonly maxFileBytes?: number;
  /** Names beside those that are always taken for such: ignored files that can be made again. */
  readonly rebuildable: readonly string[];
}

/** Throws what git throws, and DISK_FULL; then nothing is known and nothing may be removed. */
export async function readContents(
  tools: GitTools,
  worktree: ProvenWorktree,
  options: ContentsOptions,
): Promise<Contents> {
  const names = [...REBUILDABLE, ...options.rebuildable];
  const skip = (path: string): boolean => isRebuildable(path, names);
  const { maxFileBytes } = options;
  const inner = await lookInside(tools, worktree, { maxFileBytes, skip });
  const dirty = await isDirty(tools, worktree.path, { thorough: true });
  const capture = dirty ? await captureWorktree(tools, { path: worktree.path, maxFileBytes }) : undefined;
  const subject = `Uncommitted work of the removed worktree ${basename(worktree.path)}`;
  const listed = splitLines(await tools.git.run(snapshotArgs.listIgnoredFiles(), within(worktree.path)));
  const outer = listed.map((quoted) => unquotePath(quoted) ?? quoted);
  const ignored = [...outer.filter((path) => !isInside(path, inner.paths)), ...inner.ignored];
  const losses = [
    ...(await findIgnoredLosses(
      tools,
      worktree,
      ignored.filter((path) => !skip(path)),
      { skip, inner: inner.paths },
    )),
    ...(await measureLosses(tools, worktree, lossesOf(capture?.skipped ?? []))),
    ...(await measureLosses(tools, worktree, inner.losses)),
  ];
  return {
    dirty,
    ...(capture === undefined ? {} : { snapshot: await commitCapture(tools, capture, subject) }),
    inside: inner.commits,
    losses: losses.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
  };
}

function isInside(path: string, repositories: readonly string[]): boolean {
  return repositories.some((one) => path === `${one}/` || path.startsWith(`${one}/`));
}

const AT_ONCE = 200;

/** Directories are opened: what counts is the files in them that nobody can make again. */
async function findIgnoredLosses(
  tools: GitTools,
  worktree: ProvenWorktree,
  paths: readonly string[],
  { skip, inner }: { readonly skip: (path: string) => boolean; readonly inner: readonly string[] },
): Promise<Loss[]> {
  const made = await readSetUp(tools, worktree.gitDir);
  const files: string[] = [];
  for (const [group, since] of [
    [paths.filter((path) => !made?.paths.has(path)), undefined],
    [paths.filter((path) => made?.paths.has(path)), made],
  ] as const) {
    for (let at = 0; at < group.length; at += AT_ONCE) {
      files.push(...(await filesBelow(tools, worktree.path, group.slice(at, at + AT_ONCE), since)));
    }
  }
  const nested = inner.filter((path) => !paths.some((one) => isInside(one, [path])));
  const own = files.filter((path) => !skip(path) && !isInside(path, nested));
  const losses: Loss[] = [];
  for (const path of paths) {
    const below = own.filter((file) => file === path || (path.endsWith("/") && file.startsWith(path)));
    if (below.length > 0) losses.push({ path, what: "ignored", ...(await sizeOf(tools, worktree.path, below)) });
  }
  return losses;
}

async function filesBelow(
  tools: GitTools,
  top: string,
  paths: readonly string[],
  since: SetUpMade | undefined,
): Promise<string[]> {
  const places = paths.map((path) => join(top, path).replace(/\/$/, ""));
  const there = [];
  for (const place of places) if ((await tools.files.facts(place)) !== undefined) there.push(place);
  if (there.length === 0) return [];
  const newer = since === undefined ? [] : ["-cnewer", since.file];
  const found = await listByFind(tools, [...there, "(", "-type", "f", "-o", "-type", "l", ")", ...newer, "-print0"]);
  return found.map((file) => file.slice(top.length + 1));
}

/** Sizes are for people; of very many files the first ones are enough. */
const MOST_SIZED = 10_000;

async function sizeOf(tools: GitTools, top: string, paths: readonly string[]): Promise<Pick<Loss, "files" | "bytes">> {
  let bytes = 0;
  for (const path of paths.slice(0, MOST_SIZED)) bytes += (await tools.files.facts(join(top, path)))?.size ?? 0;
  return { files: paths.length, bytes };
}

async function measureLosses(tools: GitTools, worktree: ProvenWorktree, losses: readonly Loss[]): Promise<Loss[]> {
  const known: Loss[] = [];
  for (const loss of losses) {
    const size = loss.what === "large" ? await sizeOf(tools, worktree.path, [loss.path]) : {};
    known.push({ ...loss, ...size });
  }
  return known;
}

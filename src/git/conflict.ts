/**
 * The two sides of a conflict, file by file, and the tree that comes out when somebody has resolved them. All of it in
 * the object database, with a private index: no checkout is touched, and nothing is seen before it is landed.
 */
import { join } from "node:path";
import { type GitTools, gitFailure } from "./git.ts";
import { integrationView, type MergeWish, objectsAside } from "./landing.ts";
import * as landingArgs from "./landing-arguments.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";

export interface Side {
  readonly mode: string;
  readonly oid: string;
}

export interface ConflictFile {
  readonly path: string;
  readonly base: Side | undefined;
  readonly ours: Side | undefined;
  readonly theirs: Side | undefined;
}

export interface Conflict {
  /** With markers in the files that are in conflict; the rest is merged. */
  readonly tree: string;
  readonly files: readonly ConflictFile[];
}

/**
 * The merge with its conflicts; no files when there are none. Undefined where git cannot say, and where it is in doubt
 * about something that no file shows, such as a directory that was split: nobody could resolve that file by file.
 */
export async function conflictOf(tools: GitTools, repository: string, merge: MergeWish): Promise<Conflict | undefined> {
  const view = await integrationView(tools, repository, merge.target);
  if (view === undefined) return undefined;
  const env = { ...view, ...objectsAside(repository, merge.objects) };
  const command = [...(merge.settings ?? []), ...landingArgs.mergeTreeStages(merge.target, merge.commit)];
  const result = await tools.git.attempt(command, { cwd: view.GIT_WORK_TREE, env });
  if (result.code !== 0 && result.code !== 1) {
    if (/unrelated histories/.test(result.stderr)) return undefined;
    throw gitFailure(command, repository, result);
  }
  const [tree = "", ...records] = result.stdout.split("\0");
  const files = new Map<string, { -readonly [K in keyof ConflictFile]: ConflictFile[K] }>();
  for (const record of records) {
    const found = /^(\d+) ([0-9a-f]+) ([123])\t([\s\S]+)$/.exec(record);
    if (!found) continue;
    const [, mode = "", oid = "", stage = "", path = ""] = found;
    const file = files.get(path) ?? { path, base: undefined, ours: undefined, theirs: undefined };
    files.set(path, file);
    const side = stage === "1" ? "base" : stage === "2" ? "ours" : "theirs";
    file[side] = { mode, oid };
  }
  if (result.code === 1 && files.size === 0) return undefined;
  return { tree, files: [...files.values()] };
}

/** Both sides have it as an ordinary file of the same kind: only then lines can be compared at all. */
export function isOfLines({ base, ours, theirs }: ConflictFile): boolean {
  return (
    ours !== undefined &&
    theirs !== undefined &&
    ours.mode === theirs.mode &&
    ours.mode.startsWith("100") &&
    (base === undefined || base.mode.startsWith("100"))
  );
}

export async function readSideText(tools: GitTools, repository: string, side: Side | undefined): Promise<string> {
  return side === undefined ? "" : tools.git.run(landingArgs.blobText(side.oid), { cwd: repository });
}

/** What a commit or tree has at a path. */
export async function sideIn(
  tools: GitTools,
  repository: string,
  tree: string,
  path: string,
): Promise<Side | undefined> {
  const listed = await tools.git.run(landingArgs.treeEntry(tree, path), { cwd: repository });
  const [mode = "", , oid = ""] = (listed.split("\t")[0] ?? "").split(" ");
  return oid === "" ? undefined : { mode, oid };
}

/** Keeps a file of a worktree as git would commit it. */
export async function keepFile(tools: GitTools, worktree: string, path: string): Promise<string> {
  return (await tools.git.run(landingArgs.hashFile(path), within(worktree))).trim();
}

/** How long these are together, without reading them. */
export async function bytesOf(
  tools: GitTools,
  repository: string,
  sides: readonly (Side | undefined)[],
): Promise<number> {
  let bytes = 0;
  for (const side of sides) {
    if (side) bytes += Number(await tools.git.run(landingArgs.blobBytes(side.oid), { cwd: repository }));
  }
  return bytes;
}

export async function writeBlob(tools: GitTools, repository: string, text: string): Promise<string> {
  return (await tools.git.run(landingArgs.hashText(), { cwd: repository, stdin: text })).trim();
}

/** The tree with these files in place of what it has. */
export async function treeWith(
  tools: GitTools,
  repository: string,
  tree: string,
  files: readonly { readonly path: string; readonly mode: string; readonly oid: string }[],
): Promise<string> {
  const index = join(repository, "overseer", `index-${tools.ids.next("")}`);
  const options = { cwd: repository, env: { GIT_INDEX_FILE: index } };
  try {
    await tools.git.run(snapshotArgs.indexFromTree(tree), options);
    const lines = files.map(({ mode, oid, path }) => `${mode} ${oid} 0\t${path}\0`).join("");
    await tools.git.run(landingArgs.indexFromRecords(), { ...options, stdin: lines });
    return (await tools.git.run(snapshotArgs.treeFromIndex(), options)).trim();
  } finally {
    await tools.files.remove(index);
  }
}

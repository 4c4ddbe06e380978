/**
 * What a commit holds, for whoever only reads: names of files, the texts of small ones, and the commits before it. Read from
 * the objects and never from a checkout, so nothing that lies around uncommitted is seen and no link is followed. Every
 * question has an end in time and size; objects that a partial clone has not fetched are not fetched for it.
 */
import { OverseerError } from "#errors.ts";
import type { GitRunOptions, GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { unquotePath } from "./quoted-path.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { GITLINK } from "./tree-entries.ts";

export interface CommittedFile {
  readonly path: string;
  readonly oid: string;
  /** A regular file; a link is tracked too, and is never read. */
  readonly isRegular: boolean;
}

export interface CommitContents {
  readonly files: readonly CommittedFile[];
  /** Paths at which other repositories are. */
  readonly submodules: readonly string[];
}

/** Rejects as Git.run does, with GIT_TIMED_OUT and GIT_OUTPUT_TOO_LARGE where it is more than can be looked at. */
export async function listContents({ git }: GitTools, repository: string, commit: string): Promise<CommitContents> {
  const limits = limitTo(repository, LIST_MS, LIST_BYTES);
  const listed = await git.run(landingArgs.treeEntries(commit), limits);
  const files: CommittedFile[] = [];
  const submodules: string[] = [];
  for (const entry of listed.split("\0")) {
    const tab = entry.indexOf("\t");
    const [mode = "", , oid = ""] = entry.slice(0, tab).split(" ");
    const path = entry.slice(tab + 1);
    if (tab < 0 || path === "") continue;
    if (mode === GITLINK) submodules.push(path);
    else files.push({ path, oid, isRegular: mode.startsWith("100") });
  }
  return { files, submodules };
}

/** One file at a commit, from its beginning; undefined where it is not there, is no text, or is very large. */
export async function readTextAt(
  { git }: GitTools,
  repository: string,
  commit: string,
  path: string,
  maxBytes: number,
): Promise<string | undefined> {
  const blob = ["cat-file", "blob", `${commit}:${path}`];
  const shown = await git.attempt(blob, limitTo(repository, READ_MS, LARGEST_READ)).catch((error: unknown) => {
    if (error instanceof OverseerError && error.code === "GIT_OUTPUT_TOO_LARGE") return undefined;
    throw error;
  });
  if (shown?.code !== 0 || shown.stdout.includes("\0")) return undefined;
  return shown.stdout.slice(0, maxBytes);
}

export interface SmallTexts {
  readonly texts: ReadonlyMap<string, string>;
  /** Those that are larger than was asked for, or are no text. */
  readonly left: readonly string[];
}

/** The texts of regular files up to a size. Links are left out as if they were not there. */
export async function readSmallTexts(
  { git }: GitTools,
  repository: string,
  files: readonly CommittedFile[],
  maxBytes: number,
): Promise<SmallTexts> {
  const regular = files.filter(({ isRegular }) => isRegular);
  const oids = [...new Set(regular.map(({ oid }) => oid))];
  if (oids.length === 0) return { texts: new Map(), left: [] };
  const limits = limitTo(repository, READ_MS, oids.length * (maxBytes + 200));
  const stdin = (some: readonly string[]) => some.map((oid) => `${oid}\n`).join("");
  const sizes = (await git.run(landingArgs.objectSizes(), { ...limits, stdin: stdin(oids) })).split("\n");
  const small = oids.filter((_, at) => /^\d+$/.test(sizes[at] ?? "") && Number(sizes[at]) <= maxBytes);
  const printed =
    small.length === 0 ? "" : await git.run(landingArgs.objectsListed(), { ...limits, stdin: stdin(small) });
  const found = splitObjects(printed, small);
  const texts = new Map<string, string>();
  for (const { path, oid } of regular) {
    const text = found.get(oid);
    if (text !== undefined && !text.includes("\0")) texts.set(path, text);
  }
  return { texts, left: regular.flatMap(({ path }) => (texts.has(path) ? [] : [path])) };
}

/** By the line above each, not by its size: what was no UTF-8 has another length by now. */
function splitObjects(printed: string, oids: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const heads = oids.map((oid) => `${oid} blob `);
  let at = 0;
  for (const [index, oid] of oids.entries()) {
    const begin = printed.indexOf("\n", at) + 1;
    if (begin === 0) break;
    const next = heads[index + 1];
    const end = next === undefined ? printed.length : printed.indexOf(`\n${next}`, begin - 1);
    if (end < 0) break;
    found.set(oid, printed.slice(begin, next === undefined ? end - 1 : end));
    at = end + 1;
  }
  return found;
}

export interface PastCommit {
  readonly id: string;
  readonly subject: string;
  readonly files: readonly string[];
}

/** Of a commit that touched very many files only the first are named. */
const MOST_FILES = 60;

/** The commit and those before it, newest first, with the files in which each differs from its first parent. */
export async function listPastCommits(
  { git }: GitTools,
  repository: string,
  commit: string,
  most: number,
): Promise<PastCommit[]> {
  const listed = await git.run(snapshotArgs.pastCommits(commit, most), limitTo(repository, HISTORY_MS, HISTORY_BYTES));
  return listed.split("\0").flatMap((entry) => {
    const [head = "", ...names] = entry.split("\n");
    const [id = "", ...words] = head.split(" ");
    if (id === "") return [];
    const files = names.slice(0, MOST_FILES).flatMap((name) => (name === "" ? [] : (unquotePath(name) ?? [])));
    return [{ id, subject: words.join(" "), files }];
  });
}

const LIST_MS = 20_000;
const LIST_BYTES = 96 * 1024 * 1024;
const READ_MS = 10_000;
const LARGEST_READ = 4 * 1024 * 1024;
const HISTORY_MS = 10_000;
const HISTORY_BYTES = 32 * 1024 * 1024;

function limitTo(cwd: string, timeoutMs: number, maxBytes: number): GitRunOptions {
  return { cwd, timeoutMs, maxBytes, env: { GIT_NO_LAZY_FETCH: "1" } };
}

/**
 * Taking back a move that was stopped half-way. Only what is certainly ours is taken back: a file that is as the new
 * commit has it, the beginning of that, missing or empty. One that is unlike both is somebody's, and stays.
 */

import { dirname, join } from "node:path";
import type { FileFacts } from "#sys/files.ts";
import * as args from "./arguments.ts";
import type { GitRunOptions, GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import type { CheckoutMove } from "./move-notes.ts";
import { FILTER_TIMEOUT_MS, withIndex } from "./prepared-contents.ts";
import { withScratch } from "./raw-view.ts";
import { within } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { type Entry, GITLINK, type Version } from "./tree-entries.ts";

/** The files as they were, of those that are ours. Answers with the ones that could not be, or that are somebody's. */
export async function takeBack(
  tools: GitTools,
  repository: string,
  { checkout }: CheckoutMove,
  entries: readonly Entry[],
): Promise<readonly string[]> {
  return withScratch(tools, repository, async (scratch) => {
    const [before, after] = [join(scratch, "before"), join(scratch, "after")];
    const unlikeBefore = await listDiffering(tools, checkout, before, versions(entries, "was"));
    const unlikeAfter = await listDiffering(tools, checkout, after, versions(entries, "now"));
    const back: Entry[] = [];
    const stuck: string[] = [];
    for (const entry of entries) {
      const { path, was, now } = entry;
      if (await isAsBefore(tools, checkout, entry, unlikeBefore)) continue;
      const arrived = now !== undefined && now.mode !== GITLINK && !unlikeAfter.has(path);
      const hasBegun = async () => isBegun(tools, { checkout, scratch, after }, entry);
      if (arrived || (await isEmptyOrGone(tools, checkout, entry)) || (await hasBegun())) back.push(entry);
      // A new submodule is an empty directory; whatever lies in it since is not ours.
      else if (was || now?.mode !== GITLINK) stuck.push(path);
    }
    for (const { path, was } of back) if (!was || was.mode === GITLINK) await removeFile(tools, checkout, path);
    const wanted: string[] = [];
    for (const { path, was } of back) {
      if (!was) continue;
      // Git would put directories in the place of a link that somebody has made above it.
      if (!(await isReached(tools, checkout, path))) stuck.push(path);
      else if (was.mode === GITLINK) await tools.files.makeDir(join(checkout, path));
      // A directory in which something has been put since is not removed for it.
      else if (await isFullDirectory(tools, join(checkout, path))) stuck.push(path);
      else wanted.push(path);
    }
    return [...stuck, ...(await writeFromIndex(tools, wanted, withFilters(checkout, before)))];
  });
}

async function isAsBefore(
  tools: GitTools,
  checkout: string,
  { path, was, now }: Entry,
  unlikeBefore: ReadonlySet<string>,
): Promise<boolean> {
  if (was && was.mode !== GITLINK) return !unlikeBefore.has(path);
  const facts = await factsBelow(tools, checkout, path);
  if (was) return facts?.kind === "directory";
  // Git makes no directory of that name: one that is there is somebody's, and a new file has not arrived.
  return facts === undefined || (facts.kind === "directory" && now?.mode !== GITLINK);
}

/** Whether nothing but directories leads there; through a link it would be another place. */
async function isReached(tools: GitTools, checkout: string, path: string): Promise<boolean> {
  const parts = path.split("/").slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth += 1) {
    const facts = await tools.files.facts(join(checkout, ...parts.slice(0, depth)));
    if (facts === undefined) return true;
    if (facts.kind !== "directory") return false;
  }
  return true;
}

async function factsBelow(tools: GitTools, checkout: string, path: string): Promise<FileFacts | undefined> {
  return (await isReached(tools, checkout, path)) ? tools.files.facts(join(checkout, path)) : undefined;
}

/** Git was stopped in the middle of writing this file: what is there is the beginning of it. */
async function isBegun(
  tools: GitTools,
  { checkout, scratch, after }: { readonly checkout: string; readonly scratch: string; readonly after: string },
  { path, now }: Entry,
): Promise<boolean> {
  const facts = await factsBelow(tools, checkout, path);
  if (facts?.kind !== "file" || !now?.mode.startsWith("100")) return false;
  const whole = join(scratch, "whole");
  const options = { ...withFilters(checkout, after), stdin: `${path}\0` };
  const made = await tools.git.attempt(landingArgs.checkoutBelow(whole), options);
  if (made.code !== 0 || (await tools.files.facts(join(whole, path)))?.kind !== "file") return false;
  return tools.files.isBeginningOf(join(checkout, path), join(whole, path));
}

async function isFullDirectory(tools: GitTools, path: string): Promise<boolean> {
  if ((await tools.files.facts(path))?.kind !== "directory") return false;
  return ((await tools.files.list(path)) ?? []).length > 0;
}

function withFilters(checkout: string, index: string): GitRunOptions {
  return { ...withIndex(checkout, index), timeoutMs: FILTER_TIMEOUT_MS };
}

/** All at once, and where that fails one by one, so that one filter does not keep the others away. */
async function writeFromIndex(tools: GitTools, paths: readonly string[], options: GitRunOptions): Promise<string[]> {
  if (paths.length === 0) return [];
  const stdin = paths.map((path) => `${path}\0`).join("");
  if ((await tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin })).code === 0) return [];
  const stuck: string[] = [];
  for (const path of paths) {
    const alone = await tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin: `${path}\0` });
    if (alone.code !== 0) stuck.push(path);
  }
  return stuck;
}

/** A directory that holds something is no reason to stop yet: it may be ours, and gone when its files are. */
async function isEmptyOrGone(tools: GitTools, checkout: string, { path, was }: Entry): Promise<boolean> {
  const facts = await factsBelow(tools, checkout, path);
  if (facts?.kind === "directory") return was !== undefined || !(await isFullDirectory(tools, join(checkout, path)));
  return facts === undefined || (facts.kind === "file" && facts.size === 0);
}

function versions(entries: readonly Entry[], which: "was" | "now"): string[] {
  return entries.flatMap((entry) => {
    const version = entry[which];
    return version && version.mode !== GITLINK ? [`${version.mode} ${version.oid} 0\t${entry.path}\0`] : [];
  });
}

/** Which of these the checkout has otherwise, or not at all. The private index is kept for later. */
export async function listDiffering(
  tools: GitTools,
  checkout: string,
  index: string,
  records: readonly string[],
): Promise<Set<string>> {
  if (records.length === 0) return new Set();
  const options = withFilters(checkout, index);
  await tools.git.run(landingArgs.indexFromRecords(), { ...options, stdin: records.join("") });
  await tools.git.attempt(snapshotArgs.indexRefresh(), options);
  const listed = await tools.git.run(landingArgs.unlikeIndex(), options);
  return new Set(listed.split("\0").filter((path) => path !== ""));
}

/** The file, and the directories above it that hold nothing else. Never more than that, whatever is put there now. */
async function removeFile(tools: GitTools, checkout: string, path: string): Promise<void> {
  for (let each = path; each !== "."; each = dirname(each)) {
    if (!(await isReached(tools, checkout, each))) return;
    await tools.files.removeUnlessFull(join(checkout, each));
    if ((await tools.files.facts(join(checkout, each))) !== undefined) return;
  }
}

/** Entries of the index that are the other commit's become this one's; what was staged otherwise stays. */
export async function indexTo(
  tools: GitTools,
  checkout: string,
  entries: readonly Entry[],
  which: "was" | "now",
): Promise<void> {
  const listed = await tools.git.run(args.listStagedContent(), within(checkout));
  const staged = new Map(
    listed.split("\0").flatMap((record) => {
      const found = /^\S (\d+) ([0-9a-f]+) 0\t([\s\S]+)$/.exec(record);
      return found ? [[found[3] ?? "", `${found[1]} ${found[2]}`] as const] : [];
    }),
  );
  const text = (version: Version | undefined) => (version ? `${version.mode} ${version.oid}` : undefined);
  const records = entries.flatMap((entry) => {
    const [wanted, other] = which === "was" ? [entry.was, entry.now] : [entry.now, entry.was];
    const there = staged.get(entry.path);
    if (there === text(wanted) || there !== text(other)) return [];
    const none = `0 ${"0".repeat(other?.oid.length ?? 40)}`;
    return [`${text(wanted) ?? none} 0\t${entry.path}\0`];
  });
  if (records.length === 0) return;
  await tools.git.run(landingArgs.indexFromRecords(), { ...within(checkout), stdin: records.join("") });
  await tools.git.attempt(snapshotArgs.indexRefresh(), within(checkout));
}

/**
 * What a git of the user's makes of a landing that it did not see. Git reads the index before it locks it, so one that read
 * it before a landing may write it back afterwards: then what has landed is staged as taken out, and the next commit takes it
 * out. Nobody can keep git from that (docs/decisions/0015); here it is found. An index is put right only where it is certain:
 * every path of the landing is staged as it was before, while the files are as they have landed, or, where only submodules
 * have landed, these are checked out so.
 */
import { join } from "node:path";
import { checkoutsOf } from "./checkouts.ts";
import type { GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { countOnTop } from "./proven-ancestry.ts";
import { withScratch } from "./raw-view.ts";
import { findCommit, within } from "./repository.ts";
import { type Entry, entriesBetween, GITLINK, parseEntries, type Version } from "./tree-entries.ts";
import { indexTo, listDiffering } from "./undo-move.ts";

export interface LandedMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Puts the index right again in every checkout of the branch, which is still at `to`; answers with the paths. A checkout whose
 * index is locked is left to the next look.
 */
export async function mendIndexes(tools: GitTools, repository: string, move: LandedMove): Promise<readonly string[]> {
  const entries = await entriesBetween(tools, repository, move.from, move.to);
  if (entries.length === 0) return [];
  const mended = new Set<string>();
  for (const { path: checkout, gitDir, busy } of await checkoutsOf(tools, repository, move.branch)) {
    if (busy !== undefined || (await tools.files.facts(join(gitDir, "index.lock"))) !== undefined) continue;
    const staged = parseEntries(await tools.git.run(landingArgs.listStagedEntries(move.to), within(checkout)));
    if (!areAsBefore(entries, staged) || !(await areFilesLanded(tools, repository, checkout, entries))) continue;
    await indexTo(tools, checkout, entries, "now");
    for (const { path } of entries) mended.add(path);
  }
  return [...mended];
}

/** The commit right after the landing, if that takes files of it out again and does not say so, with those files. */
export async function findUndoing(
  tools: GitTools,
  repository: string,
  move: LandedMove,
): Promise<{ readonly commit: string; readonly files: readonly string[] } | undefined> {
  const options = { cwd: repository };
  const after = await tools.git.attempt(landingArgs.listCommitsOnTop(move.to, `refs/heads/${move.branch}`), options);
  const listed = after.stdout.split("\n").filter((line) => line !== "");
  const next = listed[(await countOnTop(tools, repository, listed, [move.to])) - 1];
  if (after.code !== 0 || next === undefined) return undefined;
  const entries = await entriesBetween(tools, repository, move.from, move.to);
  const changes = await entriesBetween(tools, repository, move.to, next);
  const files = entries.filter((entry) => areAsBefore([entry], changes)).map(({ path }) => path);
  if (files.length === 0) return undefined;
  const { stdout: message } = await tools.git.attempt(landingArgs.commitMessage(next), options);
  // Who reverts it on purpose, by git's own command, says so.
  return /^This reverts commit/m.test(message) ? undefined : { commit: next, files };
}

/** Whether the changes take each of these paths from what it became to what it was. */
function areAsBefore(entries: readonly Entry[], changes: readonly Entry[]): boolean {
  const now = new Map(changes.map((change) => [change.path, change]));
  return entries.every(({ path, was }) => now.has(path) && isSame(now.get(path)?.now, was));
}

function isSame(one: Version | undefined, other: Version | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode;
}

async function areFilesLanded(
  tools: GitTools,
  repository: string,
  checkout: string,
  entries: readonly Entry[],
): Promise<boolean> {
  for (const { path, now } of entries)
    if (now === undefined && (await tools.files.facts(join(checkout, path))) !== undefined) return false;
  const isSubmodule = ({ now }: Entry) => now?.mode === GITLINK;
  // Landing one moves no checkout of it: only where somebody has brought that along, it is known not to be what was staged.
  if (entries.every(isSubmodule) && !(await areCheckedOut(tools, checkout, entries))) return false;
  const records = entries.flatMap(({ path, now }) =>
    now && now.mode !== GITLINK ? [`${now.mode} ${now.oid} 0\t${path}\0`] : [],
  );
  return withScratch(tools, repository, async (scratch) => {
    return (await listDiffering(tools, checkout, join(scratch, "landed"), records)).size === 0;
  });
}

async function areCheckedOut(tools: GitTools, checkout: string, submodules: readonly Entry[]): Promise<boolean> {
  for (const { path, now } of submodules) {
    const place = join(checkout, path);
    const isThere = (await tools.files.facts(join(place, ".git"))) !== undefined;
    if (!isThere || (await findCommit(tools.git, place, "HEAD")) !== now?.oid) return false;
  }
  return true;
}

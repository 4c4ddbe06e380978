/**
 * The author's tier. The conflict goes back to it, and what it did with it is judged when it lands: it merged the target into its branch, or put
 * its commits on top of it, and by the time we land it there is no conflict left to see. So the conflict is made again
 * and compared with what came out: a side of which nothing is left needs a person, as for every other tier, and what
 * holds is remembered for the same three files. Looks only where a branch has met the target on its way.
 */

import type { WorkBehind } from "#act/landing/candidate.ts";
import type { ActParts } from "#act/parts.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { type ConflictFile, conflictOf, isOfLines, sideIn } from "#git/conflict.ts";
import * as landingArgs from "#git/landing-arguments.ts";
import { isMergedInto } from "#git/repository.ts";
import { sidesKept } from "./sides-kept.ts";
import { formatPaths, type Resolution, type Tier } from "./tier.ts";

/** While its author is there and has rounds left, nobody else decides what it meant. */
export const AUTHOR: Tier = {
  name: "author",
  isEnabled: ({ author }) => author,
  forecast({ open, author: { label, living, rounds }, authorRounds }) {
    const round = rounds + 1;
    if (!living || round >= authorRounds) return undefined;
    return `${label} is at work and gets ${formatPaths(open)} back (round ${round} of ${authorRounds}).`;
  },
  async resolve(given) {
    const { attempt, node } = given.seen;
    const living = attempt !== undefined && isLiving(attempt);
    return living && (node.rounds ?? 0) + 1 < given.config.landing.authorRounds ? "left-to-author" : given;
  },
};

export interface AuthorResolution {
  readonly found: readonly Resolution[];
  /** Files in which nothing of one side is left, or markers are. */
  readonly dropped: readonly string[];
}

type AuthorJob = Pick<WorkBehind, "seen" | "claim"> & { readonly parts: ActParts };

/** Undefined where its author had nothing to resolve. */
export async function judgeAuthorResolution(job: AuthorJob): Promise<AuthorResolution | undefined> {
  const { parts } = job;
  const repository = parts.root.gitCommonDir;
  if (!(await parts.git.git.probe()).mergeTreeWriteTree) return undefined;
  const found: Resolution[] = [];
  const dropped: string[] = [];
  let any = false;
  for (const { onto, commit, result } of await meetings(job)) {
    const conflict = await conflictOf(parts.git, repository, { target: onto, commit });
    for (const file of conflict?.files ?? []) {
      any = true;
      const outcome = await judgeFile(job, file, result);
      if (outcome === "dropped") dropped.push(file.path);
      else if (outcome !== undefined) found.push(outcome);
    }
  }
  return any ? { found, dropped: [...new Set(dropped)] } : undefined;
}

/** The branch met the target: the two commits, and the one that holds what the author made of them. */
interface Meeting {
  readonly onto: string;
  readonly commit: string;
  readonly result: string;
}

const MOST_MEETINGS = 20;

async function meetings({ parts, seen, claim }: AuthorJob): Promise<Meeting[]> {
  const { conflict } = seen.node;
  const began = seen.attempt?.base ?? claim.base;
  // Where branch and target part is where the attempt began, unless it took something of the target in.
  if (conflict === undefined && began === claim.base) return [];
  const repository = parts.root.gitCommonDir;
  const { git } = parts.git;
  const listed = await git.attempt(landingArgs.mergesBetween(conflict?.commit ?? began, claim.commit, MOST_MEETINGS), {
    cwd: repository,
  });
  const merges = listed.code !== 0 ? [] : listed.stdout.split("\n").map((line) => line.trim().split(" "));
  const met = merges.flatMap(([result, commit, onto, ...more]) =>
    result && commit && onto && more.length === 0 ? [{ onto, commit, result }] : [],
  );
  if (met.length > 0 || conflict === undefined || conflict.commit === claim.commit) return met;
  const rebased = await isMergedInto(git, repository, conflict.onto, claim.commit);
  return rebased ? [{ onto: conflict.onto, commit: conflict.commit, result: claim.commit }] : [];
}

async function judgeFile(
  { parts }: AuthorJob,
  file: ConflictFile,
  commit: string,
): Promise<Resolution | "dropped" | undefined> {
  const { path, base, ours, theirs } = file;
  const result = await sideIn(parts.git, parts.root.gitCommonDir, commit, path);
  const kept = await sidesKept(parts, file, result);
  if (kept === "no") return "dropped";
  if (kept === "unread" || !isOfLines(file) || !ours || !theirs || !result) return undefined;
  return { path, base: base?.oid ?? "", ours: ours.oid, theirs: theirs.oid, result: result.oid };
}

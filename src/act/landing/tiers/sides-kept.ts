/**
 * Whether what came out of a conflict keeps both sides, where whoever made it gives no list of reasons: its author, a
 * tool that made a lockfile again, git's own union. Lines are compared where there are any, and contents as a whole where
 * there are none. The rules are domain/landing/conservation.ts; here the files are read.
 */

import type { ActParts } from "#act/parts.ts";
import { bothSidesLive, bothVersionsLive, type Sides } from "#domain/landing/conservation.ts";
import { bytesOf, type ConflictFile, readSideText, type Side } from "#git/conflict.ts";

/** More than a person would compare line by line. */
const MOST_BYTES = 4 * 1024 * 1024;

/** `unread`: nothing speaks against it, but only the contents as a whole were compared. */
export type SidesKept = "yes" | "no" | "unread";

export async function sidesKept(
  parts: Pick<ActParts, "git" | "root">,
  { base, ours, theirs }: ConflictFile,
  result: Side | undefined,
): Promise<SidesKept> {
  const repository = parts.root.gitCommonDir;
  const whole = (): SidesKept => {
    const ids = { base: base?.oid, ours: ours?.oid, theirs: theirs?.oid, result: result?.oid };
    return bothVersionsLive(ids) ? "unread" : "no";
  };
  const all = [base, ours, theirs, result];
  if (all.some((side) => side !== undefined && !side.mode.startsWith("100"))) return whole();
  if ((await bytesOf(parts.git, repository, all)) > MOST_BYTES) return whole();
  const read = (side: Side | undefined) => readSideText(parts.git, repository, side);
  const sides: Sides = { base: await read(base), ours: await read(ours), theirs: await read(theirs) };
  const text = await read(result);
  if ([sides.base, sides.ours, sides.theirs, text].some((one) => one.includes("\0"))) return whole();
  return bothSidesLive(sides, text) ? "yes" : "no";
}

/** The three files by their contents; the same conflict has the same key. */
export function conflictKey({ base, ours, theirs }: ConflictFile): string {
  return [base?.oid ?? "", ours?.oid ?? "", theirs?.oid ?? ""].join(":");
}

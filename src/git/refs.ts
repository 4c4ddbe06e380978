/**
 * Refs, moved only by compare-and-set: every change names what it expects to find, several changes are one
 * transaction, and losing the race is an answer, not an exception. Knows nothing of what the refs mean.
 */
import * as args from "./arguments.ts";
import { type Git, gitFailure } from "./git.ts";

export type RefChange =
  | { readonly kind: "create"; readonly ref: string; readonly to: string }
  | { readonly kind: "update"; readonly ref: string; readonly to: string; readonly from: string }
  | { readonly kind: "delete"; readonly ref: string; readonly from: string }
  /** Whatever it is at; for refs that nobody else changes. */
  | { readonly kind: "set"; readonly ref: string; readonly to: string }
  | { readonly kind: "drop"; readonly ref: string };

export interface RefEntry {
  readonly ref: string;
  readonly oid: string;
  /** When the commit it names was made; ms. 0 for what has no date. */
  readonly at: number;
}

/** The input of `update-ref --stdin -z`. */
export function refTransaction(changes: readonly RefChange[]): string {
  return changes
    .map((change) => {
      if (change.kind === "create") return `create ${change.ref}\0${change.to}\0`;
      if (change.kind === "update") return `update ${change.ref}\0${change.to}\0${change.from}\0`;
      if (change.kind === "set") return `update ${change.ref}\0${change.to}\0\0`;
      return `delete ${change.ref}\0${change.kind === "delete" ? change.from : ""}\0`;
    })
    .join("");
}

/**
 * All changes or none. Returns false, with nothing changed, when a ref is not as expected; so a repeated call after
 * success returns false too. Throws GIT_FAILED for anything else (a bad name, an object that does not exist).
 */
export async function changeRefs(
  git: Git,
  cwd: string,
  changes: readonly RefChange[],
  /** What the log of the ref says about it. */
  message?: string,
): Promise<boolean> {
  if (changes.length === 0) return true;
  const command = args.updateRefs(message);
  const result = await git.attempt(command, { cwd, stdin: refTransaction(changes) });
  if (result.code === 0) return true;
  if (isLostRace(result.stderr)) return false;
  throw gitFailure(command, cwd, result);
}

/** Refs under a prefix (or that very ref), in git's order. Never throws for a prefix nobody uses. */
export async function listRefs(git: Git, cwd: string, prefix: string): Promise<RefEntry[]> {
  const output = await git.run(args.listRefsArguments(prefix), { cwd });
  return output.split("\n").flatMap((line) => {
    const [ref, oid, seconds] = line.split(" ");
    return ref === undefined || oid === undefined ? [] : [{ ref, oid, at: Number(seconds ?? 0) * 1000 }];
  });
}

/** Git's words for "not what you expected", including a name that is a directory of other refs. */
export function isLostRace(stderr: string): boolean {
  return /reference already exists|but expected|unable to resolve reference|exists; cannot create/.test(stderr);
}

/**
 * Whether a worktree can still be worked in (FAIL-11). Git's own files in it are a few lines of text and one index, and any
 * of them may be scribbled over or lost; then no agent gets anything done there, however often it is started again. What
 * only looks so (a repository that was moved, a file that may not be read now) is no verdict: nobody is sent away for it.
 */
import type { WorktreePart } from "#domain/model/attempt.ts";

/** What one look found; each sentence is what git or its files say, null where nothing is wrong. */
export interface WorktreeLook {
  /** The repository itself is there: without it nothing can be said about a worktree of it. */
  readonly repository: boolean;
  readonly directory: boolean;
  /** Why it is not the worktree it should be. */
  readonly gitFile: string | null;
  readonly index: string | null;
  /** What is missing of the commit that it stands on. */
  readonly objects: string | null;
}

export type WorktreeVerdict =
  | { readonly state: "whole" }
  | { readonly state: "broken"; readonly part: WorktreePart; readonly detail: string }
  | { readonly state: "unknown"; readonly detail: string };

/** Trouble of the machine and not of the files: it passes, or concerns every worktree alike. */
const PASSING =
  /Permission denied|dubious ownership|Too many open files|Cannot allocate|out of memory|Resource temporarily|Input\/output error|timed out|No space left/i;

const INDEX_CORRUPT =
  /index file corrupt|smaller than expected|bad (index )?(file )?signature|bad index version|bad index file|index uses .* extension|unordered stage|malformed name field|out of order/i;

const OBJECT_LOST =
  /bad object|not a tree object|not a valid object|missing (blob|tree|commit|object)|could not read|unable to (read|find|parse)|cannot read|is corrupt|is empty|does not point to a valid|failed to traverse|has no commit/i;

export function judgeWorktree(look: WorktreeLook): WorktreeVerdict {
  if (!look.repository) return { state: "unknown", detail: "its repository is not where it was" };
  if (!look.directory) return { state: "broken", part: "directory", detail: "its directory is gone" };
  return (
    judgePart("git-file", look.gitFile, /\S/) ??
    judgePart("index", look.index, INDEX_CORRUPT) ??
    judgePart("objects", look.objects, OBJECT_LOST) ?? { state: "whole" }
  );
}

function judgePart(part: WorktreePart, said: string | null, isBroken: RegExp): WorktreeVerdict | undefined {
  if (said === null) return undefined;
  const detail = said.trim().split("\n").join(" ").slice(0, MOST_SAID);
  return isBroken.test(said) && !PASSING.test(said)
    ? { state: "broken", part, detail }
    : { state: "unknown", detail: detail === "" ? "git gave no reason" : detail };
}

const MOST_SAID = 300;

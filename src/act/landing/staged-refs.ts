/**
 * A ref for each merge that is made and gated but not landed yet, so that a `git gc --prune=now` of the user's in between
 * does not lose it: a gate may take an hour. It goes when the landing has ended, however it ended. One that a killed
 * process left is taken over by the next try, or goes with the next turn of the queue when nothing wants to land it.
 */

import type { ActParts } from "#act/parts.ts";
import { changeRefs, listRefs } from "#git/refs.ts";

export const STAGED_PREFIX = "refs/overseer/staged/";

type RefParts = Pick<ActParts, "git" | "root">;

/** Repeatable; the last one counts. */
export async function keepStaged(parts: RefParts, mergeId: string, commit: string): Promise<void> {
  const change = { kind: "set", ref: `${STAGED_PREFIX}${mergeId}`, to: commit } as const;
  await changeRefs(parts.git.git, parts.root.gitCommonDir, [change]);
}

/** Repeatable. */
export async function dropStaged(parts: RefParts, mergeId: string): Promise<void> {
  await changeRefs(parts.git.git, parts.root.gitCommonDir, [{ kind: "drop", ref: `${STAGED_PREFIX}${mergeId}` }]);
}

/** Of merges that nobody wants to land any more. */
export async function sweepStaged(parts: RefParts, wanted: ReadonlySet<string>): Promise<void> {
  for (const { ref } of await listRefs(parts.git.git, parts.root.gitCommonDir, STAGED_PREFIX)) {
    const id = ref.slice(STAGED_PREFIX.length);
    if (!wanted.has(id)) await dropStaged(parts, id);
  }
}

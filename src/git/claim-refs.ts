/**
 * Commits that somebody claims to be the work, each under our own ref, `refs/overseer/claims/<whose>/<commit>`. A claim
 * stands on its commit: with this ref it outlives a branch that is deleted or rewound, a worktree that goes, and git's
 * own tidying. The name says everything, so keeping one twice is the same as once. When one may go is not known here.
 *
 * And merges that are made and gated but not landed yet, `refs/overseer/staged/<merge>`, so that a `git gc --prune=now` of
 * the user's in between does not lose one: a gate may take an hour. It goes when the landing has ended, however it ended.
 * One that a killed process left is taken over by the next try, or goes with the next turn of the queue when nothing
 * wants to land it.
 */
import type { GitTools } from "./git.ts";
import { changeRefs, listRefs } from "./refs.ts";

export const CLAIM_PREFIX = "refs/overseer/claims/";
/** For branches that a person brought. */
export const BY_HAND = "by-hand";

export interface ClaimRef {
  readonly ref: string;
  /** The assignment, or BY_HAND. */
  readonly whose: string;
  readonly commit: string;
}

/** Throws GIT_FAILED when there is no such commit. */
export async function keepClaimed(tools: GitTools, cwd: string, whose: string, commit: string): Promise<void> {
  await changeRefs(tools.git, cwd, [{ kind: "create", ref: `${CLAIM_PREFIX}${whose}/${commit}`, to: commit }]);
}

export async function listClaimed(tools: GitTools, cwd: string): Promise<ClaimRef[]> {
  return (await listRefs(tools.git, cwd, CLAIM_PREFIX)).flatMap(({ ref, oid }) => {
    const [whose, commit, ...rest] = ref.slice(CLAIM_PREFIX.length).split("/");
    return whose === undefined || commit !== oid || rest.length > 0 ? [] : [{ ref, whose, commit }];
  });
}

/** One that is gone already is fine. */
export async function dropClaimed(tools: GitTools, cwd: string, { ref, commit }: ClaimRef): Promise<void> {
  await changeRefs(tools.git, cwd, [{ kind: "delete", ref, from: commit }]);
}

const STAGED_PREFIX = "refs/overseer/staged/";

/** Repeatable; the last one counts. */
export async function keepStaged(tools: GitTools, cwd: string, mergeId: string, commit: string): Promise<void> {
  await changeRefs(tools.git, cwd, [{ kind: "set", ref: `${STAGED_PREFIX}${mergeId}`, to: commit }]);
}

/** Repeatable. */
export async function dropStaged(tools: GitTools, cwd: string, mergeId: string): Promise<void> {
  await changeRefs(tools.git, cwd, [{ kind: "drop", ref: `${STAGED_PREFIX}${mergeId}` }]);
}

/** Of merges that nobody wants to land any more. */
export async function sweepStaged(tools: GitTools, cwd: string, wanted: ReadonlySet<string>): Promise<void> {
  for (const { ref } of await listRefs(tools.git, cwd, STAGED_PREFIX)) {
    const id = ref.slice(STAGED_PREFIX.length);
    if (!wanted.has(id)) await dropStaged(tools, cwd, id);
  }
}

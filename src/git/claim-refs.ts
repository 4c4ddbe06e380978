/**
 * Commits that somebody claims to be the work, each under our own ref, `refs/overseer/claims/<whose>/<commit>`. A claim
 * stands on its commit: with this ref it outlives a branch that is deleted or rewound, a worktree that goes, and git's
 * own tidying. The name says everything, so keeping one twice is the same as once. When one may go is not known here.
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

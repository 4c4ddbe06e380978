/**
 * The branch in another repository: what is there, how ours stands to it, and ours sent there. Only that one branch is
 * asked for and sent, no tags, no submodules; FETCH_HEAD and everything else of the user's stays as it is. Never by
 * force: what the other side has and we have not is never overwritten. When to do any of it is act/landing/remote.ts.
 */

import type { GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { branchTip, findCommit, isMergedInto } from "./repository.ts";

export interface RemoteBranch {
  readonly remote: string;
  readonly branch: string;
}

export type Fetched =
  | { readonly kind: "fetched"; readonly commit: string }
  /** The other side is there and has no such branch yet. */
  | { readonly kind: "absent" }
  | { readonly kind: "failed"; readonly detail: string };

const NETWORK_TIMEOUT_MS = 5 * 60_000;

/** Brings the remote-tracking ref up to date. Repeatable. */
export async function fetchBranch(tools: GitTools, repository: string, where: RemoteBranch): Promise<Fetched> {
  const command = landingArgs.fetchBranchArguments(where.remote, where.branch);
  const result = await tools.git.attempt(command, { cwd: repository, timeoutMs: NETWORK_TIMEOUT_MS });
  if (result.code !== 0) {
    if (/couldn't find remote ref/.test(result.stderr)) return { kind: "absent" };
    return { kind: "failed", detail: findReason(result.stderr) };
  }
  const commit = await findCommit(tools.git, repository, trackingRef(where));
  return commit === undefined ? { kind: "absent" } : { kind: "fetched", commit };
}

/** How our branch stands to what was last fetched of it. */
export type BranchStanding = "same" | "ahead" | "behind" | "diverged";

export async function standingTo(
  tools: GitTools,
  repository: string,
  ours: string,
  theirs: string,
): Promise<BranchStanding> {
  if (ours === theirs) return "same";
  if (await isMergedInto(tools.git, repository, theirs, ours)) return "ahead";
  return (await isMergedInto(tools.git, repository, ours, theirs)) ? "behind" : "diverged";
}

/** True when the other side is known to have the commit, without asking it. */
export async function isKnownThere(
  tools: GitTools,
  repository: string,
  where: RemoteBranch,
  commit: string,
): Promise<boolean> {
  const theirs = await findCommit(tools.git, repository, trackingRef(where));
  return theirs !== undefined && isMergedInto(tools.git, repository, commit, theirs);
}

export type Pushed = { readonly kind: "pushed"; readonly commit: string } | { readonly kind: "failed"; detail: string };

/** Sends our branch as it is now; the other side only ever moves forward. Repeatable. */
export async function pushBranch(tools: GitTools, repository: string, where: RemoteBranch): Promise<Pushed> {
  const commit = await branchTip(tools, repository, where.branch);
  if (commit === undefined) return { kind: "failed", detail: `there is no branch ${where.branch}` };
  const command = landingArgs.pushBranchArguments(where.remote, commit, where.branch);
  const result = await tools.git.attempt(command, { cwd: repository, timeoutMs: NETWORK_TIMEOUT_MS });
  return result.code === 0 ? { kind: "pushed", commit } : { kind: "failed", detail: findReason(result.stderr) };
}

function trackingRef({ remote, branch }: RemoteBranch): string {
  return `refs/remotes/${remote}/${branch}`;
}

/** The line that says why, without the advice around it. */
function findReason(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim());
  const telling = lines.find((line) => /^(?:fatal|error|remote: error|!)/.test(line)) ?? lines[0];
  return (telling ?? "").slice(0, 300) || "git did not say why";
}

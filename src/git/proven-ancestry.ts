/**
 * What a branch really has on top of another. Git lists that by walking along the dates of commits, and where a clock was
 * wrong it lists commits that both have. What it does not list is right; what it lists is proven here, one by one.
 */
import type { GitTools } from "./git.ts";
import { isMergedInto } from "./repository.ts";

/** Those that are in none of the `others`, in their order. */
export async function withoutContained(
  tools: GitTools,
  repository: string,
  commits: readonly string[],
  others: readonly string[],
): Promise<string[]> {
  const kept: string[] = [];
  for (const commit of commits) if (!(await isInAny(tools, repository, commit, others))) kept.push(commit);
  return kept;
}

/**
 * How many of a line of first parents, the newest first, are in none of the `others`. Below one that is in, all are; so a
 * few questions are enough, and one where git was right.
 */
export async function countOnTop(
  tools: GitTools,
  repository: string,
  line: readonly string[],
  others: readonly string[],
): Promise<number> {
  let [out, end] = [0, line.length];
  for (let at = end - 1; out < end; at = Math.floor((out + end) / 2)) {
    const commit = line[at];
    if (commit !== undefined && (await isInAny(tools, repository, commit, others))) end = at;
    else out = at + 1;
  }
  return end;
}

async function isInAny(
  tools: GitTools,
  repository: string,
  commit: string,
  others: readonly string[],
): Promise<boolean> {
  for (const other of others) if (await isMergedInto(tools.git, repository, commit, other)) return true;
  return false;
}

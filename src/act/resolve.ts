/**
 * Bringing two sides together where git alone cannot: the tiers of MERGE-2 that run without the author. Each yields a
 * tree that is gated like any other, or nothing; none drops a side in silence.
 */
import type { MergeTier } from "#domain/merge.ts";
import type { FileChange } from "#git/landing.ts";
import type { Job } from "./land.ts";

export interface Resolved {
  readonly tree: string;
  readonly changes: readonly FileChange[];
  readonly tier: MergeTier;
}

/** In a batch only what costs nothing; a model is asked about the real target, not about what a batch may become. */
export type ResolveUpTo = "mechanical" | "all";

export async function resolveConflict(
  _job: Job,
  _from: string,
  _files: readonly string[],
  _upTo: ResolveUpTo,
): Promise<Resolved | undefined> {
  return undefined;
}

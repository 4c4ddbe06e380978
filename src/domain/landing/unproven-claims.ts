/**
 * Reports of done that were not: a check said so afterwards, a person did, or the commit was not there. What came back
 * for other reasons (a conflict with others' work, files outside of its scope) says nothing about the claim. Counted
 * from the log, for each attempt; who and in which role that was, others know.
 */
import type { EventOf } from "#domain/model/event.ts";

/** Why a claim came back, where that means that it was not so. */
const NOT_SO: ReadonlySet<string> = new Set(["checks-failed", "rejected", "commit-missing"]);

export interface ClaimCount {
  readonly claims: number;
  readonly unproven: number;
}

export const NO_CLAIMS: ClaimCount = { claims: 0, unproven: 0 };

/** By attempt. A claim that is made again is another one. */
export function countClaims(events: readonly EventOf[]): ReadonlyMap<number, ClaimCount> {
  const counts = new Map<number, ClaimCount>();
  for (const { type, attempt, because } of events) {
    if (!attempt) continue;
    const { claims, unproven } = counts.get(attempt) ?? NO_CLAIMS;
    if (type === "work.claimed") counts.set(attempt, { claims: claims + 1, unproven });
    else if (type === "work.returned" && NOT_SO.has(because)) counts.set(attempt, { claims, unproven: unproven + 1 });
  }
  return counts;
}

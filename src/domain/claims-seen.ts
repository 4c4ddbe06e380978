/** Reports of done as a tick sees them: how far each has been looked into, and whether it may land. */
import type { LandingMode } from "./landing.ts";
import type { Claim } from "./snapshot.ts";
import type { WorkNode } from "./work.ts";

export function claimsOf(nodes: readonly WorkNode[], mode: LandingMode): Claim[] {
  return nodes.flatMap((node) => {
    const { claim, goalId, workNodeId } = node;
    if (!claim || node.status !== "in_progress") return [];
    const { assignmentId, commit, verdict, approvedBy, waiting } = claim;
    // The first try to land is what puts it before a person; from then on it waits for their word.
    const mayLand = mode === "auto" || approvedBy !== null || waiting?.for !== "review";
    const state = verdict === null ? "claimed" : mayLand ? "checked" : "landing";
    return [{ assignmentId, goalId, workNodeId, commit, state, mayLand }];
  });
}

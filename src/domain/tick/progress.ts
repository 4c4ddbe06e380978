/**
 * What shows that the work of an agent progressed (HEALTH-3): changed files and commits, as its pulse has them, reports that
 * were taken, checks that were run, and of who only reads what it has found. A step that was merely completed is none.
 */
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { AgentSeen, Limits, LivenessEvidence } from "./snapshot.ts";

function progress(source: LivenessEvidence["source"], at: number | null | undefined): LivenessEvidence[] {
  return at === null || at === undefined ? [] : [{ source, says: "progress", at, reliability: "strong" }];
}

export function listPulseProgress(pulse: Pick<Pulse, "lastChangeAt" | "lastCommitAt"> | undefined): LivenessEvidence[] {
  return [...progress("tree", pulse?.lastChangeAt), ...progress("commit", pulse?.lastCommitAt)];
}

/** What the store knows of it beside the pulse's own; `reports` by the attempt's number. */
export function listRecordedProgress(
  { attempt: { attempt, goalId, workNodeId, capability }, pulse }: Pick<AgentSeen, "attempt" | "pulse">,
  { readOnly }: Pick<Limits, "readOnly">,
  reports: ReadonlyMap<number, number>,
  nodes: ReadonlyMap<string, WorkNode>,
): LivenessEvidence[] {
  const claim = nodes.get(nodeKey(goalId, workNodeId))?.claim;
  return [
    ...progress("report", reports.get(attempt)),
    ...progress("finding", readOnly.includes(capability) ? pulse?.lastFoundAt : undefined),
    ...progress("check", claim?.attempt === attempt ? claim.checkedAt : null),
  ];
}

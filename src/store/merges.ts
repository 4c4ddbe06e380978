/** Questions about the queue of branches, and about what checks have found out. */
import type { Receipt } from "#domain/model/check.ts";
import type { Merge } from "#domain/model/merge.ts";
import { isQueued } from "#domain/model/merge.ts";
import type { RecordedResolution } from "#domain/model/resolution.ts";
import type { Verdict } from "#domain/model/verdict.ts";
import { docById, docsWithPrefix } from "./by-id.ts";
import type { Query } from "./query.ts";
import { compareText, docs, listDocs } from "./query.ts";

export function mergeById(id: string): Query<Merge | undefined> {
  return docById("merge", id);
}

export function mergesWithPrefix(prefix: string, limit = 10): Query<Merge[]> {
  return docsWithPrefix("merge", prefix, limit);
}

/** Everything that has not ended, the oldest first. */
export function listQueuedMerges(): Query<Merge[]> {
  return listDocs(
    "select doc from merges where status in ('waiting', 'testing', 'parked') order by queued_at, id",
    [],
    (tables) =>
      [...tables.entities.merge.values()]
        .filter(isQueued)
        .sort((a, b) => a.queuedAt - b.queuedAt || compareText(a.mergeId, b.mergeId)),
  );
}

/** Everything that was ever on its way into a target for this node, the oldest first; reverts of it too. */
export function mergesOfNode(goalId: string, nodeId: string): Query<Merge[]> {
  return listDocs(
    "select doc from merges where goal_id = ?1 and node_id = ?2 order by queued_at, id",
    [goalId, nodeId],
    (tables) =>
      [...tables.entities.merge.values()]
        .filter((one) => one.goalId === goalId && one.workNodeId === nodeId)
        .sort((a, b) => a.queuedAt - b.queuedAt || compareText(a.mergeId, b.mergeId)),
  );
}

/** How the work of these attempts came into its target: only what has landed. */
export function listLandedMerges(limit: number): Query<Merge[]> {
  return listDocs(
    "select doc from merges where status = 'landed' order by queued_at desc, id desc limit ?1",
    [limit],
    (tables) =>
      [...tables.entities.merge.values()]
        .filter(({ status }) => status === "landed")
        .sort((a, b) => b.queuedAt - a.queuedAt || compareText(b.mergeId, a.mergeId))
        .slice(0, limit),
  );
}

export function verdictsOn(tree: string): Query<Receipt[]> {
  return {
    sql: "select doc from verdicts where tree = ?1 order by at, id",
    args: [tree],
    read: (rows) => docs<Verdict>(rows).map(({ receipt }) => receipt),
    memory: (tables) =>
      [...tables.entities.verdict.values()]
        .filter((one) => one.tree === tree)
        .sort((a, b) => a.at - b.at || compareText(a.verdictId, b.verdictId))
        .map(({ receipt }) => receipt),
  };
}

/** By the contents of the three files, as `resolutionIdOf` names them. */
export function resolutionOf(id: string): Query<RecordedResolution | undefined> {
  return docById("resolution", id);
}

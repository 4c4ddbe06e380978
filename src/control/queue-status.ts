/** The merge queue in a few numbers, for `status`: small, because status is asked again and again. */
import type { Merge } from "#domain/model/merge.ts";

/** How the queue stands, in one line of `status`. */
export interface QueueStatus {
  readonly waiting: number;
  readonly testing: number;
  readonly parked: number;
  /** The one that has waited longest; null when nothing waits. */
  readonly oldest: { readonly branch: string; readonly since: number; readonly detail: string | null } | null;
}

export function queueStatus(merges: readonly Merge[]): QueueStatus {
  const count = (status: Merge["status"]) => merges.filter((one) => one.status === status).length;
  const [first] = [...merges].sort((one, other) => one.queuedAt - other.queuedAt);
  const oldest = first ? { branch: first.branch, since: first.queuedAt, detail: first.detail } : null;
  return { waiting: count("waiting"), testing: count("testing"), parked: count("parked"), oldest };
}

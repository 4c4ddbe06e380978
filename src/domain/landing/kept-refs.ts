/**
 * When what was kept of a piece of work may go: its snapshots and the commits that were claimed for it. As long as the
 * node is open anybody may still need them; after its end they stay for as long as the configuration says. What nobody
 * knows anything about stays. Pure.
 */
import type { Merge } from "#domain/model/merge.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";

/** Whether a snapshot or a claimed commit of that node has been kept long enough. */
export function isKeptLongEnough(node: WorkNode | undefined, keepMs: number, now: number): boolean {
  return node !== undefined && !isOpen(node) && now - node.updatedAt >= keepMs;
}

/** A commit that a person brought is theirs again once it is in no queue. */
export function isBroughtStill(commit: string, queued: readonly Pick<Merge, "commit">[]): boolean {
  return queued.some((merge) => merge.commit === commit);
}

/**
 * What children say about their parent, and how far along things are. A parent is done when all its children are,
 * cancelled ones left aside; when every child was cancelled, so is the parent. Progress counts leaves: done ones
 * out of those that were not cancelled. What was cancelled or taken back is said beside it, and is no part of a whole 100 %.
 */
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { isOpen, readNoChanges, readSplit } from "#domain/model/work.ts";

/** The status the children ask for; undefined when they ask for nothing new. */
export function rollUpStatus(parent: WorkNode, children: readonly WorkNode[]): WorkStatus | undefined {
  if (!isOpen(parent) || children.length === 0) return undefined;
  if (children.every((child) => child.status === "cancelled")) return "cancelled";
  if (children.every((child) => !isOpen(child))) return "done";
  const begun = children.some((child) => child.status === "in_progress" || child.status === "done");
  if (begun && (parent.status === "todo" || parent.status === "queued")) return "in_progress";
  return undefined;
}

export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly percent: number;
  /** Leaves that were given up; absent where there are none. What needed no change or was split is not among them. */
  readonly cancelled?: number;
  /** Those of `done` whose landing a person took back; absent where there are none. */
  readonly takenBack?: number;
}

/** Leaves, counted. */
export interface LeafCounts {
  readonly done: number;
  readonly total: number;
  readonly cancelled: number;
  readonly takenBack: number;
}

/** Progress of a node over the leaves at or below it; `nodes` are all nodes of its goal. */
export function progressOf(node: WorkNode, nodes: readonly WorkNode[]): Progress {
  const below = nodes.filter((other) => other === node || other.path.startsWith(`${node.path}/`));
  return progressOfLeaves(below, node.status === "done");
}

/** Progress of a whole goal. */
export function progressOfGoal(nodes: readonly WorkNode[], completed: boolean): Progress {
  return progressOfLeaves(nodes, completed);
}

function progressOfLeaves(nodes: readonly WorkNode[], finished: boolean): Progress {
  const counted = nodes.filter((node) => node.leaf && node.status !== "cancelled");
  const done = counted.filter((node) => node.status === "done");
  const takenBack = done.filter((node) => node.takenBack !== undefined).length;
  const cancelled = nodes.filter((node) => node.leaf && isGivenUp(node)).length;
  return measureProgress({ done: done.length, total: counted.length, cancelled, takenBack }, finished);
}

function isGivenUp({ status, statusReason }: WorkNode): boolean {
  // The pieces of what was split count in its place.
  return status === "cancelled" && readNoChanges(statusReason) === undefined && readSplit(statusReason) === undefined;
}

export function measureProgress({ done, total, cancelled, takenBack }: LeafCounts, finished: boolean): Progress {
  const isWhole = cancelled === 0 && takenBack === 0;
  return {
    ...{ done, total, percent: percentOf(done - takenBack, total + cancelled, finished && isWhole) },
    ...(cancelled > 0 && { cancelled }),
    ...(takenBack > 0 && { takenBack }),
  };
}

/** "33 of 36 done; 3 cancelled; 1 taken back": those given up count among all of them. */
export function tellProgress(progress: Omit<Progress, "percent">): string {
  return [`${progress.done} of ${countAll(progress)} done`, ...listLost(progress)].join("; ");
}

/** Those given up among them, so that "1 of 2" says what was once wanted. */
export function countAll({ total, cancelled = 0 }: Omit<Progress, "percent">): number {
  return total + cancelled;
}

export function listLost({ cancelled = 0, takenBack = 0 }: Omit<Progress, "percent">): string[] {
  return [...(cancelled > 0 ? [`${cancelled} cancelled`] : []), ...(takenBack > 0 ? [`${takenBack} taken back`] : [])];
}

/** Rounded down, so that 100 % means all of it. */
export function percentOf(done: number, total: number, finished: boolean): number {
  if (finished) return 100;
  return total === 0 ? 0 : Math.floor((done * 100) / total);
}

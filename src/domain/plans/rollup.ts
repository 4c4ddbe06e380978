/**
 * What children say about their parent, and how far along things are. A parent is done when all its children are,
 * cancelled ones left aside; when every child was cancelled, so is the parent. Progress counts leaves: done ones
 * out of those that were not cancelled.
 */
import type { WorkNode, WorkStatus } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";

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
  const done = counted.filter((node) => node.status === "done").length;
  return { done, total: counted.length, percent: percentOf(done, counted.length, finished) };
}

/** Rounded down, so that 100 % means all of it. */
export function percentOf(done: number, total: number, finished: boolean): number {
  if (finished) return 100;
  return total === 0 ? 0 : Math.floor((done * 100) / total);
}

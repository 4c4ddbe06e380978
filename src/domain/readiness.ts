/**
 * When a node may be worked on: everything it depends on is done, and everything its parents depend on too. A
 * cancelled dependency does not count as done: whoever cancels it decides what becomes of those that waited.
 */
import type { WorkNode } from "./work.ts";

/** The ids a node waits for: its own and its parents' dependencies that are not done. */
export function waitsFor(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): string[] {
  const unmet: string[] = [];
  for (let at: WorkNode | undefined = node; at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
    for (const dep of at.dependsOn) {
      if (byId.get(dep)?.status !== "done" && !unmet.includes(dep)) unmet.push(dep);
    }
  }
  return unmet;
}

export function isReady(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): boolean {
  return node.status === "todo" && waitsFor(node, byId).length === 0;
}

/** Ids that wait for this one; the other end of `dependsOn`, derived and never stored. */
export function blockedBy(node: WorkNode, nodes: readonly WorkNode[]): string[] {
  return nodes.filter((other) => other.dependsOn.includes(node.workNodeId)).map((other) => other.workNodeId);
}

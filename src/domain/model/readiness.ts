/**
 * When a node may be worked on: everything it depends on is done, and everything its parents depend on too. A
 * cancelled dependency does not count as done: whoever cancels it decides what becomes of those that waited. Once a
 * parent was let continue without it, nothing below that parent waits for it any more.
 */
import type { WorkNode } from "./work.ts";

/** The ids a node waits for: its own and its parents' dependencies that are not done. */
export function waitsFor(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): string[] {
  const unmet: string[] = [];
  for (let at: WorkNode | undefined = node; at; at = at.parentId === null ? undefined : byId.get(at.parentId)) {
    const goesOn = at !== node && at.status !== "todo";
    for (const dep of at.dependsOn) {
      const status = byId.get(dep)?.status;
      if (status === "done" || (status === "cancelled" && goesOn) || unmet.includes(dep)) continue;
      unmet.push(dep);
    }
  }
  return unmet;
}

export function isReady(node: WorkNode, byId: ReadonlyMap<string, WorkNode>): boolean {
  return node.status === "todo" && waitsFor(node, byId).length === 0;
}

/** Ids that wait for this one; the other end of `dependsOn`, derived and never stored. */
export function listDependents(node: WorkNode, nodes: readonly WorkNode[]): string[] {
  return nodes.filter((other) => other.dependsOn.includes(node.workNodeId)).map((other) => other.workNodeId);
}

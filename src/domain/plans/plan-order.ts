/**
 * Tasks that share files are put one after the other where nothing else orders them: side by side they would wait for each
 * other at dispatch, in an order nobody has seen. An arrow is only added where none of the two waits for the other, so no
 * circle comes of it.
 */
import { overlap } from "#domain/core/scope.ts";
import type { PlannedNode } from "./plan.ts";

interface Placed {
  readonly id: string;
  readonly parentId: string | null;
  readonly children: readonly string[];
  readonly deps: string[];
}

interface Scoped {
  readonly id: string;
  readonly files: readonly string[];
}

/** Whoever comes later in the plan waits, unless it has begun already. */
export function putInOrder(
  phases: readonly PlannedNode[],
  settled: ReadonlySet<string>,
): { readonly phases: readonly PlannedNode[]; readonly notes: readonly string[] } {
  const graph = graphOf(phases);
  const added = new Map<string, string[]>();
  const notes: string[] = [];
  const tasks = phases.flatMap(({ children }) => children.map(scopeOf)).filter(({ files }) => files.length > 0);
  for (const [at, later] of tasks.entries()) {
    // The nearest first: what waits for that one waits for all before it.
    for (const earlier of tasks.slice(0, at).toReversed()) {
      const shared = overlap(earlier.files, later.files);
      if (!shared || waitsFor(graph, later.id, earlier.id) || waitsFor(graph, earlier.id, later.id)) continue;
      const [waits, first] = settled.has(later.id) ? [earlier, later] : [later, earlier];
      // Both have begun: dispatch keeps them apart.
      if (settled.has(waits.id)) continue;
      graph.get(waits.id)?.deps.push(first.id);
      added.set(waits.id, [...(added.get(waits.id) ?? []), first.id]);
      const file = shared[0].length >= shared[1].length ? shared[0] : shared[1];
      notes.push(`${waits.id} waits for ${first.id}: both change ${file}.`);
    }
  }
  if (added.size === 0) return { phases, notes };
  const withAdded = (node: PlannedNode): PlannedNode => {
    const more = added.get(node.id);
    return more === undefined ? node : { ...node, deps: [...node.deps, ...more] };
  };
  return { phases: phases.map((phase) => ({ ...phase, children: phase.children.map(withAdded) })), notes };
}

/** A task's files and those of its steps: one agent does them. */
function scopeOf(task: PlannedNode): Scoped {
  return { id: task.id, files: listWithSteps(task).flatMap(({ hints }) => hints.files ?? []) };
}

function listWithSteps(node: PlannedNode): PlannedNode[] {
  return [node, ...node.children.flatMap(listWithSteps)];
}

function graphOf(phases: readonly PlannedNode[]): Map<string, Placed> {
  const graph = new Map<string, Placed>();
  const visit = (node: PlannedNode, parentId: string | null): void => {
    graph.set(node.id, { id: node.id, parentId, children: node.children.map(({ id }) => id), deps: [...node.deps] });
    for (const child of node.children) visit(child, node.id);
  };
  for (const phase of phases) visit(phase, null);
  return graph;
}

/** Does the one begin only when the other has ended? A node ends when its children have, and begins after its parent. */
function waitsFor(graph: ReadonlyMap<string, Placed>, id: string, other: string): boolean {
  const seen = new Set<string>();
  const open = [`s:${id}`];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === `e:${other}`) return true;
    const node = seen.has(at) ? undefined : graph.get(at.slice(2));
    seen.add(at);
    if (!node) continue;
    if (at.startsWith("e:")) open.push(`s:${node.id}`, ...node.children.map((child) => `e:${child}`));
    else open.push(...node.deps.map((dep) => `e:${dep}`), ...(node.parentId === null ? [] : [`s:${node.parentId}`]));
  }
  return false;
}

/**
 * Tasks of a plan that have files in common and that nothing puts in order: they are not done side by side, and whoever
 * gives the plan hears it. Tasks that wait for each other anyway are not told.
 */
import { overlap } from "#domain/core/scope.ts";
import type { NodeDefinition } from "#domain/model/work.ts";

export interface SharedFiles {
  readonly one: string;
  readonly other: string;
  /** Where the two overlap, as each has it. */
  readonly files: readonly [string, string];
}

/** So many are told; more say the same thing again. */
const MOST_TOLD = 20;

export function findSharedFiles(nodes: ReadonlyMap<string, NodeDefinition>): readonly SharedFiles[] {
  const scoped = [...nodes].filter(([, { hints }]) => (hints.files ?? []).length > 0);
  const found: SharedFiles[] = [];
  for (const [index, [one, definition]] of scoped.entries()) {
    for (const [other, candidate] of scoped.slice(index + 1)) {
      const files = overlap(definition.hints.files ?? [], candidate.hints.files ?? []);
      if (!files || isInside(definition, candidate) || isInside(candidate, definition)) continue;
      if (waitsForOther(one, candidate, nodes) || waitsForOther(other, definition, nodes)) continue;
      found.push({ one, other, files });
      if (found.length === MOST_TOLD) return found;
    }
  }
  return found;
}

function isInside(one: NodeDefinition, other: NodeDefinition): boolean {
  return one.path.startsWith(`${other.path}/`);
}

/** Whether it begins only after the other has ended, by what it and its parents depend on. */
function waitsForOther(id: string, other: NodeDefinition, nodes: ReadonlyMap<string, NodeDefinition>): boolean {
  const seen = new Set<string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const definition = nodes.get(at);
    if (!definition) continue;
    for (const dependency of definition.dependsOn) {
      const wanted = nodes.get(dependency);
      if (wanted && (wanted.path === other.path || isInside(other, wanted))) return true;
      open.push(dependency);
    }
    if (definition.parentId !== null) open.push(definition.parentId);
  }
  return false;
}

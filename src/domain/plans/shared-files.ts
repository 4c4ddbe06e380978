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
  const scoped = [...nodes].flatMap(([id, definition]) => {
    const files = definition.hints.files ?? [];
    return files.length === 0
      ? []
      : [{ id, definition, files, begins: files.map(takeFixedPart), waits: lazily(id, nodes) }];
  });
  const found: SharedFiles[] = [];
  for (const [index, one] of scoped.entries()) {
    for (let at = index + 1; at < scoped.length; at += 1) {
      const other = scoped[at];
      // A plan may have a thousand nodes with ten patterns each: most pairs differ in how they begin.
      if (!other || !one.begins.some((left) => other.begins.some((right) => meet(left, right)))) continue;
      if (isInside(one.definition, other.definition) || isInside(other.definition, one.definition)) continue;
      if (waitsFor(one.waits(), other.definition) || waitsFor(other.waits(), one.definition)) continue;
      const files = overlap(one.files, other.files);
      if (!files) continue;
      found.push({ one: one.id, other: other.id, files });
      if (found.length === MOST_TOLD) return found;
    }
  }
  return found;
}

/** What stands before the first sign that may mean something else. */
function takeFixedPart(path: string): string {
  const at = path.search(/[*?]/);
  return at < 0 ? path : path.slice(0, at);
}

function meet(left: string, right: string): boolean {
  return left.startsWith(right) || right.startsWith(left);
}

function waitsFor(paths: ReadonlySet<string>, other: NodeDefinition): boolean {
  for (let path = other.path; path !== ""; path = path.slice(0, Math.max(0, path.lastIndexOf("/")))) {
    if (paths.has(path)) return true;
  }
  return false;
}

/** Looked for once for each node, however many it is compared with. */
function lazily(id: string, nodes: ReadonlyMap<string, NodeDefinition>): () => ReadonlySet<string> {
  let known: ReadonlySet<string> | undefined;
  return () => {
    known ??= pathsWaitedFor(id, nodes);
    return known;
  };
}

function isInside(one: NodeDefinition, other: NodeDefinition): boolean {
  return one.path.startsWith(`${other.path}/`);
}

/** The paths of all that have ended before it begins, by what it and its parents depend on. */
function pathsWaitedFor(id: string, nodes: ReadonlyMap<string, NodeDefinition>): Set<string> {
  const paths = new Set<string>();
  const seen = new Set<string>();
  const open = [id];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const definition = seen.has(at) ? undefined : nodes.get(at);
    seen.add(at);
    if (!definition) continue;
    for (const dependency of definition.dependsOn) {
      const wanted = nodes.get(dependency);
      if (wanted) paths.add(wanted.path);
      open.push(dependency);
    }
    if (definition.parentId !== null) open.push(definition.parentId);
  }
  return paths;
}

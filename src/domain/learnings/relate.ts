/**
 * Whom a learning concerns (SYNC-2): agents that share a tag with whoever found it (their own, their node's, their
 * goal's), that have the same parent (the agent that asked for them, or the node above theirs), or that are at work in
 * the same directories. Each of these is a key; who shares one is related. So finding those concerned among thousands is
 * a look-up and not a comparison with each.
 */
import { normalScope } from "#domain/core/scope.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Learning } from "#domain/model/learning.ts";
import { nodeOfAttempt } from "#domain/model/learning.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";

/** An attempt as learnings see it: who it is, and what it is near to. */
export interface Party extends Pick<Attempt, "agent" | "attempt" | "goalId" | "workNodeId" | "assignmentId"> {
  /** The node it works on (nodeKey). */
  readonly node: string;
  readonly tags: readonly string[];
  readonly parent: number | null;
  /** The node above its own (nodeKey). */
  readonly parentNode: string | null;
  /** Directories it is at work in: its scope, and where it wrote lately. */
  readonly near: readonly string[];
  /** Attempts whose session or conversation it continues: what they know it knows. */
  readonly heirOf: readonly number[];
}

export function partyOf(
  attempt: Attempt,
  node: Pick<WorkNode, "tags" | "parentId"> | undefined,
  goal: Pick<Goal, "tags"> | undefined,
): Party {
  const { agent, goalId, workNodeId, assignmentId, scope, continues, follows } = attempt;
  return {
    ...{ agent, attempt: attempt.attempt, goalId, workNodeId, assignmentId },
    node: nodeOfAttempt(attempt),
    tags: unique([...attempt.tags, ...(node?.tags ?? []), ...(goal?.tags ?? [])]),
    parent: attempt.parent?.attempt ?? null,
    parentNode: node?.parentId ? nodeKey(goalId, node.parentId) : null,
    near: unique((scope ?? []).flatMap((path) => placeOf(path) ?? [])),
    heirOf: [continues, follows?.attempt].flatMap((one) => one ?? []),
  };
}

/** The same one with the files it was seen to write, relative to its worktree. */
export function partyNear(party: Party, touched: readonly string[], worktree: string): Party {
  if (touched.length === 0) return party;
  const directories = touched.flatMap((path) => {
    const inside = path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : path;
    return directoryOf(inside) ?? [];
  });
  return { ...party, near: unique([...party.near, ...directories]) };
}

/** A path of a scope up to its first pattern; undefined where nothing but the root is left. */
export function placeOf(path: string): string | undefined {
  const parts = (normalScope(path) ?? "").split("/");
  const pattern = parts.findIndex((part) => /[*?]/.test(part));
  const plain = (pattern < 0 ? parts : parts.slice(0, pattern)).join("/");
  return plain === "" ? undefined : plain;
}

/** The directory of a file; the root says nothing. */
function directoryOf(path: string): string | undefined {
  const normal = normalScope(path);
  const end = normal?.lastIndexOf("/") ?? -1;
  return normal === undefined || end <= 0 ? undefined : normal.slice(0, end);
}

/** A top-level directory is too large a place to say that one below it is near. */
const SHALLOWEST = 2;

/** The directories above a place that are no top-level ones, the place itself not among them. */
function listAbove(place: string): string[] {
  const parts = place.split("/");
  return parts.slice(SHALLOWEST).map((_, index) => parts.slice(0, index + SHALLOWEST).join("/"));
}

/** The keys under which a party is found. */
export function keysOfParty({
  tags,
  parent,
  parentNode,
  near,
}: Pick<Party, "tags" | "parent" | "parentNode" | "near">): string[] {
  return unique([
    ...tags.map((tag) => `tag ${tag}`),
    ...(parent === null ? [] : [`parent ${parent}`]),
    ...(parentNode === null ? [] : [`beside ${parentNode}`]),
    ...near.flatMap((place) => [`at ${place}`, `in ${place}`, ...listAbove(place).map((above) => `in ${above}`)]),
  ]);
}

/** The keys by which a learning looks for those it concerns. */
export function keysOfLearning(
  learning: Pick<Learning, "tags" | "parent" | "parentNode" | "near" | "paths">,
): string[] {
  const places = [...learning.near, ...learning.paths.flatMap((path) => directoryOf(path) ?? [])];
  return unique([
    ...learning.tags.map((tag) => `tag ${tag}`),
    ...(learning.parent === null ? [] : [`parent ${learning.parent}`]),
    ...(learning.parentNode === null ? [] : [`beside ${learning.parentNode}`]),
    ...places.flatMap((place) => [`in ${place}`, ...listAbove(place).map((above) => `at ${above}`)]),
  ]);
}

export function doesConcern(learning: Learning, party: Party): boolean {
  const keys = new Set(keysOfParty(party));
  return keysOfLearning(learning).some((key) => keys.has(key));
}

/** Whoever found it, or found it too: any attempt on their nodes, and whoever continues their sessions. */
export function isWitness({ foundBy, confirmations }: Learning, party: Party): boolean {
  return [foundBy, ...confirmations].some(
    ({ attempt, node }) => node === party.node || (attempt > 0 && party.heirOf.includes(attempt)),
  );
}

/** An agent on this node was told already, in whichever way. */
export function wasTold({ recipients }: Learning, party: Party): boolean {
  return recipients.some(({ node, attempt }) => node === party.node || party.heirOf.includes(attempt));
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}

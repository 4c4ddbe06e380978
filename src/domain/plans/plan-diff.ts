/**
 * What a plan changes against the work that a goal has: for whoever decides about it, before anything is stored. What would be
 * accepted, and what refused, is decided in plan.ts; this says the same in detail.
 */
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { ExecutionHints, NodeDefinition, WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";
import { definePlan, type PlannedNode } from "./plan.ts";

/** A text is a list of one; what is not said is an empty one. */
export interface FieldChange {
  readonly field: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface ChangedNode {
  readonly node: WorkNode;
  readonly fields: readonly FieldChange[];
  /** Who works on it, or that it is reported done; null where it is neither. */
  readonly inFlight: string | null;
}

export interface PlanChanges {
  readonly added: readonly { readonly id: string; readonly name: string; readonly parentId: string | null }[];
  readonly changed: readonly ChangedNode[];
  /** Open, and no longer in the plan: it would be cancelled. */
  readonly leftOut: readonly Omit<ChangedNode, "fields">[];
  /** Open, and as it was; perhaps at another place among its neighbours. */
  readonly kept: readonly string[];
  /** Done or cancelled, and as it was, whether the plan names it or not. */
  readonly finished: readonly string[];
  /** Done or cancelled, and the plan has it otherwise: as a whole it would be refused. */
  readonly refused: readonly Omit<ChangedNode, "inFlight">[];
  /** Named by the plan and cancelled before: under their ids they are not done any more. */
  readonly stayCancelled: readonly string[];
}

export interface DiffAround {
  /** Those of the goal, which its work inherits. */
  readonly tags?: readonly string[];
  readonly attempts?: readonly Attempt[];
}

export function diffPlan(
  existing: readonly WorkNode[],
  phases: readonly PlannedNode[],
  { tags = [], attempts = [] }: DiffAround = {},
): PlanChanges {
  const known = new Map(existing.map((node) => [node.workNodeId, node]));
  const wanted = definePlan(phases, tags);
  const named = new Set(wanted.map(({ id }) => id));
  const compared = wanted.flatMap(({ id, definition }) => {
    const node = known.get(id);
    return node ? [{ node, fields: compareFields(node, definition), inFlight: findInFlight(node, attempts) }] : [];
  });
  const differing = compared.filter(({ fields }) => fields.length > 0);
  const touched = new Set(differing.map(({ node }) => node.workNodeId));
  return {
    added: wanted.flatMap(({ id, definition: { name, parentId } }) => (known.has(id) ? [] : [{ id, name, parentId }])),
    changed: differing.filter(({ node }) => isOpen(node)),
    leftOut: existing
      .filter((node) => isOpen(node) && !named.has(node.workNodeId))
      .map((node) => ({ node, inFlight: findInFlight(node, attempts) })),
    kept: compared.flatMap(({ node, fields }) => (isOpen(node) && fields.length === 0 ? [node.workNodeId] : [])),
    finished: existing.flatMap((node) => (isOpen(node) || touched.has(node.workNodeId) ? [] : [node.workNodeId])),
    refused: differing.flatMap(({ node, fields }) => (isOpen(node) ? [] : [{ node, fields }])),
    stayCancelled: compared.flatMap(({ node }) => (node.status === "cancelled" ? [node.workNodeId] : [])),
  };
}

function findInFlight({ goalId, workNodeId, claim }: WorkNode, attempts: readonly Attempt[]): string | null {
  const agent = attempts.find((one) => isLiving(one) && one.goalId === goalId && one.workNodeId === workNodeId);
  if (agent) return attemptLabel(agent);
  return claim ? "reported done" : null;
}

/** Under the names that a plan has for them. What only follows from the rest of the plan is no field. */
function compareFields(node: WorkNode, wanted: NodeDefinition): FieldChange[] {
  const texts = (definition: NodeDefinition): [field: string, value: readonly string[]][] => [
    ["name", says(definition.name)],
    ["parent", definition.parentId === null ? [] : [definition.parentId]],
    ["objective", says(definition.objective)],
    ["outcome", says(definition.expectedOutcome)],
    ["acceptance", definition.acceptanceCriteria],
    ["definitionOfDone", says(definition.definitionOfDone)],
    ["deps", definition.dependsOn],
    // Inherited from the goal, whose tags may have changed since.
    ...(isOpen(node) ? [["tags", definition.tags] as [string, readonly string[]]] : []),
  ];
  const after = texts(wanted);
  const own = texts(node).map(([field, before], index) => ({ field, before, after: after[index]?.[1] ?? [] }));
  const keys = [
    ...new Set([...Object.keys(node.hints), ...Object.keys(wanted.hints)]),
  ].sort() as (keyof ExecutionHints)[];
  const hints = keys.map((field) => ({
    ...{ field, before: listHint(node.hints[field]), after: listHint(wanted.hints[field]) },
  }));
  return [...own, ...hints].filter(({ before, after: then }) => JSON.stringify(before) !== JSON.stringify(then));
}

function says(text: string): readonly string[] {
  return text === "" ? [] : [text];
}

function listHint(value: ExecutionHints[keyof ExecutionHints]): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  return [typeof value === "string" ? value : JSON.stringify(value)];
}

/**
 * Plans and work nodes as each other: the nodes of a goal as the plan they would be written as, and a plan as plain values
 * in the shape of a plan file. What is read back from it is the same plan.
 */
import type { WorkNode } from "#domain/model/work.ts";
import type { PlannedNode } from "./plan.ts";

/** The nodes of a goal as a plan, in their order. */
export function toPlannedNodes(nodes: readonly WorkNode[]): PlannedNode[] {
  const below = Map.groupBy(nodes, ({ parentId }) => parentId);
  const visit = (node: WorkNode): PlannedNode => ({
    id: node.workNodeId,
    name: node.name,
    objective: node.objective,
    expectedOutcome: node.expectedOutcome,
    acceptance: node.acceptanceCriteria,
    definitionOfDone: node.definitionOfDone,
    deps: node.dependsOn,
    blocks: [],
    hints: node.hints,
    tags: [],
    children: inOrder(below.get(node.workNodeId) ?? []).map(visit),
  });
  return inOrder(below.get(null) ?? []).map(visit);
}

function inOrder(nodes: readonly WorkNode[]): WorkNode[] {
  return nodes.toSorted((one, other) => one.position - other.position);
}

/** Phases, tasks and subtasks together. */
export function countNodes(nodes: readonly PlannedNode[]): number {
  return nodes.reduce((sum, { children }) => sum + 1 + countNodes(children), 0);
}

/** What a plan file may say of a goal. */
interface PlanHead {
  readonly title?: string;
  readonly successCriteria?: readonly string[];
  readonly constraints?: readonly string[];
}

/** A proposed plan is stored as it is written; what is longer would be stored cut, and could not be read again. */
export const LONGEST_PROPOSAL = 400 * 1024;

const LEVELS = ["tasks", "subtasks"] as const;

type Values = Readonly<Record<string, unknown>>;

/**
 * As it would stand in a file: only what is said, each thing under one name, and only what a model may say in a plan.
 * `listMore`: what else stands at a node.
 */
export function toPlanValues(
  phases: readonly PlannedNode[],
  goal: PlanHead = {},
  listMore: (node: PlannedNode) => Values = () => ({}),
): Values {
  const head = Object.keys(goal).length === 0 ? {} : { goal };
  return { planVersion: 1, ...head, phases: phases.map((phase) => toValues(phase, 0, listMore)) };
}

function toValues(node: PlannedNode, depth: number, listMore: (node: PlannedNode) => Values): Values {
  const { hints, children } = node;
  const level = LEVELS[depth];
  return {
    id: node.id,
    name: node.name,
    ...(node.objective === "" ? {} : { objective: node.objective }),
    ...(node.expectedOutcome === "" ? {} : { outcome: node.expectedOutcome }),
    acceptance: node.acceptance,
    ...(node.definitionOfDone === "" ? {} : { definitionOfDone: node.definitionOfDone }),
    ...(node.deps.length === 0 ? {} : { deps: node.deps }),
    // A phase has no files of its own.
    ...(hints.files === undefined || depth === 0 ? {} : { files: hints.files }),
    ...(hints.capability === undefined ? {} : { capability: hints.capability }),
    ...(hints.checks === undefined ? {} : { checks: hints.checks }),
    ...listMore(node),
    ...(children.length === 0 || level === undefined
      ? {}
      : { [level]: children.map((child) => toValues(child, depth + 1, listMore)) }),
  };
}

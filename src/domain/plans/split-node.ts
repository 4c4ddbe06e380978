/**
 * Splitting a leaf that nobody gets done into smaller ones (PLAN-3): whether it may be split, what is wrong with an
 * answer, and the revision of the plan that follows. The pieces are new nodes beside the old one, under ids that nobody
 * had; they take over its scope, tags, role, limits and what it waited for, and what waited for it waits for all of them.
 * Nothing that has ended and nothing that is at work elsewhere is touched. Who asks a model is act/planning; when, is
 * domain/tick/replan.ts.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { inScope, normalScope } from "#domain/core/scope.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { ExecutionHints, NodeDefinition, WorkNode } from "#domain/model/work.ts";
import { isOpen, NODE_ID, nodeEvent, nodeKey, SPLIT_INTO, takeDefinition } from "#domain/model/work.ts";
import { problemsOfWording } from "./judge-plan.ts";
import { MAX_NODES, type PlanLimits, type PlannedNode, type PlanProvenance } from "./plan.ts";

/** One smaller piece, as somebody proposes it. */
export interface SplitPart {
  readonly name: string;
  readonly objective: string;
  readonly expectedOutcome: string;
  readonly acceptance: readonly string[];
  /** Which of the scope it needs; all of it where nothing is said. */
  readonly files: readonly string[];
  /** The numbers of those before it, beginning with 1, that have to be done first. */
  readonly after: readonly number[];
}

export interface SplitLimits {
  /** How often the work of one node may be split in all, its pieces and theirs included. */
  readonly replansPerNode: number;
  readonly plan: PlanLimits;
}

const LEAST_PARTS = 2;
/** More at once is no split but another plan. */
const MOST_PARTS = 7;
const MOST_WORDS = { name: 120, text: 4_000, criterion: 500, criteria: 20 } as const;

/** How many pieces one node may become. */
export function limitParts(node: Pick<WorkNode, "kind">, { plan }: SplitLimits): number {
  const configured = node.kind === "subtask" ? plan.maxSubtasksPerTask : plan.maxTasksPerPhase;
  return Math.max(LEAST_PARTS, Math.min(MOST_PARTS, configured));
}

/** How often the work that this node is, or is a part of, was split so far. */
export function countSplits(node: WorkNode, nodes: readonly WorkNode[]): number {
  const root = rootOf(node);
  const split = new Set<string>();
  for (const other of nodes) {
    const from = other.splitFrom?.at(-1);
    if (from !== undefined && rootOf(other) === root) split.add(from);
  }
  return split.size;
}

function rootOf({ workNodeId, splitFrom }: WorkNode): string {
  return splitFrom?.[0] ?? workNodeId;
}

/** Why its work cannot be split, as a clause; undefined where it can. */
export function reasonAgainstSplit(
  goal: Goal,
  node: WorkNode,
  nodes: readonly WorkNode[],
  replansPerNode: number,
): string | undefined {
  if (goal.status !== "active") return `its goal is ${goal.status}`;
  // One that failed leads nowhere by itself; what is asked for or waits for a person would be made on another plan.
  if (goal.planning && goal.planning.status !== "failed") return "another plan for its goal is under way";
  if (!isOpen(node)) return `it is ${node.status}`;
  if (node.claim) return "it is reported done";
  if (!node.leaf) return "it has parts of its own already";
  if (node.kind === "phase") return "it is a phase";
  const splits = countSplits(node, nodes);
  if (splits < replansPerNode) return undefined;
  const how = splits === 0 ? "is not split" : `was split ${splits === 1 ? "once" : `${splits} times`}`;
  return `its work ${how}, and planner.replansPerNode allows no more`;
}

/** What is wrong with an answer, each as a sentence for whoever gave it. */
export function problemsOfSplit(node: WorkNode, parts: readonly SplitPart[], limits: SplitLimits): string[] {
  const problems: string[] = [];
  const most = limitParts(node, limits);
  if (parts.length < LEAST_PARTS) problems.push("There have to be at least two parts.");
  if (parts.length > most) problems.push(`There are ${parts.length} parts; ${most} is the limit.`);
  for (const [index, part] of parts.slice(0, most).entries()) problems.push(...problemsOfPart(node, part, index + 1));
  return problems;
}

function problemsOfPart({ hints: { files: scope } }: WorkNode, part: SplitPart, number: number): string[] {
  const problems: string[] = [];
  const say = (what: string) => problems.push(`Part ${number} ${what}`);
  const { name, objective, expectedOutcome, acceptance, files, after } = part;
  if (name.trim() === "") say("has no name.");
  if (name.length > MOST_WORDS.name) say(`has a name of ${name.length} characters; ${MOST_WORDS.name} is the limit.`);
  if (objective.trim() === "") say("has no objective.");
  const longest = Math.max(objective.length, expectedOutcome.length);
  if (longest > MOST_WORDS.text) say(`is described in ${longest} characters; ${MOST_WORDS.text} is the limit.`);
  if (!acceptance.some((one) => one.trim() !== "")) say("has no acceptance criteria.");
  if (acceptance.length > MOST_WORDS.criteria) {
    say(`has ${acceptance.length} acceptance criteria; ${MOST_WORDS.criteria} is the limit.`);
  }
  if (acceptance.some((one) => one.length > MOST_WORDS.criterion)) {
    say(`has an acceptance criterion of more than ${MOST_WORDS.criterion} characters.`);
  }
  if (files.length > 0 && scope === undefined) say("names files, but the task has none to itself: leave them out.");
  for (const file of files) {
    if (scope === undefined || scope.includes(normalScope(file) ?? "") || inScope(file, scope)) continue;
    say(`names "${file.slice(0, 80)}", which is not in the scope of the task.`);
  }
  for (const before of after) {
    if (!Number.isInteger(before) || before < 1 || before >= number) {
      say(`comes after part ${before}: only parts before it can be named.`);
    }
  }
  return [...problems, ...problemsOfWording(toPlanned(part, number))];
}

/** As nodes of any plan are judged. */
function toPlanned({ name, objective, expectedOutcome, acceptance, files }: SplitPart, number: number): PlannedNode {
  return {
    ...{ id: `Part ${number}`, name, objective, expectedOutcome, acceptance, hints: { files } },
    ...{ definitionOfDone: "", deps: [], blocks: [], tags: [], children: [] },
  };
}

/** Who was stuck on it, at which revision of the plan, when the model was asked. */
export interface SplitOrder {
  readonly nodeId: string;
  /** The revision that the answer was made on. */
  readonly base: number;
  /** Why it was stuck, as a clause. */
  readonly because: string;
}

export interface SplitNode {
  readonly revision: number;
  readonly ids: readonly string[];
}

/** The revision that puts the parts in the place of the node; refused where the plan is another by now. */
export function splitNode(
  goal: Goal,
  nodes: readonly WorkNode[],
  order: SplitOrder,
  parts: readonly SplitPart[],
  limits: SplitLimits,
  provenance: Omit<PlanProvenance, "change">,
  moment: Moment,
): Decision<SplitNode> {
  const node = nodes.find((one) => one.workNodeId === order.nodeId);
  const stale = (why: string) =>
    refuse("conflict", "SPLIT_STALE", `${nodeKey(goal.goalId, order.nodeId)} is not split: ${why}.`, "Nothing to do.");
  if (!node) return stale("it is gone");
  if (goal.plan.length !== order.base) return stale(`the plan has become revision ${goal.plan.length} meanwhile`);
  const against = reasonAgainstSplit(goal, node, nodes, limits.replansPerNode);
  if (against !== undefined) return stale(against);
  const [problem] = problemsOfSplit(node, parts, limits);
  if (problem !== undefined) return refuse("usage", "SPLIT_INVALID", problem, "Answer again.");
  if (nodes.length + parts.length > MAX_NODES) return stale(`the plan has ${nodes.length} nodes already`);
  const ids = chooseIds(node.workNodeId, parts.length, new Set(nodes.map(({ workNodeId }) => workNodeId)));
  if (ids.some((id) => !NODE_ID.test(id))) return stale("its id is too long for parts of it");
  const revision = goal.plan.length + 1;
  const because = "plan-revised";
  const change = `${node.workNodeId} was stuck (${order.because}); ${SPLIT_INTO} ${ids.join(", ")}`;
  const nodeCount = nodes.filter(({ status }) => status !== "cancelled").length + parts.length - 1;
  const added = parts.map((part, index): NewEvent => {
    const definition = definePart(node, part, ids, index);
    const id = { goalId: goal.goalId, workNodeId: ids[index] ?? "" };
    return nodeEvent(id, moment, "work.added", because, { ...definition, revision });
  });
  return accept(
    [
      {
        type: "plan.accepted",
        actor: moment.actor,
        goalId: goal.goalId,
        because,
        data: { ...provenance, change, revision, nodeCount },
      },
      ...added,
      ...listWaiting(node, nodes).map((one) => {
        const definition = { ...takeDefinition(one), dependsOn: replaceDependency(one.dependsOn, node, ids) };
        return nodeEvent(one, moment, "work.redefined", because, { definition, revision });
      }),
      nodeEvent(node, moment, "work.cancelled", "split", { reason: `${SPLIT_INTO} ${ids.join(", ")}` }),
    ],
    { revision, ids },
  );
}

/**
 * Those that have not begun, and open ones with parts that may not have: whoever is at work although it was to wait, or
 * has ended, stays as it is.
 */
function listWaiting({ workNodeId }: WorkNode, nodes: readonly WorkNode[]): WorkNode[] {
  const waits = (one: WorkNode) => one.status === "todo" || (isOpen(one) && !one.leaf);
  return nodes.filter((one) => waits(one) && one.dependsOn.includes(workNodeId));
}

function replaceDependency(dependsOn: readonly string[], { workNodeId }: WorkNode, ids: readonly string[]): string[] {
  return [...new Set(dependsOn.flatMap((id) => (id === workNodeId ? ids : [id])))];
}

/** `T3.a`, `T3.b`, …: ids that nobody has or had. */
function chooseIds(of: string, count: number, taken: ReadonlySet<string>): string[] {
  const ids: string[] = [];
  for (let number = 0; ids.length < count; number += 1) {
    const id = `${of}.${nameLetter(number)}`;
    if (!taken.has(id)) ids.push(id);
  }
  return ids;
}

function nameLetter(number: number): string {
  const letter = String.fromCharCode("a".charCodeAt(0) + (number % 26));
  return number < 26 ? letter : `${letter}${Math.floor(number / 26)}`;
}

function definePart(node: WorkNode, part: SplitPart, ids: readonly string[], index: number): NodeDefinition {
  const id = ids[index] ?? "";
  const { workNodeId, kind, parentId, path, position, definitionOfDone, dependsOn, tags } = node;
  return {
    ...{ kind, parentId, definitionOfDone, tags },
    path: `${path.slice(0, path.length - workNodeId.length)}${id}`,
    // Of one place nodes are listed by their ids: the parts follow what they were split from.
    position,
    leaf: true,
    name: part.name.trim(),
    objective: part.objective.trim(),
    expectedOutcome: part.expectedOutcome.trim(),
    acceptanceCriteria: part.acceptance.map((one) => one.trim()).filter((one) => one !== ""),
    dependsOn: [...new Set([...dependsOn, ...part.after.map((number) => ids[number - 1] ?? "")])],
    hints: takeHints(node.hints, part.files),
    splitFrom: [...(node.splitFrom ?? []), workNodeId],
  };
}

/** Whose work it is and within which limits; a name for its agent and how much work it is were said of the whole. */
function takeHints(
  { suggestedAgentId: _name, estimatedEffort: _effort, ...hints }: ExecutionHints,
  files: readonly string[],
): ExecutionHints {
  const narrowed = [...new Set(files.flatMap((file) => normalScope(file) ?? []))];
  return { ...hints, ...(hints.files !== undefined && narrowed.length > 0 ? { files: narrowed } : {}) };
}

/**
 * A plan: phases → tasks → subtasks, as a person or a model wrote it. Here it is judged (limits, ids, dependencies,
 * cycles, empty phases) and turned into events. A second plan for the same goal is a revision: new ids are added,
 * changed ones redefined, missing open ones cancelled; what is finished is never touched.
 * The shape of the file itself (types, unknown keys) is checked at the door, in planner/plan-file.ts.
 */
import type { Moment } from "#domain/core/actor.ts";
import { nearest } from "#domain/core/nearest.ts";
import { refuse } from "#domain/core/refusal.ts";
import { normalScope } from "#domain/core/scope.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal, PlanRevision } from "#domain/model/goal.ts";
import type { ExecutionHints, NodeDefinition, NodeKind, WorkNode } from "#domain/model/work.ts";
import { isOpen, NODE_ID, nodeEvent } from "#domain/model/work.ts";
import { findSharedFiles, type SharedFiles } from "./shared-files.ts";

export interface PlannedNode {
  readonly id: string;
  readonly name: string;
  readonly objective: string;
  readonly expectedOutcome: string;
  readonly acceptance: readonly string[];
  readonly definitionOfDone: string;
  readonly deps: readonly string[];
  /** The same arrows from the other end: those wait for this one. */
  readonly blocks: readonly string[];
  readonly hints: ExecutionHints;
  readonly tags: readonly string[];
  readonly children: readonly PlannedNode[];
}

export interface PlanLimits {
  readonly maxPhases: number;
  readonly maxTasksPerPhase: number;
  readonly maxSubtasksPerTask: number;
  readonly maxNodes?: number;
}

export const DEFAULT_PLAN_LIMITS: PlanLimits = { maxPhases: 5, maxTasksPerPhase: 7, maxSubtasksPerTask: 7 };

/** A person may write a plan of any shape; only its size has a limit. */
export const MAX_NODES = 1_000;
export const PERSONS_PLAN_LIMITS: PlanLimits = {
  maxPhases: MAX_NODES,
  maxTasksPerPhase: MAX_NODES,
  maxSubtasksPerTask: MAX_NODES,
  maxNodes: MAX_NODES,
};

export interface PlanProvenance
  extends Pick<PlanRevision, "source" | "model" | "promptId" | "promptHash" | "ownPrompt" | "inputs" | "notes"> {
  readonly rejected: readonly string[];
  readonly raw: string;
  /** Why there is a new revision; the first needs none. */
  readonly change: string;
}

const KIND_OF_DEPTH: readonly NodeKind[] = ["phase", "task", "subtask"];

/** Something wrong with a plan, and where: which node, by its place among its siblings at each level, and what of it. */
export interface PlanProblem {
  /** `[0, 2]` is the third task of the first phase; empty is the plan itself. */
  readonly node: readonly number[];
  readonly field: "id" | "name" | "objective" | "acceptance" | "deps" | "blocks" | "files" | "children" | ChosenName;
  /** Which of a list. */
  readonly index?: number;
  readonly text: string;
}

/** What a node chooses by a name that has to be known here. */
export type ChosenName = "capability" | "runtime" | "checks";

/** What ids of other things begin with: a name that begins so is looked for among those. */
const TAKEN: Readonly<Record<string, string>> = {
  M_: "a landing",
  m_: "a message",
  q_: "a question",
  A_: "an assignment",
  goal_: "a goal",
};

/**
 * Every problem of the plan, in the order a reader meets them; empty when it is sound. `kept`: ids that the goal has;
 * `done`: those of them that are done, which a plan may leave out and still name.
 */
export function problemsOfPlan(
  phases: readonly PlannedNode[],
  limits: PlanLimits,
  kept: ReadonlySet<string> = new Set(),
  done: ReadonlySet<string> = new Set(),
): PlanProblem[] {
  const problems: PlanProblem[] = [...problemsOfSize(phases, limits)];
  const all = flatten(phases, []);
  const seen = new Set<string>();
  for (const { node, at, definition } of all) {
    const id = clipId(node.id);
    const say = (field: PlanProblem["field"], text: string, index?: number) =>
      problems.push({ node: at, field, text, ...(index === undefined ? {} : { index }) });
    if (!NODE_ID.test(node.id)) {
      say("id", `"${id}" is not an id: letters, digits, dot, dash and underscore, at most 64 characters.`);
    }
    const taken = kept.has(node.id) ? undefined : Object.keys(TAKEN).find((one) => node.id.startsWith(one));
    if (taken !== undefined) {
      say("id", `The id ${id} would be taken for ${TAKEN[taken]}: no id of a plan begins with ${taken}`);
    }
    if (seen.has(node.id)) say("id", `The id ${id} is used twice.`);
    seen.add(node.id);
    if (node.name.trim() === "") say("name", `${id} has no name.`);
    if (node.acceptance.length === 0) say("acceptance", `${id} has no acceptance criteria.`);
    if (definition.kind !== "subtask" && node.objective.trim() === "" && node.expectedOutcome.trim() === "") {
      say("objective", `${id} has neither objective nor outcome.`);
    }
    for (const [index, file] of (node.hints.files ?? []).entries()) {
      if (normalScope(file) !== undefined) continue;
      say("files", `${id} names "${clipId(file)}", which is not a path inside the repository.`, index);
    }
  }
  if (limits.maxNodes !== undefined && all.length > limits.maxNodes) {
    const text = `The plan has ${all.length} nodes; ${limits.maxNodes} is the limit, so it takes several goals.`;
    problems.push({ node: [], field: "children", text });
  }
  problems.push(...problemsOfDependencies(all, done));
  return problems;
}

function problemsOfSize(phases: readonly PlannedNode[], limits: PlanLimits): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const say = (node: readonly number[], text: string) => problems.push({ node, field: "children", text });
  // Those of the configuration. A person's plan has one limit for all of it, which no key sets.
  const isOver = (count: number, key: keyof PlanLimits) => limits.maxNodes === undefined && count > (limits[key] ?? 0);
  const limit = (key: keyof PlanLimits) => `${limits[key]} is the limit (planner.${key}).`;
  if (phases.length === 0) say([], "The plan has no phases.");
  if (isOver(phases.length, "maxPhases")) say([], `The plan has ${phases.length} phases; ${limit("maxPhases")}`);
  for (const [at, { id, children }] of phases.entries()) {
    if (children.length === 0) say([at], `Phase ${clipId(id)} has no tasks.`);
    if (isOver(children.length, "maxTasksPerPhase")) {
      say([at], `Phase ${clipId(id)} has ${children.length} tasks; ${limit("maxTasksPerPhase")}`);
    }
    for (const [below, task] of children.entries()) {
      if (!isOver(task.children.length, "maxSubtasksPerTask")) continue;
      const text = `Task ${clipId(task.id)} has ${task.children.length} subtasks; ${limit("maxSubtasksPerTask")}`;
      say([at, below], text);
    }
  }
  return problems;
}

interface Flat {
  readonly node: PlannedNode;
  readonly at: PlanProblem["node"];
  readonly definition: NodeDefinition;
}

/** The plan as its nodes would be kept, in reading order. */
export function definePlan(
  phases: readonly PlannedNode[],
  goalTags: readonly string[] = [],
): readonly { readonly id: string; readonly definition: NodeDefinition }[] {
  return flatten(phases, goalTags).map(({ node, definition }) => ({ id: node.id, definition }));
}

/** The tree as a list in reading order, with goal tags inherited and `blocks` turned into dependencies. */
function flatten(phases: readonly PlannedNode[], goalTags: readonly string[]): Flat[] {
  const flat: Flat[] = [];
  const extra = new Map<string, string[]>();
  const visit = (node: PlannedNode, at: Flat["at"], parent: NodeDefinition | null, parentId: string | null): void => {
    for (const target of node.blocks) extra.set(target, [...(extra.get(target) ?? []), node.id]);
    const definition: NodeDefinition = {
      kind: KIND_OF_DEPTH[at.length - 1] ?? "subtask",
      parentId,
      path: parent ? `${parent.path}/${node.id}` : node.id,
      position: flat.length,
      leaf: node.children.length === 0,
      name: node.name,
      objective: node.objective,
      expectedOutcome: node.expectedOutcome,
      acceptanceCriteria: node.acceptance,
      definitionOfDone: node.definitionOfDone,
      dependsOn: unique(node.deps),
      hints: node.hints,
      tags: unique([...(parent?.tags ?? goalTags), ...node.tags]),
    };
    flat.push({ node, at, definition });
    for (const [index, child] of node.children.entries()) visit(child, [...at, index], definition, node.id);
  };
  for (const [index, phase] of phases.entries()) visit(phase, [index], null, null);
  return flat.map(({ node, at, definition }) => ({
    node,
    at,
    definition: { ...definition, dependsOn: unique([...definition.dependsOn, ...(extra.get(node.id) ?? [])]) },
  }));
}

function problemsOfDependencies(all: readonly Flat[], done: ReadonlySet<string>): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const byId = new Map(all.map(({ node, definition }) => [node.id, definition]));
  const notThere = (id: string) => {
    const meant = nearestId(id, [...byId.keys()]);
    return `${clipId(id)}, which is not in the plan.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
  };
  // Among ids that mean two nodes, or arrows already told to be wrong, a circle would say the same thing twice.
  let tangled = byId.size < all.length;
  for (const { node, at, definition } of all) {
    const id = clipId(node.id);
    for (const [index, target] of node.blocks.entries()) {
      if (!byId.has(target)) {
        problems.push({ node: at, field: "blocks", index, text: `${id} blocks ${notThere(target)}` });
      }
    }
    for (const dep of definition.dependsOn) {
      const index = node.deps.indexOf(dep);
      // An arrow that another node drew has no place here but the node itself.
      const place = index < 0 ? ({ node: at, field: "id" } as const) : ({ node: at, field: "deps", index } as const);
      const other = byId.get(dep);
      if (!other) {
        if (!done.has(dep)) problems.push({ ...place, text: `${id} depends on ${notThere(dep)}` });
      } else if (dep === node.id) {
        tangled = true;
        problems.push({ ...place, text: `${id} depends on itself.` });
      } else if (definition.path.startsWith(`${other.path}/`) || other.path.startsWith(`${definition.path}/`)) {
        tangled = true;
        problems.push({ ...place, text: `${id} depends on ${clipId(dep)}, but one is inside the other.` });
      }
    }
  }
  const cycle = tangled ? undefined : findCycle(byId);
  if (cycle) {
    const text = `The dependencies form a cycle: ${cycle.map(clipId).join(" → ")}.`;
    const first = all.find(({ node }) => cycle.includes(node.id) && node.deps.length > 0);
    problems.push({ node: first?.at ?? [], field: first ? "deps" : "children", text });
  }
  return problems;
}

/**
 * A circle among the dependencies, or undefined. A node waits for what it and its parents depend on, and a parent is
 * done only when its children are: both arrows are walked, so a circle through a phase is seen too.
 */
export function findCycle(nodes: ReadonlyMap<string, NodeDefinition>): string[] | undefined {
  const children = new Map<string, string[]>();
  for (const [id, { parentId }] of nodes) {
    if (parentId !== null) children.set(parentId, [...(children.get(parentId) ?? []), id]);
  }
  // Two stations per node: it starts after its dependencies have ended, it ends after its children have ended.
  const before = (station: string): string[] => {
    const id = station.slice(2);
    const definition = nodes.get(id);
    if (!definition) return [];
    if (station.startsWith("s:")) {
      const deps = definition.dependsOn.map((dep) => `e:${dep}`);
      return definition.parentId === null ? deps : [...deps, `s:${definition.parentId}`];
    }
    return [`s:${id}`, ...(children.get(id) ?? []).map((child) => `e:${child}`)];
  };
  const done = new Set<string>();
  for (const id of nodes.keys()) {
    const trail: { station: string; next: string[] }[] = [{ station: `e:${id}`, next: before(`e:${id}`) }];
    const onTrail = new Set([`e:${id}`]);
    while (trail.length > 0) {
      const top = trail[trail.length - 1];
      if (!top) break;
      const next = top.next.pop();
      if (next === undefined) {
        done.add(top.station);
        onTrail.delete(top.station);
        trail.pop();
      } else if (onTrail.has(next)) {
        const circle = trail
          .slice(trail.findIndex((step) => step.station === next))
          .map((step) => step.station.slice(2));
        return unique([...circle]).concat(next.slice(2));
      } else if (!done.has(next)) {
        onTrail.add(next);
        trail.push({ station: next, next: before(next) });
      }
    }
  }
  return undefined;
}

export interface AcceptedPlan {
  readonly revision: number;
  readonly added: number;
  readonly changed: number;
  readonly cancelled: number;
  readonly kept: number;
  /** What the plan names and was cancelled before: under its id it is not done any more. */
  readonly stayCancelled: readonly string[];
  /** Open tasks that would be done side by side, and are not because of their files. */
  readonly shared: readonly SharedFiles[];
}

export function listIds(nodes: readonly WorkNode[]): Set<string> {
  return new Set(nodes.map(({ workNodeId }) => workNodeId));
}

export function isDone({ status }: Pick<WorkNode, "status">): boolean {
  return status === "done";
}

/** Accepts a plan, or a new revision of one. */
export function acceptPlan(
  goal: Goal,
  existing: readonly WorkNode[],
  phases: readonly PlannedNode[],
  limits: PlanLimits,
  provenance: PlanProvenance,
  moment: Moment,
): Decision<AcceptedPlan> {
  if (goal.status !== "active" && goal.status !== "paused") {
    return refuse(
      "conflict",
      "GOAL_ENDED",
      `Goal ${goal.goalId} is ${goal.status}; its plan no longer changes.`,
      "Create a new goal with 'overseer goal create'.",
    );
  }
  const problems = problemsOfPlan(phases, limits, listIds(existing), listIds(existing.filter(isDone)));
  if (problems.length > 0) {
    const shown = problems.slice(0, 20).map(({ text }) => `  - ${text}`);
    const rest = problems.length > 20 ? [`  … and ${problems.length - 20} more`] : [];
    return refuse(
      "usage",
      "PLAN_INVALID",
      `The plan has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:\n${[...shown, ...rest].join("\n")}`,
      "Fix the plan file and run the command again; nothing was stored.",
    );
  }
  const revision = goal.plan.length + 1;
  const flat = flatten(phases, goal.tags);
  const diff = compare(existing, flat);
  const finishedAndChanged = diff.changed.find(({ node }) => !isOpen(node));
  if (finishedAndChanged) {
    return refuse(
      "conflict",
      "NODE_ENDED",
      `The plan changes ${finishedAndChanged.node.workNodeId}, which is ${finishedAndChanged.node.status} already.`,
      "Leave finished nodes as they are; rework is a new node with a new id.",
    );
  }
  const orphan = flat.find(({ definition }) => {
    const parent = existing.find((node) => node.workNodeId === definition.parentId);
    return parent && !isOpen(parent) && !existing.some((node) => node.path === definition.path);
  });
  if (orphan) {
    return refuse(
      "conflict",
      "PARENT_ENDED",
      `The plan adds ${orphan.node.id} under ${orphan.definition.parentId ?? ""}, which has ended.`,
      "Put new work under an open phase or task, or add a new one.",
    );
  }
  const late = lateDependency(existing, flat);
  if (late) {
    return refuse(
      "conflict",
      "DEPENDENCY_TOO_LATE",
      `The plan makes ${late.node.workNodeId} wait for ${late.dependency}, which is not done; but ${late.node.workNodeId} is ${late.node.status} already.`,
      `Leave that dependency out, finish ${late.dependency} first, or give the work of ${late.node.workNodeId} a new id, which cancels the old node.`,
    );
  }
  const events = planEvents(goal, diff, flat.length, revision, provenance, moment);
  return accept(events, {
    revision,
    added: diff.added.length,
    changed: diff.changed.length,
    cancelled: diff.missing.length,
    kept: diff.kept,
    stayCancelled: flat.flatMap(({ node: { id } }) =>
      existing.some(({ workNodeId, status }) => workNodeId === id && status === "cancelled") ? [id] : [],
    ),
    shared: findSharedFiles(stillOpen(flat, existing)),
  });
}

function stillOpen(flat: readonly Flat[], existing: readonly WorkNode[]): Map<string, NodeDefinition> {
  const ended = new Set(existing.filter((node) => !isOpen(node)).map(({ workNodeId }) => workNodeId));
  return new Map(
    flat.map(({ node, definition }) => [
      node.id,
      ended.has(node.id) ? { ...definition, hints: { ...definition.hints, files: [] } } : definition,
    ]),
  );
}

/**
 * The first dependency that comes too late: a node that has become ready does not go back to waiting, so a revision
 * must not give it, or a parent of it, anything new to wait for. What it waited for before (and was overridden) stays.
 */
function lateDependency(
  existing: readonly WorkNode[],
  flat: readonly Flat[],
): { readonly node: WorkNode; readonly dependency: string } | undefined {
  const known = new Map(existing.map((node) => [node.workNodeId, node]));
  const wanted = new Map(flat.map(({ node, definition }) => [node.id, definition]));
  for (const { node } of flat) {
    const before = known.get(node.id);
    if (!before || !isOpen(before) || before.status === "todo") continue;
    const earlier = allDependencies(node.id, known);
    const dependency = allDependencies(node.id, wanted).find(
      (id) => known.get(id)?.status !== "done" && !earlier.includes(id),
    );
    if (dependency !== undefined) return { node: before, dependency };
  }
  return undefined;
}

/** What a node and its parents depend on. */
function allDependencies(id: string, nodes: ReadonlyMap<string, NodeDefinition>): string[] {
  const found: string[] = [];
  for (let at = nodes.get(id); at; at = at.parentId === null ? undefined : nodes.get(at.parentId)) {
    found.push(...at.dependsOn);
  }
  return found;
}

interface PlanDiff {
  readonly added: readonly Flat[];
  readonly changed: readonly { readonly node: WorkNode; readonly definition: NodeDefinition }[];
  /** Open nodes that the new revision no longer has. */
  readonly missing: readonly WorkNode[];
  readonly kept: number;
}

function compare(existing: readonly WorkNode[], flat: readonly Flat[]): PlanDiff {
  const known = new Map(existing.map((node) => [node.workNodeId, node]));
  const wanted = new Set(flat.map(({ node }) => node.id));
  const added = flat.filter(({ node }) => !known.has(node.id));
  const changed = flat.flatMap(({ node, definition }) => {
    const before = known.get(node.id);
    return before && !sameDefinition(before, definition) ? [{ node: before, definition }] : [];
  });
  const missing = existing.filter((node) => !wanted.has(node.workNodeId) && isOpen(node));
  return { added, changed, missing, kept: flat.length - added.length - changed.length };
}

/** Follows from the rest of the plan and from the goal's tags: a finished node is not changed when only this differs. */
const DERIVED: readonly (keyof NodeDefinition)[] = ["position", "leaf", "tags"];

function sameDefinition(node: WorkNode, wanted: NodeDefinition): boolean {
  const keys = Object.keys(wanted) as (keyof NodeDefinition)[];
  const significant = isOpen(node) ? keys : keys.filter((key) => !DERIVED.includes(key));
  return significant.every((key) => toComparable(node[key]) === toComparable(wanted[key]));
}

/** In which order the keys were written says nothing: a plan that was written down and read back is the same. */
function toComparable(value: unknown): string | undefined {
  const isObject = (one: unknown) => typeof one === "object" && one !== null && !Array.isArray(one);
  return JSON.stringify(value, (_key, one) =>
    isObject(one) ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1))) : one,
  );
}

function planEvents(
  goal: Goal,
  diff: PlanDiff,
  nodeCount: number,
  revision: number,
  provenance: PlanProvenance,
  moment: Moment,
): NewEvent[] {
  const because = revision === 1 ? "planned" : "plan-revised";
  const name = (nodeId: string) => ({ goalId: goal.goalId, workNodeId: nodeId });
  return [
    {
      type: "plan.accepted",
      actor: moment.actor,
      goalId: goal.goalId,
      because,
      data: { ...provenance, revision, nodeCount },
    },
    ...diff.added.map(({ node, definition }) =>
      nodeEvent(name(node.id), moment, "work.added", because, { ...definition, revision }),
    ),
    ...diff.changed.map(({ node, definition }) =>
      nodeEvent(node, moment, "work.redefined", because, { definition, revision }),
    ),
    ...diff.missing.map((node) =>
      nodeEvent(node, moment, "work.cancelled", "left-out-of-the-plan", { reason: `revision ${revision}` }),
    ),
  ];
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

/** The id that was probably meant. Another number is another node, not a slip: `T9` is never `T1`. */
export function nearestId(id: string, known: readonly string[]): string | undefined {
  const digits = (text: string) => text.replaceAll(/\D/g, "");
  return nearest(
    id,
    known.filter((other) => other !== id && digits(other) === digits(id)),
  );
}

function clipId(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id;
}

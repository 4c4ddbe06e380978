/**
 * One more task for a goal that has its plan: a revision that adds and changes nothing else. The task waits for what was
 * named and for nothing more, and nothing waits for it: so it goes to the last phase if that one is open, waits for
 * nothing and is waited for by nobody, and else into a phase of its own. Ids that were ever used are not used again.
 */
import type { Moment } from "#domain/core/actor.ts";
import { refuse } from "#domain/core/refusal.ts";
import { normalScope } from "#domain/core/scope.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { ExecutionHints, NodeDefinition, WorkNode } from "#domain/model/work.ts";
import { isOpen, nodeEvent, nodeKey } from "#domain/model/work.ts";
import { nearestId, type PlanLimits } from "./plan.ts";
import { findSharedFiles, type SharedFiles } from "./shared-files.ts";
import { takeTitle } from "./short-name.ts";

export interface TaskWish {
  /** What is to be done; its first line is the name. */
  readonly text: string;
  /** Ids of the same goal that have to be done first. */
  readonly after: readonly string[];
  readonly files: readonly string[];
  readonly capability?: string;
  readonly tags: readonly string[];
}

export interface AddedTask {
  readonly nodeId: string;
  readonly phaseId: string;
  readonly revision: number;
  /** Those of `after` that are not done yet. */
  readonly waitsFor: readonly string[];
  /** Open tasks with files in common: they are done one after the other. */
  readonly shared: readonly SharedFiles[];
}

export function addTask(
  goal: Goal,
  nodes: readonly WorkNode[],
  wish: TaskWish,
  limits: PlanLimits,
  moment: Moment,
): Decision<AddedTask> {
  const refused = refuseGoal(goal) ?? refuseText(wish) ?? refuseAfter(goal, nodes, wish) ?? refuseFiles(wish);
  if (refused) return refused;
  const last = nodes.filter((node) => node.kind === "phase").reduce<WorkNode | undefined>(laterOf, undefined);
  const home = last && isHome(last, nodes, wish, limits) ? last : undefined;
  const full = refuseFull(nodes, home, limits);
  if (full) return full;
  const taken = new Set(nodes.map((node) => node.workNodeId));
  const position = nodes.reduce((most, node) => Math.max(most, node.position + 1), 0);
  const phaseId = home?.workNodeId ?? nextId("P0", taken);
  const nodeId = nextId(stemFor(nodes, home), new Set([...taken, phaseId]));
  const task = defineTask(goal, wish, home, { phaseId, nodeId, position: home ? position : position + 1 });
  const revision = goal.plan.length + 1;
  const because = revision === 1 ? "planned" : "plan-revised";
  const add = (id: string, definition: NodeDefinition): NewEvent =>
    nodeEvent({ goalId: goal.goalId, workNodeId: id }, moment, "work.added", because, { ...definition, revision });
  const phase = home ? [] : [add(phaseId, definePhase(goal, phaseId, position))];
  const nodeCount = nodes.filter(({ status }) => status !== "cancelled").length + phase.length + 1;
  const accepted: NewEvent = {
    type: "plan.accepted",
    actor: moment.actor,
    goalId: goal.goalId,
    because,
    data: { source: "file", rejected: [], raw: "", change: `${nodeId} was added by hand`, revision, nodeCount },
  };
  const waitsFor = task.dependsOn.filter((id) =>
    nodes.some((node) => node.workNodeId === id && node.status !== "done"),
  );
  const open = new Map<string, NodeDefinition>(nodes.filter(isOpen).map((node) => [node.workNodeId, node]));
  const shared = findSharedFiles(open.set(nodeId, task)).filter(({ one, other }) => [one, other].includes(nodeId));
  return accept([accepted, ...phase, add(nodeId, task)], { nodeId, phaseId, revision, waitsFor, shared });
}

function laterOf(one: WorkNode | undefined, other: WorkNode): WorkNode {
  return one && one.position > other.position ? one : other;
}

/** May a task go there without waiting for more than it says, and without making anybody wait? */
function isHome(phase: WorkNode, nodes: readonly WorkNode[], { after }: TaskWish, limits: PlanLimits): boolean {
  if (!isOpen(phase) || phase.status === "blocked") return false;
  const status = new Map(nodes.map((node) => [node.workNodeId, node.status]));
  if (phase.dependsOn.some((id) => status.get(id) !== "done")) return false;
  // A task inside the phase it waits for would wait for ever, as would one after a task that waits for the phase.
  if (after.includes(phase.workNodeId)) return false;
  if (nodes.some((node) => isOpen(node) && node.dependsOn.includes(phase.workNodeId))) return false;
  const tasks = nodes.filter((node) => node.parentId === phase.workNodeId);
  return limits.maxNodes !== undefined || tasks.length < limits.maxTasksPerPhase;
}

/** Numbers go on where the phase's own ids end; in a new phase after the highest there is. */
function stemFor(nodes: readonly WorkNode[], home: WorkNode | undefined): string {
  const siblings = nodes.filter((node) => node.parentId === home?.workNodeId && node.kind === "task");
  const like = home && siblings.reduce<WorkNode | undefined>(laterOf, undefined)?.workNodeId;
  if (like !== undefined && /\d$/.test(like)) return like;
  const numbers = nodes.map(({ workNodeId }) => Number(/^T(\d{1,6})/.exec(workNodeId)?.[1] ?? 0));
  return `T${Math.max(0, ...numbers)}`;
}

/** `T1.3` → `T1.4`, or the next that nobody ever had. */
function nextId(like: string, taken: ReadonlySet<string>): string {
  const [, stem = "", digits = "0"] = /^(.*?)(\d{1,6})$/.exec(like) ?? [];
  for (let number = Number(digits) + 1; ; number += 1) {
    const id = `${stem}${number}`;
    if (!taken.has(id)) return id;
  }
}

function defineTask(
  goal: Goal,
  wish: TaskWish,
  home: WorkNode | undefined,
  { phaseId, nodeId, position }: { readonly phaseId: string; readonly nodeId: string; readonly position: number },
): NodeDefinition {
  const { text, after, tags } = wish;
  return {
    kind: "task",
    parentId: phaseId,
    path: `${phaseId}/${nodeId}`,
    position,
    leaf: true,
    name: takeTitle(text),
    objective: text,
    expectedOutcome: "",
    acceptanceCriteria: ["What the text asks for is done."],
    definitionOfDone: "",
    dependsOn: [...new Set(after)],
    hints: { ...(home ? takeHandedDown(home.hints) : {}), ...toHints(wish) },
    tags: [...new Set([...(home?.tags ?? goal.tags), ...tags])],
  };
}

/** What was said of its agent. */
export function toHints({ files, capability }: Pick<TaskWish, "files" | "capability">): ExecutionHints {
  return {
    ...(capability === undefined ? {} : { capability }),
    ...(files.length === 0 ? {} : { files: files.map((file) => normalScope(file) ?? file) }),
  };
}

/** What a phase says for its tasks. */
function takeHandedDown({
  capability,
  runtime,
  model,
  checks,
  recoveryPolicy,
  supervision,
  limits,
}: ExecutionHints): ExecutionHints {
  return {
    ...(capability === undefined ? {} : { capability }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(checks === undefined ? {} : { checks }),
    ...(recoveryPolicy === undefined ? {} : { recoveryPolicy }),
    ...(supervision === undefined ? {} : { supervision }),
    ...(limits === undefined ? {} : { limits }),
  };
}

function definePhase(goal: Goal, id: string, position: number): NodeDefinition {
  return {
    kind: "phase",
    parentId: null,
    path: id,
    position,
    leaf: false,
    name: "Added by hand",
    objective: "Tasks that were added one by one.",
    expectedOutcome: "",
    acceptanceCriteria: ["Its tasks are done."],
    definitionOfDone: "",
    dependsOn: [],
    hints: {},
    tags: goal.tags,
  };
}

function refuseGoal({ goalId, status }: Goal) {
  if (status === "active" || status === "paused") return undefined;
  return refuse(
    "conflict",
    "GOAL_ENDED",
    `Goal ${goalId} is ${status}; nothing is added to it any more.`,
    'Leave out --goal for a goal of its own, or begin one: overseer sling --prompt "…".',
  );
}

function refuseText({ text }: TaskWish) {
  if (takeTitle(text) !== "") return undefined;
  return refuse("usage", "TEXT_EMPTY", "The task says nothing.", 'Say what is to be done: overseer work add "…".');
}

function refuseAfter(goal: Goal, nodes: readonly WorkNode[], { after }: TaskWish) {
  for (const id of after) {
    const node = nodes.find((one) => one.workNodeId === id);
    if (!node) {
      const meant = nearestId(
        id,
        nodes.map((one) => one.workNodeId),
      );
      const hint =
        meant === undefined ? `'overseer work list --goal ${goal.goalId}' lists them.` : `Did you mean ${meant}?`;
      return refuse("not-found", "NODE_UNKNOWN", `Goal ${goal.goalId} has no node ${id.slice(0, 80)}.`, hint);
    }
    if (node.status === "cancelled") {
      const message = `${nodeKey(goal.goalId, id)} is cancelled, so what waits for it would wait for ever.`;
      return refuse("conflict", "NEVER_DONE", message, "Leave out that --after.");
    }
  }
  return undefined;
}

function refuseFiles({ files }: TaskWish) {
  const outside = files.find((file) => normalScope(file) === undefined);
  if (outside === undefined) return undefined;
  return refuse(
    "usage",
    "SCOPE_INVALID",
    `"${outside.slice(0, 80)}" is not a path inside the repository.`,
    "Name files by their path from the top of the repository.",
  );
}

function refuseFull(nodes: readonly WorkNode[], home: WorkNode | undefined, limits: PlanLimits) {
  const { maxNodes, maxPhases } = limits;
  const hint = "Cancelled and finished ones count too. Give the rest of the work a goal of its own.";
  if (maxNodes !== undefined && nodes.length + (home ? 1 : 2) > maxNodes) {
    return refuse("conflict", "PLAN_FULL", `The plan has ${nodes.length} nodes; ${maxNodes} is the limit.`, hint);
  }
  const phases = nodes.filter(({ kind }) => kind === "phase").length;
  if (maxNodes !== undefined || home || phases < maxPhases) return undefined;
  const message = `The plan has ${phases} phases; ${maxPhases} is the limit (planner.maxPhases).`;
  return refuse("conflict", "PLAN_FULL", message, hint);
}

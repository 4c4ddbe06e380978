/**
 * What a model is told when it is asked for a plan, piece by piece, as text that stands between the marked lines of the
 * prompt: nothing in it can end its own piece or pose as ours.
 */
import { cleanText } from "#domain/core/quote.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { Role } from "#domain/model/role.ts";
import { isOpen, type WorkNode } from "#domain/model/work.ts";
import { isRepeated } from "./persons-settings.ts";
import { definePlan, type PlannedNode } from "./plan.ts";
import { toPlannedNodes, toPlanValues } from "./planned-nodes.ts";

const NONE = "(none)";

/** Text of others as material; what would look like one of our marks is changed so that it does not. */
export function asMaterial(text: string): string {
  const clean = cleanText(text).replace(/^(\s*)-{3,}(?=\s*(?:BEGIN|END)\b)/gim, "$1--");
  return clean.trim() === "" ? NONE : clean;
}

export function describeGoal(goal: Goal): string {
  const list = (name: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${name}:`, ...items.map((item) => `- ${item}`)];
  return [
    goal.title,
    ...(goal.problemStatement === "" ? [] : [goal.problemStatement]),
    ...list("It is reached when", goal.successCriteria),
    ...list("Not wanted", goal.nonGoals),
    ...list("To be respected", goal.constraints),
    ...list("Taken to be true", goal.assumptions),
    ...list(
      "Risks",
      goal.risks.map(({ risk, impact, mitigation }) => [risk, impact, mitigation].filter(Boolean).join("; ")),
    ),
  ].join("\n");
}

/** Only those that may write: a task leaves something that can be checked. */
export function describeRoles(roles: Iterable<Role>): string {
  return [...roles]
    .filter(({ readOnly }) => !readOnly)
    .map(({ capability, summary }) => `- ${capability}: ${summary}`)
    .join("\n");
}

/** What there is already, with how far it is: as JSON in the shape of the answer, so that it can be repeated. */
export function describePlan(nodes: readonly WorkNode[]): string {
  if (nodes.length === 0) return "";
  const begun = nodes.filter(hasBegun).map(({ workNodeId, status }) => `${workNodeId} is ${status.replace("_", " ")}`);
  const open = nodes.filter(isOpen).length;
  return [
    `${nodes.length} nodes, ${open} of them open. ${begun.length === 0 ? "None has begun." : `${begun.join(", ")}.`}`,
    "Open ones that your plan leaves out are cancelled.",
    JSON.stringify(toPlanValues(toPlannedNodes(nodes))),
  ].join("\n");
}

/** It is done, was cancelled, or somebody is at it: a model's plan leaves it as it is. */
export function hasBegun({ status }: Pick<WorkNode, "status">): boolean {
  return status !== "todo" && status !== "queued";
}

/** What there is and a model's plan repeats as it is: nothing of it is the model's. */
export function listRepeated(phases: readonly PlannedNode[], existing: readonly WorkNode[]): Set<string> {
  const wanted = new Map(phases.flatMap(listAll).map((node) => [node.id, node]));
  const repeated = existing.filter((node) => {
    const planned = wanted.get(node.workNodeId);
    return planned !== undefined && isRepeated(planned, node);
  });
  return new Set(repeated.map(({ workNodeId }) => workNodeId));
}

/** What a model's plan would take away from what has begun, each as a sentence. */
export function problemsOfBegun(phases: readonly PlannedNode[], existing: readonly WorkNode[]): string[] {
  const wanted = new Map(phases.flatMap(listAll).map((node) => [node.id, node]));
  const places = new Map(definePlan(phases).map(({ id, definition }) => [id, definition.parentId]));
  return existing.filter(hasBegun).flatMap((node) => {
    const planned = wanted.get(node.workNodeId);
    const isAtWork = isOpen(node);
    if (!planned) return isAtWork ? [`${node.workNodeId} is in progress: keep it in the plan as it is.`] : [];
    const how = isAtWork ? "in progress" : node.status;
    const begun = `${node.workNodeId} is ${how}`;
    if (!isRepeated(planned, node)) return [`${begun}: repeat it word for word, and give new work a new id.`];
    if (places.get(node.workNodeId) === node.parentId) return [];
    return [`${begun}: leave it in ${node.parentId ?? "its place as a phase"}.`];
  });
}

function listAll(node: PlannedNode): PlannedNode[] {
  return [node, ...node.children.flatMap(listAll)];
}

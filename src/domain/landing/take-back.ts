/**
 * Taking a landing back: what a person may take out of the target again, what it means for the node, and what the revert
 * says in the history. A node that landed stays done, since that is final: it is done and taken back, and whoever wants
 * the same once more gives it anew. How the revert gets into the target is the way of every branch that a person brings.
 * Pure.
 */
import { isActor } from "#domain/core/actor.ts";
import { cleanText } from "#domain/core/quote.ts";
import { type Refusal, refuse } from "#domain/core/refusal.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { isQueued, type Merge } from "#domain/model/merge.ts";
import { isOpen, nodeEvent, nodeKey, type WorkNode } from "#domain/model/work.ts";

export interface LandingSeen {
  readonly node: WorkNode;
  /** All of its goal. */
  readonly nodes: readonly WorkNode[];
  /** The entries of the node, and of its branches that a person brought. */
  readonly merges: readonly Merge[];
}

/** Who builds on a node. */
export interface Dependents {
  readonly landed: readonly string[];
  readonly open: readonly string[];
}

export type TakeBackJudgement =
  | {
      readonly ok: true;
      readonly landed: Merge & { readonly from: string; readonly to: string };
      readonly dependents: Dependents;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** Whether its landing may be taken back now, and which one that is. */
export function judgeTakeBack(seen: LandingSeen, force: boolean): TakeBackJudgement {
  const { node, merges } = seen;
  const label = nodeKey(node.goalId, node.workNodeId);
  if (node.takenBack) return refuseAgain(node, node.takenBack);
  const landed = merges.findLast((one) => one.status === "landed" && one.takesBack === undefined);
  if (!landed || landed.from === null || landed.to === null) return refuseUnlanded(node);
  if (landed.from === landed.to) {
    const said = `${label} brought nothing: it was in ${landed.target} already when its landing came.`;
    return refuse(
      "conflict",
      "NOTHING_TO_TAKE_BACK",
      said,
      `'git log ${landed.target}' shows who did, and 'git revert <commit>' takes that out.`,
    );
  }
  const dependents = findWhoDepends(node, seen.nodes);
  if (dependents.landed.length > 0 && !force) {
    const said = `${listNames(dependents.landed)} depends on ${label} and has landed: without it, that may not work any more.`;
    return refuse(
      "conflict",
      "LANDED_WORK_DEPENDS",
      said,
      "Take that back first, or insist with --force: the checks judge what is left.",
    );
  }
  const { from, to } = landed;
  return { ok: true, landed: { ...landed, from, to }, dependents };
}

function refuseAgain(node: WorkNode, { commit, target, again }: NonNullable<WorkNode["takenBack"]>): TakeBackJudgement {
  const label = nodeKey(node.goalId, node.workNodeId);
  const by = commit === null ? "" : ` by ${commit.slice(0, 10)}`;
  const hint =
    again === undefined
      ? `'overseer revert ${label} --reopen' gives the same work anew${commit === null ? "" : `; 'git revert ${commit.slice(0, 10)}' on a branch of yours brings back what it did`}.`
      : `It was given anew as ${again}.`;
  return refuse("conflict", "TAKEN_BACK_ALREADY", `${label} was taken back from ${target} already${by}.`, hint);
}

function refuseUnlanded(node: WorkNode): TakeBackJudgement {
  const label = nodeKey(node.goalId, node.workNodeId);
  if (node.claim) {
    return refuse(
      "conflict",
      "NOT_LANDED_YET",
      `${label} has not landed: its work waits.`,
      `'overseer reject ${label} --reason "…"' sends it back.`,
    );
  }
  const said = isOpen(node)
    ? `${label} has not landed: it is ${node.status}.`
    : `${label} is ${node.status}, and nothing has landed for it.`;
  return refuse(
    "conflict",
    "NOT_LANDED_YET",
    said,
    isOpen(node) ? `'overseer work cancel ${label}' ends it.` : `'overseer why ${label}' shows how it ended.`,
  );
}

/** Leaves that depend on it, directly, through a parent of either, or through one another; what was taken back does not count. */
export function findWhoDepends(node: WorkNode, nodes: readonly WorkNode[]): Dependents {
  const byId = new Map(nodes.map((one) => [one.workNodeId, one]));
  const around = (one: WorkNode) => one.path.split("/");
  const needs = (one: WorkNode) => around(one).flatMap((id) => byId.get(id)?.dependsOn ?? []);
  const gone = new Set(around(node)); // who depends on a parent of it depends on it too
  const found: WorkNode[] = [];
  for (let grown = true; grown; ) {
    const next = nodes.filter(
      (one) => one.leaf && one !== node && !found.includes(one) && needs(one).some((id) => gone.has(id)),
    );
    for (const one of next) gone.add(one.workNodeId);
    found.push(...next);
    grown = next.length > 0;
  }
  const ids = (some: readonly WorkNode[]) => some.map(({ workNodeId }) => workNodeId);
  const counted = found.filter(({ takenBack }) => takenBack === undefined);
  return { landed: ids(counted.filter(({ status }) => status === "done")), open: ids(counted.filter(isOpen)) };
}

function listNames(ids: readonly string[]): string {
  return ids.length > 5 ? `${ids.slice(0, 5).join(", ")} and ${ids.length - 5} more` : ids.join(", ");
}

/** What the revert says: git's own words, so that people and programs know it, who wanted it and why. */
export function takeBackMessage(
  node: Pick<WorkNode, "goalId" | "workNodeId" | "name">,
  landed: { readonly to: string; readonly subject: string },
  reason: string | null,
): string {
  const title = `Revert "${cleanText(landed.subject).replace(/\s+/g, " ").trim()}"`;
  const why = reason === null ? [] : [cleanText(reason).trim()];
  const trailer = `Overseer-Reverts: ${nodeKey(node.goalId, node.workNodeId)}`;
  return `${[title, ...why, `This reverts commit ${landed.to}.`, trailer].join("\n\n")}\n`;
}

/** With the landing of a revert: what it means for the node, in the name of whoever wanted it. */
export function recordTakenBack(
  entry: Merge,
  { from, to }: { readonly from: string; readonly to: string },
): NewEvent[] {
  const { takesBack, target, goalId, workNodeId } = entry;
  if (!takesBack || goalId === null || workNodeId === null) return [];
  const { landed, reason } = takesBack;
  const data = { target, landed, commit: from === to ? null : to, reason };
  const actor = isActor(entry.by) ? entry.by : "overseer";
  return [nodeEvent({ goalId, workNodeId }, { now: 0, actor }, "work.taken_back", "taken-back", data)];
}

/** The revert of the same landing that is on its way already. */
export function findTakeBack(merges: readonly Merge[], mergeId: string): Merge | undefined {
  return merges.find((one) => isQueued(one) && one.takesBack?.mergeId === mergeId);
}

/**
 * What a new plan would cancel: open nodes that it no longer has. Nobody loses work by a line that was forgotten in a
 * file: whoever gives such a plan is told which nodes, and has to say that they mean it.
 */
import { type Refused, refuse } from "#domain/core/refusal.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptLabel, isLiving } from "#domain/model/attempt.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { isOpen } from "#domain/model/work.ts";
import type { PlannedNode } from "./plan.ts";

/** What somebody agreed to lose: everything, or just these. */
export type Pruned = "all" | readonly string[];

export const LEAVES_OUT = "PLAN_LEAVES_OUT";

const MOST_SHOWN = 20;

export function listLeftOut(existing: readonly WorkNode[], phases: readonly PlannedNode[]): WorkNode[] {
  const wanted = new Set<string>();
  const visit = (node: PlannedNode): void => {
    wanted.add(node.id);
    node.children.forEach(visit);
  };
  phases.forEach(visit);
  return existing.filter((node) => isOpen(node) && !wanted.has(node.workNodeId));
}

/** Undefined when nothing would be lost that nobody agreed to lose. */
export function refuseLeavingOut(
  { goalId }: Goal,
  leftOut: readonly WorkNode[],
  pruned: Pruned,
  attempts: readonly Attempt[],
): Refused | undefined {
  const lost = pruned === "all" ? [] : leftOut.filter(({ workNodeId }) => !pruned.includes(workNodeId));
  if (lost.length === 0) return undefined;
  const lines = lost.slice(0, MOST_SHOWN).map((node) => {
    const agent = attempts.find((one) => isLiving(one) && one.goalId === goalId && one.workNodeId === node.workNodeId);
    const at = agent ? `, in flight: ${attemptLabel(agent)} would be stopped, its work kept` : "";
    const claimed = !agent && node.claim ? ", in flight: it is reported done" : "";
    return `  ${node.workNodeId}  ${node.name} (${node.status}${at}${claimed})`;
  });
  const rest = lost.length > MOST_SHOWN ? [`  … and ${lost.length - MOST_SHOWN} more`] : [];
  const what = lost.length === 1 ? "an open node" : `${lost.length} open nodes`;
  return refuse(
    "conflict",
    LEAVES_OUT,
    `The plan leaves out ${what} of ${goalId}, which would be cancelled:\n${[...lines, ...rest].join("\n")}`,
    "Keep them in the plan, or say that you mean it with --prune; nothing was changed.",
  );
}

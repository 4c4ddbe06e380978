/**
 * What people have set on the nodes of a goal, and a model's new plan for it: models, runtimes, budgets and other limits,
 * labels, hints. A model is not shown these and may not say them, so its plan is no word about them: they stay as they are.
 * Only what a model may decide comes from its plan.
 */
import { cleanText } from "#domain/core/quote.ts";
import type { Goal } from "#domain/model/goal.ts";
import type { ExecutionHints, WorkNode } from "#domain/model/work.ts";
import type { PlannedNode } from "./plan.ts";

/** The model's plan with what people have set on what there is; what is new has what its parent says for what is below. */
export function keepSettings(
  phases: readonly PlannedNode[],
  goal: Pick<Goal, "tags">,
  nodes: readonly WorkNode[],
): PlannedNode[] {
  const known = new Map(nodes.map((node) => [node.workNodeId, node]));
  const visit = (node: PlannedNode, above: ExecutionHints): PlannedNode => {
    const before = known.get(node.id);
    const hints = keepHints(node.hints, before?.hints, above);
    const kept = before ? keepWords(node, before) : node;
    const handedDown = (before?.parentId ?? null) === null ? goal.tags : known.get(before?.parentId ?? "")?.tags;
    const tags = before ? before.tags.filter((tag) => !handedDown?.includes(tag)) : node.tags;
    return { ...kept, hints, tags, children: node.children.map((child) => visit(child, hints)) };
  };
  return phases.map((phase) => visit(phase, {}));
}

function keepHints(
  { files, capability, checks }: ExecutionHints,
  before: ExecutionHints | undefined,
  { runtime, model, recoveryPolicy, supervision, limits }: ExecutionHints,
): ExecutionHints {
  const inherited: ExecutionHints = limits ? { limits } : {};
  const { files: oldFiles, capability: _old, checks: oldChecks, ...set } = before ?? inherited;
  const namesNone = before !== undefined && oldFiles === undefined && files?.length === 0;
  return {
    ...(runtime === undefined ? {} : { runtime }),
    ...(model === undefined ? {} : { model }),
    ...(recoveryPolicy === undefined ? {} : { recoveryPolicy }),
    ...(supervision === undefined ? {} : { supervision }),
    ...set,
    ...(capability === undefined ? {} : { capability }),
    ...(checks === undefined ? {} : { checks: keepOrder(checks, oldChecks) }),
    ...(files === undefined || namesNone ? {} : { files: keepOrder(files, oldFiles) }),
  };
}

/** What is repeated is as it was written: a model is shown it cleaned, and its answer is trimmed. */
function keepWords(node: PlannedNode, before: WorkNode): PlannedNode {
  const criteria = new Map(before.acceptanceCriteria.map((one) => [toShown(one), one]));
  return {
    ...node,
    name: keepText(node.name, before.name),
    objective: keepText(node.objective, before.objective),
    expectedOutcome: keepText(node.expectedOutcome, before.expectedOutcome),
    acceptance: node.acceptance.map((one) => criteria.get(toShown(one)) ?? one),
    // No prompt asks for it: without a word it is not taken away.
    definitionOfDone: keepText(node.definitionOfDone || before.definitionOfDone, before.definitionOfDone),
    deps: keepOrder(node.deps, before.dependsOn),
  };
}

function keepText(said: string, before: string): string {
  return toShown(said) === toShown(before) ? before : said;
}

function toShown(text: string): string {
  return cleanText(text).trim();
}

/** The same things in another order say the same. */
function keepOrder(said: readonly string[], before: readonly string[] = []): readonly string[] {
  return new Set(said).symmetricDifference(new Set(before)).size === 0 ? before : said;
}

/** Whether a node of the new plan is what there is, in everything that a model may decide. */
export function isRepeated(planned: PlannedNode, node: WorkNode): boolean {
  const { files, capability, checks } = planned.hints;
  const said = [planned.name, planned.objective, planned.expectedOutcome, planned.definitionOfDone];
  const { hints } = node;
  const before = [node.name, node.objective, node.expectedOutcome, node.definitionOfDone];
  return (
    JSON.stringify([said, planned.acceptance, planned.deps, files, capability, checks]) ===
    JSON.stringify([before, node.acceptanceCriteria, node.dependsOn, hints.files, hints.capability, hints.checks])
  );
}

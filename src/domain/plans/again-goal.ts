/** A goal that asks for a piece of work once more, after what was done for it was taken back: one phase, that task. */
import type { Moment } from "#domain/core/actor.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { BLANK_DEFINITION, type Goal } from "#domain/model/goal.ts";
import { nodeEvent, nodeKey, type TakenBackWork, type WorkNode } from "#domain/model/work.ts";
import { DEFAULT_PLAN_LIMITS, type PlannedNode } from "./plan.ts";
import { createPlannedGoal } from "./planned-goal.ts";

/** Answers with the node as which it is given anew. What it depended on is done, so nothing is waited for. */
export function goalOnceMore(
  taken: Goal | undefined,
  wish: { readonly goalId: string; readonly node: WorkNode; readonly nodes: readonly WorkNode[] },
  moment: Moment,
): Decision<string> {
  const { goalId, node, nodes } = wish;
  const task = planAgain(node, nodes);
  const told = { ...task, objective: `${task.objective}${node.takenBack ? describeBefore(node.takenBack) : ""}` };
  const phase: PlannedNode = {
    ...task,
    id: "P1",
    objective: task.name,
    hints: {},
    tags: [],
    children: [told],
  };
  const definition = { ...BLANK_DEFINITION, title: node.name.slice(0, 120) };
  const provenance = {
    source: "file" as const,
    rejected: [],
    raw: "",
    change: `${nodeKey(node.goalId, node.workNodeId)} once more`,
  };
  const plan = { phases: [phase], limits: DEFAULT_PLAN_LIMITS, provenance };
  const made = createPlannedGoal(taken, { goalId, definition, origin: { kind: "prompt" }, repo: {} }, plan, moment);
  if (!made.ok) return made;
  const as = nodeKey(goalId, task.id);
  const word = nodeEvent(node, moment, "work.given_anew", "taken-back", { as, reason: node.takenBack?.reason ?? null });
  return accept([...made.events, word], as);
}

/** Another id, so that the old one still means the old node alone. */
function nameAgain(id: string): string {
  const [, plain = id, number = "1"] = /^(.*?)-again(?:-(\d+))?$/.exec(id) ?? [];
  return plain === id ? `${id.slice(0, 50)}-again` : `${plain}-again-${Number(number) + 1}`;
}

function planAgain(node: WorkNode, nodes: readonly WorkNode[]): PlannedNode {
  const below = nodes.filter(({ parentId }) => parentId === node.workNodeId);
  const isBeside = (id: string) =>
    nodes.some(
      ({ workNodeId, parentId, kind }) => workNodeId === id && parentId === node.parentId && kind === "subtask",
    );
  const siblings = node.kind === "subtask" ? node.dependsOn.filter(isBeside) : [];
  const { name, objective, expectedOutcome, acceptanceCriteria, definitionOfDone, hints, tags } = node;
  return {
    ...{ name, objective, expectedOutcome, definitionOfDone, hints, tags },
    id: nameAgain(node.workNodeId),
    acceptance: acceptanceCriteria.length > 0 ? acceptanceCriteria : ["What it asks for is done."],
    deps: siblings.map(nameAgain),
    blocks: [],
    children: below.map((one) => planAgain(one, nodes)),
  };
}

function describeBefore({ landed, commit, reason }: TakenBackWork): string {
  const why = reason === null ? "" : ` Why: ${reason}`;
  const by = commit === null ? "" : ` by ${commit.slice(0, 10)}`;
  return `\n\nThis was done before (commit ${landed.slice(0, 10)}) and taken back${by}; look at what was done, and do it better.${why}`;
}

/** PLAN-2: what people have set on nodes outlives every plan of a model, and what it repeats is no change. */
import { describe, expect, test } from "bun:test";
import { planAnswerSchema, readPlanAnswer } from "#planner/plan-answer.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { writePlanText } from "#planner/plan-text.ts";
import { nodeIn, plan, replanned, treeOf } from "../../../test/support/tree.ts";
import { keepSettings } from "./persons-settings.ts";
import type { PlannedNode } from "./plan.ts";
import { problemsOfBegun } from "./plan-material.ts";
import { toPlannedNodes, toPlanValues } from "./planned-nodes.ts";
import type { GoalTree } from "./settle.ts";

const WRITTEN = `
planVersion: 1
phases:
  - id: P1
    name: Dates
    objective: Dates are read
    acceptance: [bun test passes]
    model: opus
    recoveryPolicy: reassign
    budget: {cost: 5, time: 2h}
    tags: [urgent]
    tasks:
      - id: T1
        name: "Grammar "
        outcome: "A grammar\\twith <overseer-x> in it"
        acceptance: [It works, src/grammar.ts exports parse]
        definitionOfDone: Reviewed by Ada
        capability: builder
        runtime: claude
        idleAfter: 7m
        files: [src/a.ts, src/b.ts]
        checks: [unit]
        tags: [parser]
        hints: {riskLevel: high, estimatedEffort: 2h, suggestedAgentId: ada, requiredTools: [bun]}
      - id: T2
        name: Use it
        outcome: Used
        acceptance: [src/main.ts calls parse]
        deps: [T1]
        budget: {tokens: null}
        hints: {limits: {patience: 3m}}
        subtasks:
          - {id: S1, name: Call, acceptance: [src/main.ts has parse], hints: {ownAgent: true}}
`;
const TREE = treeOf(parsePlan(WRITTEN, "plan.yaml").phases, { tags: ["q3"] });

function withStatus(tree: GoalTree, id: string, status: "done" | "in_progress"): GoalTree {
  return { ...tree, nodes: tree.nodes.map((node) => (node.workNodeId === id ? { ...node, status } : node)) };
}

/** As the model is shown it, and answers it, with a change of its own. */
function answer(tree: GoalTree, change: (text: string) => string = (text) => text): readonly PlannedNode[] {
  const shown = JSON.stringify(toPlanValues(toPlannedNodes(tree.nodes)));
  const read = readPlanAnswer(planAnswerSchema.parse(JSON.parse(change(shown))), false);
  if (read.kind !== "plan") throw new Error(JSON.stringify(read));
  const kept = keepSettings(read.plan.phases, tree.goal, tree.nodes);
  const stored = parsePlan(writePlanText(kept, {}), "the proposed plan").phases;
  expect(stored).toEqual(kept);
  return stored;
}

const definitions = ({ nodes }: GoalTree) =>
  nodes.map(({ workNodeId, hints, tags, definitionOfDone, name }) => ({
    workNodeId,
    hints,
    tags,
    definitionOfDone,
    name,
  }));

test("PLAN-2: repeated word for word, nothing has changed: not what people set, and nothing that is done", () => {
  expect(definitions(replanned(TREE, answer(TREE)))).toEqual(definitions(TREE));
  const done = withStatus(TREE, "T1", "done");
  const decision = plan(done, answer(done));
  expect(decision).toMatchObject({ ok: true, value: { changed: 0, added: 0, kept: 4 } });
});

test("PLAN-2: a model changes what it may, and the rest of the node stays as people set it", () => {
  const after = replanned(
    TREE,
    answer(TREE, (text) => text.replace("Use it", "Use it well").replace('"definitionOfDone":"Reviewed by Ada",', "")),
  );
  expect(nodeIn(after, "T2").name).toBe("Use it well");
  expect(nodeIn(after, "T2").hints).toEqual(nodeIn(TREE, "T2").hints);
  expect(nodeIn(after, "T1")).toMatchObject({
    definitionOfDone: "Reviewed by Ada",
    tags: ["q3", "urgent", "parser"],
    hints: { model: "opus", runtime: "claude", riskLevel: "high", limits: { idleAfterMs: 420_000 } },
  });
});

test("PLAN-2: what a model adds below has what people said there for what is below", () => {
  const added = '{"id":"T9","name":"New","outcome":"New","acceptance":["src/new.ts is there"]},{"id":"T2"';
  const after = replanned(
    TREE,
    answer(TREE, (text) => text.replace('{"id":"T2"', added)),
  );
  expect(nodeIn(after, "T9")).toMatchObject({
    hints: { model: "opus", recoveryPolicy: "reassign", limits: { budget: { cost: 5, timeMs: 7_200_000 } } },
    tags: ["q3", "urgent"],
  });
});

test("PLAN-2: what is done may be left out, although what is open comes after it", () => {
  const done = withStatus(TREE, "T1", "done");
  const phases = answer(done).map((phase) => ({
    ...phase,
    children: phase.children.filter(({ id }) => id !== "T1"),
  }));
  expect(plan(done, phases)).toMatchObject({ ok: true, value: { cancelled: 0 } });
  expect(plan(TREE, phases)).toMatchObject({ ok: false, refusal: { code: "PLAN_INVALID" } });
});

describe("PLAN-2: what is in progress stays as it is in all that a model may decide", () => {
  const atWork = withStatus(TREE, "T2", "in_progress");
  const begun = withStatus(atWork, "T1", "in_progress");
  test.each([
    ["nothing", "", "", []],
    ["checks", '"checks":["unit"]', '"checks":["e2e"]', ["T1"]],
    ["a role", '"capability":"builder"', '"capability":"lead"', ["T1"]],
    ["no role", '"capability":"builder",', "", ["T1"]],
    ["what it waits for", '"deps":["T1"],', "", ["T2"]],
    ["when it is done", "Reviewed by Ada", "Whatever", ["T1"]],
    ["files in another order", '["src/a.ts","src/b.ts"]', '["src/b.ts","src/a.ts"]', []],
  ])("%s", (_what, from, to, ids) => {
    const problems = problemsOfBegun(
      answer(begun, (text) => text.replace(from, to)),
      begun.nodes,
    );
    expect(problems).toEqual(ids.map((id) => expect.stringContaining(`${id} is in progress: repeat it word for word`)));
  });
});

test("PLAN-2: what is in progress is not moved elsewhere", () => {
  const begun = withStatus(TREE, "T1", "in_progress");
  const moved = answer(begun).flatMap((phase) => {
    const [first, ...rest] = phase.children;
    return [
      { ...phase, children: rest },
      { ...phase, id: "P2", children: first ? [first] : [] },
    ];
  });
  expect(problemsOfBegun(moved, begun.nodes)).toEqual([expect.stringContaining("T1 is in progress: leave it in P1")]);
});

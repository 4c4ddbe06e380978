/** What dispatch needs to know of a node, as people write it in a plan. */
import { expect, test } from "bun:test";
import { OverseerError } from "#errors.ts";
import { parsePlan } from "./plan-file.ts";

const PLAN = `
planVersion: 1
goal: {title: Dates, successCriteria: [all parse], constraints: [no new dependency]}
phases:
  - id: P1
    name: Parse
    capability: builder
    model: sonnet
    budget: {cost: 2}
    tasks:
      - id: T1
        name: Grammar
        files: [./src/dates/, "docs/*.md"]
        runtime: scripted
        checks: [unit]
        idleAfter: 20m
        dueEvery: 30m
        recoveryPolicy: reassign
        budget: {time: 1h}
      - id: T2
        name: Other
        model: opus
        capability: scout
        hints: {suggestedAgentType: lead, riskLevel: high, limits: {patience: 3m}}
        subtasks: [{id: S1, name: Part, files: [a]}]
`;

test("SCOPE-1, ASG-1: a node says what its agent needs; a phase says it for its tasks, which may say otherwise", () => {
  const { phases, goal } = parsePlan(PLAN, "plan.yaml");
  expect(goal).toEqual({ title: "Dates", successCriteria: ["all parse"], constraints: ["no new dependency"] });
  const [first, second] = phases[0]?.children ?? [];
  const shared = { capability: "builder", model: "sonnet" };
  expect(phases[0]?.hints).toEqual({ ...shared, limits: { budget: { cost: 2 } } });
  expect(first?.hints).toEqual({
    ...shared,
    runtime: "scripted",
    checks: ["unit"],
    recoveryPolicy: "reassign",
    limits: { idleAfterMs: 1_200_000, dueEveryMs: 1_800_000, budget: { cost: 2, timeMs: 3_600_000 } },
    files: ["src/dates", "docs/*.md"],
  });
  expect(second?.hints).toEqual({
    suggestedAgentType: "lead",
    riskLevel: "high",
    capability: "scout",
    model: "opus",
    limits: { budget: { cost: 2 }, patienceMs: 180_000 },
  });
  expect(second?.children[0]?.hints).toMatchObject({ model: "opus", files: ["a"] });
});

test("a plan without any of it is what it was", () => {
  const node = { id: "P1", name: "P", hints: { riskLevel: "low" }, tasks: [{ id: "T1", name: "T" }] };
  const { phases, goal } = parsePlan(JSON.stringify({ planVersion: 1, phases: [node] }), "plan.json");
  expect([goal, phases[0]?.hints, phases[0]?.children[0]?.hints]).toEqual([{}, { riskLevel: "low" }, {}]);
});

test.each([
  ["files: [a]", "phases[0]: Unrecognized key"],
  ["recoveryPolicy: prayer", "phases[0].recoveryPolicy"],
  ["dueEvery: often", "phases[0].dueEvery: must be a duration"],
])("a phase that says %s is refused, with the place", (line, says) => {
  const text = `planVersion: 1\nphases:\n  - id: P1\n    name: P\n    ${line}\n`;
  expect(() => parsePlan(text, "plan.yaml")).toThrow(OverseerError);
  expect(() => parsePlan(text, "plan.yaml")).toThrow(says);
});

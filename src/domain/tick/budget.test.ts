/** Budgets that are spent: whose limit it is, who may raise it, and that nobody is paused for ever. */
import { expect, test } from "bun:test";
import type { Allowance } from "#domain/model/limits.ts";
import {
  applied,
  attemptWith,
  LIMITS,
  MINUTE,
  seenWith,
  snapshotOf,
  working,
} from "../../../test/support/snapshots.ts";
import { nodeWith } from "../../../test/support/tree.ts";
import { type Decided, decide } from "./decide.ts";
import type { Snapshot } from "./snapshot.ts";

const asked = (world: Snapshot) => decide(world).actions.map((action) => `${action.kind} ${action.because}`);
const types = (world: Snapshot) =>
  decide(world)
    .events.map((event) => event.type)
    .filter((type) => type !== "overseer.tick" && type !== "action.decided");
const spent = (tokens: number) => {
  const usage = { ...snapshotOf().usage.day, outputTokens: tokens };
  return { agents: { "1": usage }, goals: {}, day: usage, today: "2026-01-06" };
};
const budgets = { ...LIMITS.budgets, agent: { tokens: 100, cost: null, timeMs: null } };
const limits = { ...LIMITS, budgets };

const idsAsked = ({ actions }: Pick<Decided, "actions">) =>
  actions.flatMap((one) => (one.kind === "ask" ? [one.payload.questionId] : []));
const raised = (world: Snapshot, scope: string, more: Partial<Allowance>) =>
  applied(world, {
    events: [{ type: "budget.raised", actor: "human:ada", because: "x", data: { scope, raised: more } }],
  });

/** Paused for its budget, with the question open. */
const pausedWorld = (world: Snapshot): Snapshot => {
  const told = { ...applied(world, decide(world)), actions: [], now: world.now + 3 * 60 * MINUTE };
  const { actions, events } = decide(told);
  const questions = actions.flatMap((one) => (one.kind === "ask" ? [openQuestion(one.payload.questionId)] : []));
  const agents = [seenWith({ attempt: attemptWith({ status: "paused", pausedBecause: "budget" }) })];
  return { ...applied(told, { events }, told.now), actions: [], questions, agents };
};
const openQuestion = (questionId: string) =>
  ({ questionId, goalId: "goal_A", workNodeId: null, status: "open" }) as unknown as Snapshot["questions"][number];
const textsAsked = (world: Snapshot) =>
  decide(world).actions.flatMap((one) => (one.kind === "ask" ? [one.payload.text] : []));
const told = (world: Snapshot) => ({
  ...applied(world, decide(world)),
  actions: [],
  now: world.now + 3 * 60 * MINUTE,
});
const own = (tokens: number) => ({ nodes: [nodeWith("in_progress", { hints: { limits: { budget: { tokens } } } })] });
const roles = { builder: { budget: { tokens: 100 } } };

test.each([
  ["the node's own, budget.tokens in its plan", { limits, ...own(100) }],
  ["that of its role, limits.budget.tokens in .overseer/roles/builder.yaml", { limits: { ...limits, roles } }],
  ["budgets.agent.tokens in .overseer/config.yaml", { limits }],
] as [string, Partial<Snapshot>][])("BUDGET-1: the question says whose limit is spent: %s", (whose, rest) => {
  const [text] = textsAsked(told(working({}, { usage: spent(120), ...rest })));
  expect(text).toContain(
    `goal_A/T1 is spent (120 tokens of 100 tokens), and builder-1#1 is paused: the limit is ${whose}`,
  );
  expect(text).toContain("'overseer work budget goal_A/T1 --tokens <n>'");
});

test("BUDGET-1: a node's own limit: the configuration does not raise it, its plan and a person do, and its question is withdrawn", () => {
  const paused = pausedWorld(working({}, { limits, usage: spent(120), ...own(100) }));
  const configured = { ...LIMITS.budgets, agent: { ...limits.budgets.agent, tokens: 9e9 } };
  expect(types({ ...paused, limits: { ...limits, budgets: configured } })).toEqual([]);
  const planned = { ...paused, ...own(500) };
  expect(types(planned)).toEqual(["budget.cleared", "question.withdrawn"]);
  expect(asked(planned)).toEqual(["resume budget-cleared"]);
  const granted = raised(paused, "node:goal_A/T1", { tokens: 500 });
  expect(types(granted)).toEqual(["budget.cleared", "question.withdrawn"]);
  expect(asked(granted)).toEqual(["resume budget-cleared"]);
  expect(types(raised(paused, "node:goal_A/T2", { tokens: 500 }))).toEqual([]);
  expect(asked(raised(paused, "node:goal_A/T1", { tokens: null }))).toEqual(["resume budget-cleared"]);
});

test("BUDGET-1: a limit that was raised and is still spent, or spent once more, is asked about again", () => {
  const paused = pausedWorld(working({}, { limits, usage: spent(120), ...own(100) }));
  const little = raised(paused, "node:goal_A/T1", { tokens: 110 });
  expect(types(little)).toEqual(["question.withdrawn", "budget.exceeded", "budget.paused"]);
  expect(textsAsked(little)).toEqual([expect.stringContaining("the limit is what a person has set it to")]);
  expect(types({ ...applied(little, decide(little)), actions: [], questions: [] })).toEqual([]);
  const enough = raised(paused, "node:goal_A/T1", { tokens: 200 });
  const running = { ...applied(enough, decide(enough)), actions: [], questions: [], agents: [seenWith({})] };
  const again = { ...running, usage: spent(200), now: running.now + MINUTE };
  expect(types(again)).toContain("budget.exceeded");
  const [first, second] = [decide(told(working({}, { limits, usage: spent(120) }))), decide(told(again))];
  expect(idsAsked(second)).toHaveLength(1);
  expect(idsAsked(second)).not.toEqual(idsAsked(first));
});

test("BUDGET-1: a goal and a day are raised in the same way, and a question that is not asked yet is dropped", () => {
  const usage = { ...spent(0), goals: { goal_A: spent(120).day }, day: spent(120).day };
  const some = { tokens: 100, cost: null, timeMs: null };
  const both = { ...LIMITS, budgets: { ...LIMITS.budgets, goal: some, day: some } };
  const world = told(working({}, { usage, limits: both }));
  const pending = applied(world, decide(world));
  expect(pending.actions.filter(({ kind }) => kind === "ask")).toHaveLength(2);
  const goalRaised = raised(pending, "goal:goal_A", { tokens: 500 });
  expect(types(goalRaised)).toEqual(["budget.cleared", "action.dropped"]);
  const dayRaised = raised(applied(goalRaised, decide(goalRaised)), "day:2026-01-06", { tokens: 500 });
  expect(types(dayRaised)).toEqual(["budget.cleared", "action.dropped"]);
  // One that is being asked just now is withdrawn when it is there, and not missed.
  const asking = { ...goalRaised, actions: goalRaised.actions.map((one) => ({ ...one, status: "taken" as const })) };
  expect(types(asking)).toEqual([]);
});

const limited = (world: Snapshot, scope: string, limit: Partial<Allowance>) =>
  applied(world, {
    events: [{ type: "budget.limited", actor: "human:ada", because: "x", data: { scope, limit } }],
  });

test("BUDGET-1, DO-1: what a person lets a goal cost is its limit, also where none is configured, and goes before one that is", () => {
  const costs = (costUsd: number) => ({ ...spent(0), goals: { goal_A: { ...spent(0).day, costUsd } } });
  const world = working({}, { usage: costs(6) });
  expect(types(world)).toEqual([]);
  const held = limited(world, "goal:goal_A", { cost: 5 });
  expect(types(held)).toEqual(["budget.exceeded"]);
  expect(textsAsked(told(held))[0]).toContain(
    "goal_A is spent ($6.00 of $5.00), and its agents are paused: the limit is what a person has set it to",
  );
  expect(types(limited(world, "goal:goal_B", { cost: 5 }))).toEqual([]);
  expect(types(raised(held, "goal:goal_A", { cost: 20 }))).toEqual([]);
  const configured = { ...LIMITS, budgets: { ...LIMITS.budgets, goal: { tokens: null, cost: 50, timeMs: null } } };
  expect(types(limited(working({}, { usage: costs(6), limits: configured }), "goal:goal_A", { cost: 5 }))).toEqual([
    "budget.exceeded",
  ]);
  expect(types(limited(raised(held, "goal:goal_A", { cost: 20 }), "goal:goal_A", { cost: 5 }))).toContain(
    "budget.exceeded",
  );
});

/**
 * A plan of 245 nodes, as large as a model may write one: from its text to the verdict of the rules. And the rules, the
 * critical path and the estimate over a thousand nodes against 250: one that compared each node with each would cost four
 * times as much per node.
 */
import type { Role } from "#domain/model/role.ts";
import { estimatePlan } from "#domain/plans/estimate.ts";
import { judgePlan } from "#domain/plans/judge-plan.ts";
import type { KnownNames } from "#domain/plans/known-names.ts";
import { DEFAULT_PLAN_LIMITS, PERSONS_PLAN_LIMITS, type PlannedNode, problemsOfPlan } from "#domain/plans/plan.ts";
import { partsOfPlan } from "#domain/plans/plan-pieces.ts";
import { parsePlan } from "#planner/plan-file.ts";
import { LARGE, planOf } from "../support/large-plan.ts";
import { cpuOfThis, type Measure, median, turnAbout } from "./row.ts";

/** A single one is too short to be measured. */
const ROUNDS = 10;
const KNOWN: KnownNames = { roles: new Map([["builder", {} as Role]]), runtimes: ["claude-code"], checks: ["unit"] };
/** What a repository of some size has. */
const TRACKED = Array.from({ length: 5_000 }, (_, at) => `src/part-${at % 50}/file-${at}.ts`);
const GROUNDS = {
  finished: [10, 20, 30].map((minutes) => ({
    ...{ capability: "builder", runtime: "claude-code" },
    ...{ workingMs: minutes * 60_000, tokens: 1_000, costUsd: 1 },
  })),
  defaults: { capability: "builder", runtime: "claude-code", runtimes: {} },
  places: 5,
};

/** One validation, in CPU time. */
export const validation: Measure = async ({ quick, until }) => {
  const text = JSON.stringify({ planVersion: 1, phases: planOf(LARGE).map((phase) => toFile(phase, 0)) });
  const ground = { limits: DEFAULT_PLAN_LIMITS, known: KNOWN, tracked: TRACKED, settled: new Set<string>() };
  const validate = () => judgePlan(parsePlan(text, "plan.json").phases, ground);
  const one = async () =>
    (await cpuOfThis(() => {
      for (let round = 0; round < ROUNDS; round += 1) validate();
    })) / ROUNDS;
  const turns: number[] = [];
  const first = await cpuOfThis(validate);
  while (turns.length < (quick ? 5 : 15) && (turns.length === 0 || performance.now() < until)) turns.push(await one());
  return { value: median(turns), turns: turns.length, note: `the first one ${first.toFixed(1)} ms` };
};

export const linear: Measure = async ({ quick, until }) => {
  const [many, few] = [judgeOften(1_000), judgeOften(250)];
  return turnAbout({ turns: quick ? 5 : 15, until }, many, async () => 4 * (await few()));
};

function judgeOften(nodes: number): () => Promise<number> {
  const plan = planOf(nodes);
  const rounds = Math.ceil(10_000 / nodes);
  return async () => {
    const all = await cpuOfThis(() => {
      for (let round = 0; round < rounds; round += 1) {
        problemsOfPlan(plan, PERSONS_PLAN_LIMITS);
        estimatePlan(partsOfPlan(plan), GROUNDS);
      }
    });
    return all / rounds;
  };
}

/** As a model writes it. */
function toFile({ id, name, objective, acceptance, deps, hints, children }: PlannedNode, depth: number): object {
  const own = { id, name, objective, acceptance, deps, ...(depth === 0 ? {} : { files: hints.files ?? [] }) };
  const below = children.map((child) => toFile(child, depth + 1));
  return {
    ...own,
    capability: "builder",
    ...(below.length > 0 ? { [depth === 0 ? "tasks" : "subtasks"]: below } : {}),
  };
}

/**
 * The simulator at work: nothing that must hold breaks, the same seed is the same course, and every bug that is planted
 * is found. How many seeds there are follows from what a machine can do in the time that tests have; `overseer sim
 * --seeds` takes as many as one likes.
 */
import { describe, expect, test } from "bun:test";
import { scenarioOf, simulate } from "#sim/run.ts";
import { shrink } from "#sim/shrink.ts";
import { scaled } from "../support/scale.ts";
import { PLANTED } from "./planted-bugs.ts";

test("SIM-1: with everything that goes wrong, nothing that must hold breaks, and all comes to its end", async () => {
  const broken: unknown[] = [];
  for (let seed = 1; seed <= scaled(20); seed += 1) {
    const { violations } = await simulate(scenarioOf(seed));
    if (violations.length > 0) broken.push({ seed, violations });
  }
  expect(broken).toEqual([]);
});

test("SIM-1: the same seed is the same course, to the byte; another is another", async () => {
  const course = async (seed: number) => (await simulate(scenarioOf(seed), { trace: true })).trace.join("\n");
  const first = await course(7);
  expect(first.length).toBeGreaterThan(10_000);
  expect(await course(7)).toBe(first);
  expect(await course(8)).not.toBe(first);
});

describe("SIM-1: a bug that is planted is found", () => {
  test.each(PLANTED.map((bug) => [bug.name, bug] as const))("%s", async (_name, { subject, breaks }) => {
    for (let seed = 1; seed <= 2_000; seed += 1) {
      const { violations } = await simulate(scenarioOf(seed), { subject });
      if (violations.length === 0) continue;
      expect(breaks as readonly string[]).toContain(violations[0]?.invariant ?? "");
      return;
    }
    throw new Error("It was not found.");
  });
});

test("SIM-1: a failure is made smaller, and what is left still fails", async () => {
  const bug = PLANTED.find(({ name }) => name === "a kill on one sign");
  if (!bug?.breaks[0]) throw new Error("There is no such bug.");
  const scenario = scenarioOf(2);
  const small = await shrink(scenario, bug.breaks[0], bug.subject);
  expect(small.scenario.faults.length).toBeLessThan(scenario.faults.length / 4);
  expect(small.outcome.violations.map(({ invariant }) => invariant)).toContain(bug.breaks[0]);
  expect(small.outcome.trace.at(-1)).toBeDefined();
});

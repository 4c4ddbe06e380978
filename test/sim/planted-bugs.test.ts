/** Whether the simulator finds anything: every bug that is planted is found, and what is found is made small. */
import { describe, expect, test } from "bun:test";
import { scenarioOf, simulate } from "#sim/run.ts";
import { shrink } from "#sim/shrink.ts";
import { PLANTED } from "./planted-bugs.ts";

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

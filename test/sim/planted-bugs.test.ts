/** Whether the simulator finds anything: every bug that is planted is found, and what is found is made small. */
import { describe, expect, test } from "bun:test";
import type { FaultKind } from "#sim/faults.ts";
import type { Violation } from "#sim/invariants.ts";
import { simulate } from "#sim/run.ts";
import { type Scenario, scenarioOf } from "#sim/scenario.ts";
import { shrink } from "#sim/shrink.ts";
import { PLANTED, type PlantedBug } from "./planted-bugs.ts";

/** The first course in which it shows, and how. */
async function firstBroken({
  subject,
  from = 1,
  often = [],
  replanning,
  auto,
}: PlantedBug): Promise<{ scenario: Scenario; broken: Violation }> {
  for (let seed = from; seed <= 2_000; seed += 1) {
    const scenario = {
      ...withOften(scenarioOf(seed, auto ? { auto } : {}), often),
      ...(replanning ? { replanning } : {}),
    };
    const [broken] = (await simulate(scenario, { subject })).violations;
    if (broken) return { scenario, broken };
  }
  throw new Error("It was not found.");
}

function withOften(scenario: Scenario, kinds: readonly FaultKind[]): Scenario {
  const faults = scenario.faults.map((fault, index) => {
    const kind = index % 2 === 0 ? kinds[(index / 2) % kinds.length] : undefined;
    return kind === undefined ? fault : { ...fault, kind };
  });
  return { ...scenario, faults };
}

describe("SIM-1: a bug that is planted is found", () => {
  test.each(PLANTED.map((bug) => [bug.name, bug] as const))("%s", async (_name, bug) => {
    const { broken } = await firstBroken(bug);
    expect(bug.breaks).toContain(broken.invariant);
  });
});

test("SIM-1: a failure is made smaller, and what is left still fails", async () => {
  const bug = PLANTED.find(({ name }) => name === "a kill on one sign");
  if (!bug) throw new Error("There is no such bug.");
  const { scenario, broken } = await firstBroken(bug);
  const small = await shrink(scenario, broken.invariant, bug.subject);
  expect(small.scenario.faults.length).toBeLessThan(scenario.faults.length / 4);
  expect(small.outcome.violations.map(({ invariant }) => invariant)).toContain(broken.invariant);
  expect(small.outcome.trace.at(-1)).toBeDefined();
});

/**
 * A failure made as small as it gets: faults are left out, halves first and then one by one, as long as the same
 * invariant still breaks. Everything else follows from the seed, so what is left replays.
 */
import type { Fault } from "./faults.ts";
import type { Invariant } from "./invariants.ts";
import type { SimulationResult, Subject } from "./run.ts";
import { simulate } from "./run.ts";
import type { Scenario } from "./scenario.ts";

/** So many tries at most: each is a whole simulation. */
const MOST_TRIES = 80;

export interface Shrunk {
  readonly scenario: Scenario;
  readonly outcome: SimulationResult;
}

export async function shrink(
  scenario: Scenario,
  invariant: Invariant,
  subject: Partial<Subject> = {},
): Promise<Shrunk> {
  const breaks = async (faults: readonly Fault[]): Promise<boolean> => {
    const { violations } = await simulate({ ...scenario, faults }, { subject });
    return violations.some((one) => one.invariant === invariant);
  };
  let left = [...scenario.faults];
  let tries = 0;
  for (
    let size = Math.ceil(left.length / 2);
    size >= 1 && tries < MOST_TRIES;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < left.length && tries < MOST_TRIES; ) {
      tries += 1;
      const without = [...left.slice(0, at), ...left.slice(at + size)];
      if (await breaks(without)) left = without;
      else at += size;
    }
  }
  const smallest = { ...scenario, faults: left };
  return { scenario: smallest, outcome: await simulate(smallest, { subject, trace: true }) };
}

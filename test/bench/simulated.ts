/**
 * What the simulator costs: a whole course of it, as the tests run thousands of, and one tick of control over agents
 * that are all at work, in the memory store.
 */
import { machineObserver } from "#engine/observe.ts";
import { tick } from "#engine/tick.ts";
import { Machine } from "#sim/machine.ts";
import { simulate } from "#sim/run.ts";
import { makeSimulatedConfig, scenarioOf } from "#sim/scenario.ts";
import { addRunning } from "../support/attempts.ts";
import { cpuOfThis, type Measure, median } from "./row.ts";

/** The mean over seeds, because courses differ by a factor of four. */
export const course: Measure = async ({ quick, until }) => {
  const seeds = quick ? 10 : 60;
  await simulate(scenarioOf(seeds + 1));
  let played = 0;
  const all = await cpuOfThis(async () => {
    for (let seed = 1; seed <= seeds && (played === 0 || performance.now() < until); seed += 1) {
      const { violations } = await simulate(scenarioOf(seed));
      if (violations.length > 0) throw new Error(`Seed ${seed} broke what must hold; 'overseer sim --seed ${seed}'.`);
      played += 1;
    }
  });
  return { value: all / played, turns: 1, note: `the mean of ${played} seeds` };
};

export function tickOf(agents: number): Measure {
  return async ({ quick, until }) => {
    const machine = new Machine(1, makeSimulatedConfig({ agents }), () => undefined);
    const { world } = machine.begin(() => undefined);
    const runner = machine.processes.start({ command: "runner", env: {} });
    await addRunning(machine.store, agents, runner);
    const observer = machineObserver(world, { periodMs: null });
    const turns: number[] = [];
    // The first has more to say: it meets everybody.
    await tick(world, observer, "bench");
    while (turns.length < (quick ? 2 : 7) && (turns.length === 0 || performance.now() < until)) {
      turns.push(await cpuOfThis(() => tick(world, observer, "bench")));
    }
    const value = median(turns);
    return { value, turns: turns.length, note: `${((value / agents) * 1000).toFixed(0)} µs an agent` };
  };
}

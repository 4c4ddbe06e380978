/** `overseer sim`: a fleet in memory, thousands of bad days of it; what must never happen is looked for. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { plural } from "#cli/text.ts";
import { presentPlain } from "#control/present.ts";
import { OverseerError } from "#errors.ts";
import type { SimulationResult } from "#sim/run.ts";
import type { Scenario } from "#sim/scenario.ts";

const command: Command<Parts> = {
  name: "sim",
  summary: "Run the fleet simulator and check its invariants.",
  details:
    "Everything happens in memory; no repository is needed or touched. A failure names its seed and shows the shortest sequence of faults that leads to it; the same seed always gives the same run.",
  options: [
    { name: "seeds", value: "n", summary: "How many runs, starting at seed 1 (default 100)." },
    { name: "seed", value: "s", summary: "Run this seed only." },
    { name: "agents", value: "n", summary: "How many tasks, each with its agent (default 12)." },
    { name: "trace", summary: "Print everything that happens, line by line." },
  ],
  examples: [
    { line: "overseer sim --seeds 500", why: "five hundred bad days" },
    { line: "overseer sim --seed 57 --trace", why: "one of them, from beginning to end" },
  ],
  async run(call) {
    const agents = call.number("agents") ?? 12;
    const only = call.number("seed");
    const seeds = only === undefined ? range(call.number("seeds") ?? 100) : [only];
    const trace = call.has("trace");
    const meter = progressOf(call, seeds.length);
    const [{ simulate }, { scenarioOf }] = await Promise.all([import("#sim/run.ts"), import("#sim/scenario.ts")]);
    const totals = { seeds: 0, events: 0, deaths: 0, attempts: 0 };
    for (const seed of seeds) {
      const scenario = scenarioOf(seed, { agents });
      const outcome = await simulate(scenario, { trace });
      totals.seeds += 1;
      totals.events += outcome.events;
      totals.deaths += outcome.deaths;
      totals.attempts += outcome.attempts;
      if (trace && !call.json) for (const line of outcome.trace) call.out.line(line);
      if (outcome.violations.length > 0) {
        meter.end();
        throw await failure(call, scenario, outcome);
      }
      meter.showCount(totals.seeds);
    }
    meter.end();
    if (call.json) return call.out.json(presentPlain({ ...totals, violations: [] }));
    call.out.line(
      `${plural(totals.seeds, "simulation")}, ${totals.events} events, ${plural(totals.attempts, "attempt")}, ${plural(totals.deaths, "death")} of Overseer: nothing that must hold was broken.`,
    );
  },
};

/** How far it is, on the terminal of a person who waits; nothing where a script reads. */
function progressOf(call: Call, of: number): { showCount(count: number): void; end(): void } {
  const shown = of > 1 && !call.json && !call.has("trace") && process.stderr.isTTY === true;
  return {
    showCount: (count) => void (shown && process.stderr.write(`\r${count} of ${of} simulations`)),
    end: () => void (shown && process.stderr.write("\r\u001b[K")),
  };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** What broke, the faults that are needed for it, and what was written in the steps around it. */
async function failure(call: Call, scenario: Scenario, outcome: SimulationResult): Promise<OverseerError> {
  const [first] = outcome.violations;
  if (!first) throw new Error("Nothing was violated.");
  const { shrink } = await import("#sim/shrink.ts");
  const small = await shrink(scenario, first.invariant);
  const broken = small.outcome.violations[0] ?? first;
  const lines = [
    ...small.scenario.faults.map(({ step, kind, number }) => `  step ${step}: ${kind} ${number}`),
    ...small.outcome.trace.slice(-LAST_LINES).map((line) => `  ${line}`),
  ];
  if (call.json)
    call.out.json(presentPlain({ seed: scenario.seed, violations: outcome.violations, faults: small.scenario.faults }));
  else for (const line of lines) call.out.line(line);
  return new OverseerError(
    "internal",
    "INVARIANT_BROKEN",
    `Seed ${scenario.seed}, step ${broken.step}: it does not hold that ${broken.invariant}: ${broken.detail}`,
    `See all of it: overseer sim --seed ${scenario.seed} --agents ${scenario.agents} --trace`,
  );
}

const LAST_LINES = 30;

export default command;

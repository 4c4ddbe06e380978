/**
 * The reflex measured: precision and recall over labelled episodes, and how often agents that are well were bothered.
 * The kept traces are what the generator writes; the held-out ones come from seeds at which no rule was ever looked at.
 */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BUILT_IN_ROLES, readRole } from "#config/roles.ts";
import { schema } from "#config/schema.ts";
import type { Tally } from "#domain/signals/reflex-replay.ts";
import { tally } from "#domain/signals/reflex-replay.ts";
import type { ReflexRules } from "#domain/signals/reflex-rules.ts";
import { rulesFor } from "#domain/signals/reflex-rules.ts";
import { readTraces, replay } from "../support/traces.ts";
import { KEPT_SEED, traces } from "../traces/generate.ts";

const kept = join(import.meta.dir, "../traces");
const known = new Map<string, ReflexRules>();
function rulesOf(role: string): ReflexRules {
  const rules =
    known.get(role) ?? rulesFor(readRole(role, BUILT_IN_ROLES.get(role) ?? "", role), schema.parse({}).reflex);
  known.set(role, rules);
  return rules;
}

function measured(files: Iterable<readonly [name: string, text: string]>): Tally {
  const all = [...files].flatMap(([name, text]) => readTraces(name, text));
  return tally(all.map((trace) => replay(trace, rulesOf(trace.role ?? "builder"))));
}

function tableOf({ scores, healthy, healthyHours, healthyAlarms }: Tally): string {
  const rows = scores.map(
    ({ anomaly, episodes, noticed, missed, falseAlarms, precision, recall }) =>
      `  ${anomaly.padEnd(15)} ${String(episodes).padStart(3)} episodes, ${noticed} noticed, ${missed} missed, ${falseAlarms} false; precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)}`,
  );
  return [...rows, `  ${healthy} healthy stretches, ${healthyHours.toFixed(1)} h: ${healthyAlarms} false alarms`].join(
    "\n",
  );
}

function assertGood(all: Tally): void {
  // What only a person can solve is told to one, and not to the agent.
  for (const score of all.scores.filter(({ anomaly }) => anomaly !== "blocked")) {
    expect(score.episodes).toBeGreaterThanOrEqual(15);
    expect([score.anomaly, score.precision >= 0.95, score.recall >= 0.95]).toEqual([score.anomaly, true, true]);
  }
  expect(all.healthy).toBeGreaterThanOrEqual(100);
  expect(all.falseAlarmsPerHour).toBeLessThanOrEqual(0.1);
}

describe("the reflex on labelled traces", () => {
  test("the kept traces are the generator's, byte for byte", () => {
    const made = traces(KEPT_SEED);
    const names = readdirSync(kept).filter((name) => name.endsWith(".ndjson"));
    expect(names.toSorted()).toEqual([...made.keys()].toSorted());
    for (const name of names) expect(readFileSync(join(kept, name), "utf8") === made.get(name)).toBe(true);
  });

  test("ANOM-1…5: every anomaly is noticed and nobody is bothered without reason", () => {
    const all = measured(traces(KEPT_SEED));
    console.log(`kept traces\n${tableOf(all)}`);
    assertGood(all);
  });

  test.each([false, true])("ANOM-1…5: the same on traces that were held out, untidy %p", (untidy) => {
    const seeds = [104_729, 1_299_709];
    const all = measured(seeds.flatMap((seed) => [...traces(seed, untidy)]));
    console.log(`held out, ${seeds.length} seeds${untidy ? ", untidy" : ""}\n${tableOf(all)}`);
    assertGood(all);
  });
});

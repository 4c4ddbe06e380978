/**
 * Overseer dies at a call of one of its ports, before or after the call is done, and the next one continues. One small
 * course has some thousand such places; each run takes them at equal distances, beginning elsewhere for each way of
 * dying, and with a large enough OVERSEER_TEST_SCALE every one of them.
 */
import { expect, test } from "bun:test";
import { simulate } from "#sim/run.ts";
import { scenarioOf } from "#sim/scenario.ts";
import { scaled } from "../support/scale.ts";

const PLACES = 50;

/** An ordinary course, one in which a model is asked about stalls and splits work, and one in auto mode. */
const COURSES: [when: "before" | "after", seed: number, places: number][] = [
  ["before", 3, PLACES],
  ["after", 3, PLACES],
  ["before", 40, PLACES / 2],
  ["after", 40, PLACES / 2],
  ["before", 10, PLACES / 8],
  ["after", 10, PLACES / 8],
];

test.each(COURSES)(
  "SIM-1: Overseer may die %s any call of a port, in course %d",
  async (when, seed, places) => {
    const calm = { ...scenarioOf(seed, { agents: 4 }), faults: [] };
    const { calls } = await simulate(calm);
    expect(calls).toBeGreaterThan(500);
    const stride = Math.max(1, Math.floor(calls / scaled(places)));
    const broken: unknown[] = [];
    for (let call = when === "before" ? 1 : 1 + Math.floor(stride / 2); call <= calls; call += stride) {
      const { violations, deaths } = await simulate({ ...calm, death: { call, when } });
      if (violations.length > 0 || deaths !== 1) broken.push({ call, when, deaths, violations });
    }
    expect(broken).toEqual([]);
  },
  scaled(60_000),
);

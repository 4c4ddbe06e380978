/** Courses of the simulator, one seed after the other; what breaks is collected with its seed, so that it can be replayed. */
import { simulate } from "#sim/run.ts";
import { scenarioOf } from "#sim/scenario.ts";
import { isLongLane, scaled } from "../support/scale.ts";

/** Everything that broke in `count` courses: seeds `first`, `first + every` and so on. */
export async function brokenIn(first: number, every: number, count: number): Promise<unknown[]> {
  const broken: unknown[] = [];
  for (let index = 0; index < count; index += 1) {
    const seed = first + index * every;
    const { violations } = await simulate(scenarioOf(seed));
    if (violations.length > 0) broken.push({ seed, violations });
  }
  return broken;
}

/** How many each of the two files takes; half of the courses are in each, so that two test processes share them. */
export function seedsEach(): number {
  return isLongLane() ? 10_000 : scaled(100);
}

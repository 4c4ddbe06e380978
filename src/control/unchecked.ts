/** Whether anything proves what agents report, under the settings as they are: for `up` and `doctor`. */
import { rulesNow } from "#act/landing/rules.ts";
import { type CheckFacts, tellUnchecked } from "#domain/health/unchecked.ts";
import type { World } from "./world.ts";

/** `auto`: a daemon is about to be started so. */
export async function readCheckFacts(world: World, auto = false): Promise<CheckFacts> {
  const [{ checks, landing }, { mode }] = await Promise.all([world.config(), rulesNow(world)]);
  return { checks: Object.keys(checks), landsByItself: mode === "auto" || (auto && landing.mode === null) };
}

/** The sentence about it; null where there is a check. */
export async function readUnchecked(world: World, auto: boolean): Promise<string | null> {
  return tellUnchecked(await readCheckFacts(world, auto));
}

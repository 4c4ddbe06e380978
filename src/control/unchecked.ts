/** Whether anything proves what agents report, under the settings as they are: for `up` and `doctor`. */
import { rulesNow } from "#act/landing/rules.ts";
import { type CheckFacts, tellUnchecked } from "#domain/health/unchecked.ts";
import type { World } from "./world.ts";

export async function readCheckFacts(world: World): Promise<CheckFacts> {
  const [{ checks }, { mode }] = await Promise.all([world.config(), rulesNow(world)]);
  return { checks: Object.keys(checks), landsByItself: mode === "auto" };
}

/** The sentence about it; null where there is a check. */
export async function readUnchecked(world: World): Promise<string | null> {
  return tellUnchecked(await readCheckFacts(world));
}

/** Which id a goal gets that somebody asked for in a sentence. */
import { nameGoal } from "#domain/plans/short-name.ts";
import { goalsWithPrefix } from "#store/goals.ts";
import { redact } from "#telemetry/redact.ts";
import type { World } from "./world.ts";

/** A short id that people can read, made of the text; any where the text gives none. */
export async function chooseGoalId(world: World, text: string): Promise<string> {
  const name = nameGoal(redact(text), new Set());
  if (name === undefined) return world.ids.next("goal_");
  const { found } = await (await world.writer()).read({ found: goalsWithPrefix(name, 10_000) });
  return nameGoal(redact(text), new Set(found.map(({ goalId }) => goalId))) ?? world.ids.next("goal_");
}

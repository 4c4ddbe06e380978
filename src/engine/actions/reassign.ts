/**
 * Another agent for the node of one that is stuck: what the first committed is its base, what it did not is named in the
 * handoff.
 */
import { settleLeftovers } from "#act/attempt-end/end-attempt.ts";
import { standOnSettings } from "#act/settings/stand-on-settings.ts";
import { stopAgent } from "#control/agents.ts";
import { copyInput, slingAgent } from "#control/sling.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { isPlaceName } from "#domain/model/auto.ts";
import type { Condition } from "#domain/model/condition.ts";
import { presentConditions } from "#store/actions.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { wasDispatched } from "./dispatched.ts";

export default async function reassignTo(action: Action<"reassign">, world: World): Promise<ActionOutcome> {
  const { from, dispatchId, reason, model } = action.payload;
  const { before, conditions } = await (await world.writer()).read({
    before: attemptByNumber(from),
    conditions: presentConditions(),
  });
  if (!before) return { ok: false, problem: `there is no attempt #${from}`, retry: "never" };
  await settleLeftovers(world);
  if (await wasDispatched(world, { ...before, dispatchId })) return { ok: true, result: "it is at work" };
  await standOnSettings(world); // nobody is stopped whose successor could not be started
  await stopAgent(world, from, reason);
  return replace(world, model === undefined ? before : { ...before, model }, { dispatchId, conditions });
}

interface Replacing {
  readonly dispatchId: string;
  readonly conditions: readonly Condition[];
}

/** A fresh agent in place of that one, for the same lead. */
export async function replace(
  world: World,
  before: Attempt,
  { dispatchId, conditions }: Replacing,
): Promise<ActionOutcome> {
  const workers = conditions.find((one) => one.kind === "workers")?.workers ?? [];
  // Whoever follows a worker of auto mode is one.
  const name = isPlaceName(before.agent, workers) ? { name: before.agent } : {};
  const slung = await slingAgent(world, { ...copyInput(before), ...name, dispatchId });
  return { ok: true, result: slung.dryRun ? "nothing" : `${slung.attempt.agent}#${slung.attempt.attempt}` };
}

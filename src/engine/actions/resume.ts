/** Lets a paused agent continue, and tells it so. */
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { resumeAttempt } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { changeLivingAgent } from "./living.ts";

export default async function resume(action: Action<"resume">, world: World): Promise<ActionOutcome> {
  const { reason, messageId } = action.payload;
  return changeLivingAgent(world, action, messageId, ({ attempt, known, moment }) =>
    attempt.status !== "paused" || known
      ? accept([], null)
      : resumeAttempt(attempt, attempt.agent, { reason, messageId }, moment),
  );
}

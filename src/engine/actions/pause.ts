/** Gives an agent no new turn: its goal is paused, a budget is spent, or it is stuck. */
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { pauseAttempt } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { changeLivingAgent } from "./living.ts";

export default async function pause(action: Action<"pause">, world: World): Promise<ActionOutcome> {
  const { now, reason, cause } = action.payload;
  return changeLivingAgent(world, action, "", ({ attempt, moment }) =>
    attempt.status === "paused"
      ? accept([], null)
      : pauseAttempt(attempt, attempt.agent, { now, reason, because: cause }, moment),
  );
}

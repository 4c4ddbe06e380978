/** Ends an agent and waits until it has ended; one that is dead is only cleaned up after. */
import { buryDead, settleLeftovers, undoSling } from "#act/attempt-end/end-attempt.ts";
import { stopAgent } from "#control/agents.ts";
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { AGENT_OVER } from "./living.ts";

export default async function stop(action: Action<"stop">, world: World): Promise<ActionOutcome> {
  const { reason, cause, resume } = action.payload;
  await settleLeftovers(world);
  const { attempt } = await (await world.writer()).read({ attempt: attemptByNumber(action.attempt ?? 0) });
  if (!attempt || !isLiving(attempt)) return AGENT_OVER;
  const asked = attempt.stopRequested !== null;
  if (cause === "asked") await stopAgent(world, attempt.attempt, reason, resume ? "resume" : "queue");
  else if (attempt.runner) await buryDead(world, attempt, asked ? "stopped" : "died", reason);
  else await undoSling(world, attempt, reason);
  return { ok: true };
}

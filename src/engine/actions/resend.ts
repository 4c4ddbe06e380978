/**
 * Interrupts the running turn and gives the instruction again. What still waits in the inbox is not written a second
 * time; interrupting hands it over.
 */
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { requestInterrupt } from "#domain/model/attempt.ts";
import { accept } from "#domain/model/decision.ts";
import { changeLivingAgent, INSTRUCTION, queueWords } from "./living.ts";

export default async function resend(action: Action<"resend">, world: World): Promise<ActionOutcome> {
  const { rerun, dispatchId, messageId } = action.payload;
  return changeLivingAgent(world, action, messageId, ({ attempt, known, waiting, moment }) => {
    const wasAsked = (attempt.interruptRequestedAt ?? 0) >= action.decidedAt;
    const interrupt = requestInterrupt(attempt, attempt.agent, "Its instruction is given again.", moment);
    const stillWaits = !rerun && waiting.some((message) => message.dispatchId === dispatchId);
    return accept(
      [
        ...(interrupt.ok && !wasAsked ? interrupt.events : []),
        ...(known || stillWaits ? [] : [queueWords(attempt, action.payload, INSTRUCTION)]),
      ],
      null,
    );
  });
}

/** Words into an agent's inbox. A nudge that is not seen in time is past its moment; an instruction stays. */
import type { World } from "#control/world.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { accept } from "#domain/model/decision.ts";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";
import { changeLivingAgent, INSTRUCTION, type Nature, queueWords } from "./living.ts";

export default async function deliver(action: Action<"deliver">, world: World): Promise<ActionOutcome> {
  const { inbox } = await world.config();
  const { kind, severity, messageId } = action.payload;
  const tone = NUDGE_SEVERITIES.find((one) => one === severity) ?? "hint";
  const nudge: Nature = { kind: "nudge", tone, expiresAt: world.clock.now() + inbox.nudgeExpiry };
  const nature = kind === "nudge" || kind === "status" ? nudge : INSTRUCTION;
  return changeLivingAgent(world, action, messageId, ({ attempt, known }) =>
    accept(known ? [] : [queueWords(attempt, action.payload, nature)], null),
  );
}

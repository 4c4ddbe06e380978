/**
 * What actions for a living agent have in common: they change it in one commit, once however often they are carried out,
 * and tell its runner to look. For one that has ended there is nothing to do.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import type { World } from "#control/world.ts";
import type { Moment } from "#domain/core/actor.ts";
import type { Action, ActionOutcome, Words } from "#domain/model/action.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Letter, Message } from "#domain/model/message.ts";
import { orThrow } from "#errors.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { messageById, waitingMessages } from "#store/messages.ts";

export const AGENT_OVER: ActionOutcome = { ok: true, result: "its agent has ended" };

/** A living agent, the message that this action would send where it was sent already, and what waits in its inbox. */
export interface LivingAgent {
  readonly attempt: Attempt;
  readonly known: Message | undefined;
  readonly waiting: readonly Message[];
  readonly moment: Moment;
}

export async function changeLivingAgent(
  world: World,
  action: Action,
  messageId: string,
  rule: (agent: LivingAgent) => Decision<unknown>,
): Promise<ActionOutcome> {
  const number = action.attempt ?? 0;
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
  const store = await world.writer();
  const changed = orThrow(
    await store.commit({
      at: moment.now,
      reads: { attempt: attemptByNumber(number), known: messageById(messageId), waiting: waitingMessages(number) },
      decide: ({ attempt, known, waiting }): Decision<boolean> => {
        if (!attempt || !isLiving(attempt)) return accept([], false);
        const decision = rule({ attempt, known, waiting, moment });
        return decision.ok ? accept(decision.events, true) : decision;
      },
    }),
  );
  if (!changed) return AGENT_OVER;
  await wakeRunner(world, number);
  return { ok: true };
}

/** How words are meant: an instruction stays until it is seen; a nudge expires. */
export type Nature = Pick<Letter, "kind" | "tone" | "expiresAt">;
export const INSTRUCTION: Nature = { kind: "instruction" };

/** Words for an agent, as the inbox keeps them. */
export function queueWords(attempt: Attempt, { messageId, dispatchId, body }: Words, nature: Nature): NewEvent {
  const data = { messageId, from: "overseer", body, dispatchId, ...nature };
  return attemptEvent(attempt, "overseer", "message.queued", "decided", data);
}

/**
 * TELL-1: an outcome into the inbox of the agent that asked for the work, where it still lives, once; people read it in
 * status and the log.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import type { World } from "#control/world.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { mailTypeOf } from "#domain/inbox/outcome.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { orThrow } from "#errors.ts";
import { livingAttempts } from "#store/attempts.ts";
import { messageById } from "#store/messages.ts";

export default async function tellAsker(action: Action<"notify">, world: World): Promise<ActionOutcome> {
  const { to, text, outcome } = action.payload;
  const name = /^(?:agent|origin):(.+)$/.exec(to)?.[1];
  if (name === undefined) return { ok: true, result: "it is in the log" };
  const messageId = deriveId("m_", action.actionId);
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const told = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { living: livingAttempts(), known: messageById(messageId) },
      decide: ({ living, known }): Decision<number | null> => {
        const one = living.find((attempt) => isLiving(attempt) && (attempt.agent === name || attempt.session === name));
        if (!one || known) return accept([], one?.attempt ?? null);
        const type = mailTypeOf(outcome);
        const subject = text.split("\n")[0]?.slice(0, 120) ?? outcome;
        const data = { messageId, kind: "mail", from: "overseer", to: one.agent, subject, body: text, type } as const;
        return accept([attemptEvent(one, "overseer", "message.queued", "outcome", data)], one.attempt);
      },
    }),
  );
  if (told === null) return { ok: true, result: `${name} has ended` };
  await wakeRunner(world, told);
  return { ok: true, result: `told ${name}` };
}

/**
 * Two things the tick says to others than agents at work: a question to a person, and an outcome to whoever asked for the
 * work. Each is said once, however often its action is carried out: the question has its id, the message its own.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import type { World } from "#control/world.ts";
import { orThrow } from "#control/world.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { mailTypeOf } from "#domain/inbox/outcome.ts";
import type { Action, ActionOutcome } from "#domain/model/action.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { askLater } from "#domain/reports/answer.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { messageByKey } from "#store/tick.ts";
import { nodeById } from "#store/work.ts";

export async function askOnce(world: World, action: Action<"ask">): Promise<ActionOutcome> {
  const { questionId, text, options } = action.payload;
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const asked = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: {
        known: questionById(questionId),
        open: openQuestions(),
        node: nodeById(action.goalId ?? "", action.workNodeId ?? ""),
      },
      decide: ({ known, open, node }) => {
        const about = {
          ...(action.goalId === null ? {} : { goalId: action.goalId }),
          ...(action.workNodeId === null ? {} : { nodeId: action.workNodeId }),
          ...(action.assignmentId === null ? {} : { assignmentId: action.assignmentId }),
        };
        return askLater({ known, open, node }, { questionId, text, options, ...about }, moment);
      },
    }),
  );
  return { ok: true, result: asked };
}

/** TELL-1: into the inbox of the agent that asked, where it still lives; people read it in status and the log. */
export async function tellAsker(world: World, action: Action<"notify">): Promise<ActionOutcome> {
  const { to, text, outcome } = action.payload;
  const name = /^(?:agent|origin):(.+)$/.exec(to)?.[1];
  if (name === undefined) return { ok: true, result: "it is in the log" };
  const messageId = deriveId("m_", action.actionId);
  const moment = { now: world.clock.now(), actor: "overseer" } as const;
  const told = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { living: livingAttempts(), known: messageByKey(messageId) },
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

/**
 * Actions that speak to people and to whoever asked: a question that a rule decided to put (ESC-1), and an outcome that
 * somebody waits for (TELL-1). Both are safe to repeat: a question has its id, a message follows from its action, and
 * what goes to a program or an address carries the action's key.
 */
import { pokeRunner } from "#act/attempt-files.ts";
import type { OutcomeBody } from "#act/notify.ts";
import { notifyByCommand, notifyByWebhook, projectName } from "#act/notify.ts";
import type { Action, ActionOutcome } from "#domain/action.ts";
import type { Moment } from "#domain/actor.ts";
import { askPerson } from "#domain/answer.ts";
import { attemptEvent } from "#domain/attempt.ts";
import { derivedId } from "#domain/derived-id.ts";
import { isSession } from "#domain/goal-agents.ts";
import { fenced } from "#domain/quote.ts";
import { accept, type Decision } from "#domain/refusal.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import { messageByKey } from "#store/tick.ts";
import type { World } from "./world.ts";
import { orThrow } from "./world.ts";

/** Puts the question; sending it is control/notices.ts's, which looks at what is open. */
export async function askAction(world: World, action: Action<"ask">): Promise<ActionOutcome> {
  const { questionId, text, options } = action.payload;
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
  const about = {
    ...(action.goalId === null ? {} : { goalId: action.goalId }),
    ...(action.workNodeId === null ? {} : { nodeId: action.workNodeId }),
    ...(action.assignmentId === null ? {} : { assignmentId: action.assignmentId }),
  };
  const asked = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { known: questionById(questionId), open: openQuestions() },
      decide: ({ known, open }): Decision<string> => {
        if (known) return accept([], "it was asked already");
        const decision = askPerson(open, { questionId, ...about, text, options }, moment);
        return decision.ok ? accept(decision.events, decision.value.questionId) : decision;
      },
    }),
  );
  return { ok: true, result: asked };
}

/** Tells an agent by its inbox; people, and sessions that are gone, by the channels that are configured. */
export async function notifyAction(world: World, action: Action<"notify">): Promise<ActionOutcome> {
  const { to } = action.payload;
  const colon = to.indexOf(":");
  const session = colon > 0 ? to.slice(colon + 1) : undefined;
  if (session !== undefined) {
    const told = await tellSession(world, action, session);
    if (told !== undefined) return { ok: true, result: `#${told} was told` };
    if (to.startsWith("agent:")) return { ok: true, result: "nobody of that name is at work" };
  }
  return tellPeople(world, action);
}

async function tellSession(world: World, action: Action<"notify">, session: string): Promise<number | undefined> {
  const messageId = derivedId("m_", action.actionId);
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
  const told = orThrow(
    await (await world.writer()).commit({
      at: moment.now,
      reads: { living: livingAttempts(), known: messageByKey(messageId) },
      decide: ({ living, known }): Decision<number | null> => {
        const one = living.find((attempt) => isSession(attempt, session));
        if (!one) return accept([], null);
        if (known) return accept([], one.attempt);
        const body = `News of work that you asked for (${action.payload.outcome}):\n\n${fenced(action.payload.text, 4_000) ?? ""}`;
        const data = { messageId, kind: "instruction", from: "overseer", body, dispatchId: null } as const;
        return accept([attemptEvent(one, "overseer", "message.queued", "outcome", data)], one.attempt);
      },
    }),
  );
  if (told === null) return undefined;
  await pokeRunner(world, told);
  return told;
}

async function tellPeople(world: World, action: Action<"notify">): Promise<ActionOutcome> {
  const config = await world.config();
  const { goal } = await (await world.writer()).read({ goal: goalById(action.goalId ?? "") });
  const body: OutcomeBody = {
    type: "outcome",
    key: action.actionId,
    project: projectName(world, config),
    outcome: action.payload.outcome,
    text: action.payload.text,
    goalId: action.goalId,
    workNodeId: action.workNodeId,
    origin: goal?.origin ?? null,
  };
  const tries = [
    ...(config.channels.command === null ? [] : [notifyByCommand(world, body)]),
    ...(config.channels.webhook === null ? [] : [notifyByWebhook(world, body)]),
  ];
  const outcomes = await Promise.all(tries);
  const failed = outcomes.find((one) => !one.ok);
  if (failed) return { ok: false, problem: failed.detail, retry: "backoff" };
  return { ok: true, result: outcomes.length === 0 ? "it stands in the log" : "people were told" };
}

/**
 * Puts open questions before people: sends what is due by the channels that are meant for it, raises what nobody
 * reacted to, and withdraws what has become moot. When and where is decided in domain/reports/question-notice.ts; how a
 * channel sends is its own file in channels/.
 */
import type { NoticeOutcome, QuestionNotice } from "#channels/channel.ts";
import { notSent } from "#channels/channel.ts";
import { CHANNELS } from "#channels/list.ts";
import type { Config } from "#config/schema.ts";
import type { Moment } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { withdrawMoot } from "#domain/landing/closing.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Origin } from "#domain/model/goal.ts";
import type { Question } from "#domain/model/question.ts";
import { isOpen } from "#domain/model/work.ts";
import { isSession } from "#domain/plans/goal-agents.ts";
import {
  acknowledgeQuestion,
  type DueNotice,
  dueNotices,
  escalateQuestion,
  noticeEvent,
} from "#domain/reports/question-notice.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import { filterEnvironment, wakeRunner } from "./attempt-files.ts";
import { choicesFor } from "./channel-choices.ts";
import type { ActParts } from "./parts.ts";

export interface Notified {
  /** Notices that were tried, with what became of them. */
  readonly sent: readonly (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[];
  /** When something is due again; null when nothing is by itself. */
  readonly nextAt: number | null;
}

/**
 * For the daemon's loop; safe to
 * repeat: what got through is in the log under its round and channel, and a crash in between sends it once more under
 * the same key.
 */
export async function notifyDue(parts: ActParts): Promise<Notified> {
  const store = await parts.writer();
  const config = await parts.config();
  const { open } = await store.read({ open: openQuestions() });
  const sent: (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[] = [];
  const later: number[] = [];
  for (const one of open) {
    const question = await escalateIfDue(parts, store, config, one);
    if (!question) continue;
    const choices = await choicesFor(store, config, question);
    const due = dueNotices(question, choices, parts.clock.now());
    if (due.nextAt !== null) later.push(due.nextAt);
    for (const notice of due.send) {
      const outcome = await deliver(parts, store, config, question, notice);
      await recordNotice(parts, store, notice, outcome);
      sent.push({ ...notice, ok: outcome.ok, detail: outcome.detail });
    }
  }
  return { sent, nextAt: later.length === 0 ? null : Math.min(...later) };
}

/** The question as it stands once a new round was opened or it was found to be moot; undefined when it has ended. */
async function escalateIfDue(
  parts: ActParts,
  store: Store,
  config: Config,
  question: Question,
): Promise<Question | undefined> {
  const { questionId, goalId, workNodeId } = question;
  const choices = await choicesFor(store, config, question);
  const moment: Moment = { now: parts.clock.now(), actor: "overseer" };
  await store.commit({
    at: moment.now,
    reads: { now: questionById(questionId), node: nodeById(goalId ?? "", workNodeId ?? "") },
    decide: ({ now, node }): Decision<boolean> => {
      if (now?.status !== "open") return accept([], false);
      if (node && !isOpen(node)) return accept([withdrawMoot(now, moment)], true);
      if (!dueNotices(now, choices, moment.now).escalate) return accept([], false);
      return escalateQuestion(now, questionId, moment);
    },
  });
  const { now } = await store.read({ now: questionById(questionId) });
  return now?.status === "open" ? now : undefined;
}

async function deliver(
  parts: ActParts,
  store: Store,
  config: Config,
  question: Question,
  due: DueNotice,
): Promise<NoticeOutcome> {
  const channel = CHANNELS.find(({ name }) => name === due.channel);
  if (!channel) return notSent("there is no such channel");
  const { hold } = await parts.settings();
  if (hold && !channel.evenOnHold) return notSent(hold.message);
  const { goal } = await store.read({ goal: goalById(question.goalId ?? "") });
  const project = config.project.name ?? nameOf(parts.root.project);
  return channel.send(noticeOf(question, due, project, goal?.origin), {
    ...{ root: parts.root, env: parts.env, clock: parts.clock, ids: parts.ids, files: parts.files, exec: parts.exec },
    programEnv: filterEnvironment(parts.env, config.agents.passEnv),
    settings: config.channels,
    post: (session, text) => post(parts, store, session, text),
  });
}

function noticeOf(question: Question, due: DueNotice, project: string, origin: Origin | undefined): QuestionNotice {
  const { questionId, goalId, workNodeId, text, options, askedBy } = question;
  return {
    type: "question",
    key: due.key,
    round: due.round,
    project,
    questionId,
    goalId,
    workNodeId,
    text,
    options,
    askedBy,
    askedAt: isoTime(question.askedAt),
    origin: origin ?? null,
    answer: `overseer answer ${questionId} <choice or text>`,
  };
}

/** Into the inbox of the agent with that session; false where none lives. */
async function post(parts: ActParts, store: Store, session: string, body: string): Promise<boolean> {
  const messageId = parts.ids.next("m_");
  const told = await store.commit({
    at: parts.clock.now(),
    reads: { living: livingAttempts() },
    decide: ({ living }): Decision<number | null> => {
      const one = living.find((attempt) => isSession(attempt, session));
      if (!one) return accept([], null);
      const data = { messageId, kind: "instruction", from: "overseer", body, dispatchId: null } as const;
      return accept([attemptEvent(one, "overseer", "message.queued", "question-for-its-session", data)], one.attempt);
    },
  });
  if (!told.ok || told.value === null) return false;
  await wakeRunner(parts, told.value);
  return true;
}

async function recordNotice(parts: ActParts, store: Store, due: DueNotice, outcome: NoticeOutcome): Promise<void> {
  const moment: Moment = { now: parts.clock.now(), actor: "overseer" };
  const { ok, detail } = outcome;
  await store.commit({
    at: moment.now,
    reads: { question: questionById(due.questionId) },
    decide: ({ question }): Decision<null> => {
      if (!question) return accept([], null);
      const events: NewEvent[] = [noticeEvent(question, due, { ok, detail }, moment)];
      const seen = outcome.acknowledged
        ? acknowledgeQuestion(question, due.questionId, due.channel, moment)
        : undefined;
      if (seen?.ok) events.push(...seen.events);
      return accept(events, null);
    },
  });
}

/**
 * Questions to people: who may look, answer, acknowledge and take away, and the sending of what is due. Asking is done
 * by reports (control/reports.ts) and by rules; every answer is one commit, so it counts once.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import type { NoticeOutcome } from "#act/notify.ts";
import { noticeBody, notifyByCommand, notifyByWebhook } from "#act/notify.ts";
import type { Config } from "#config/schema.ts";
import type { Moment } from "#domain/core/actor.ts";
import { inline, renderFenced } from "#domain/core/quote.ts";
import { closeDependents, withdrawMoot } from "#domain/landing/closing.ts";
import { attemptEvent } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Goal } from "#domain/model/goal.ts";
import { endQuestion, type Question } from "#domain/model/question.ts";
import { isOpen } from "#domain/model/work.ts";
import { isSession } from "#domain/plans/goal-agents.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { type Answered, answerQuestion } from "#domain/reports/answer.ts";
import {
  acknowledgeQuestion,
  type DueNotice,
  dueNotices,
  escalateQuestion,
  noticeEvent,
} from "#domain/reports/question-notice.ts";
import { OverseerError } from "#errors.ts";
import { latestQuestions, openQuestions, questionById, questionsWithPrefix } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { awaitStopped } from "./agents.ts";
import { clipWord } from "./names.ts";
import { choicesFor, type QuestionView, questionView } from "./question-channels.ts";
import type { World } from "./world.ts";
import { assertFits, orThrow } from "./world.ts";

/** The open ones, oldest first; with `all` those that have ended too, newest first. */
export async function questions(world: World, filter: { all?: boolean; limit?: number } = {}): Promise<QuestionView[]> {
  const store = await world.reader();
  const query = filter.all ? latestQuestions(filter.limit ?? 100) : openQuestions();
  const { found } = await store.read({ found: query });
  const config = await world.config();
  return Promise.all(found.map((question) => questionView(store, config, question)));
}

async function resolveQuestion(store: Store, word: string): Promise<string> {
  const prefix = word.startsWith("q_") ? word : `q_${word}`;
  const { found } = await store.read({ found: questionsWithPrefix(prefix.slice(0, 100)) });
  const [first, second] = found;
  if (first && (!second || first.questionId === prefix)) return first.questionId;
  if (first) {
    const ids = found.map((one) => one.questionId).join(", ");
    throw new OverseerError("conflict", "QUESTION_AMBIGUOUS", `${clipWord(word)} could be ${ids}.`, "Type more of it.");
  }
  const message = `There is no question ${clipWord(word)}.`;
  throw new OverseerError("not-found", "QUESTION_UNKNOWN", message, "'overseer questions' lists the open ones.");
}

/** The answer reaches the agent that waits, and lets the work go on. */
export async function giveAnswer(world: World, word: string, words: string): Promise<Answered> {
  await assertFits(world, { answer: words });
  const store = await world.writer();
  const questionId = await resolveQuestion(store, word);
  const { asked } = await store.read({ asked: questionById(questionId) });
  const goalId = asked?.goalId ?? "";
  const ids = { messageId: world.ids.next("m_"), crystallizationId: world.ids.next("C_") };
  const moment = momentOf(world);
  const outcome = await store.commit({
    at: moment.now,
    reads: {
      ...goalTreeReads(goalId),
      question: questionById(questionId),
      open: openQuestions(),
      attempts: livingAttempts(),
    },
    decide: ({ goal, ...seen }): Decision<Answered> => {
      const node = seen.nodes.find((one) => one.workNodeId === seen.question?.workNodeId);
      const left = seen.crystallizations.find((one) => one.crystallizationId === node?.crystallizationId);
      const decision = answerQuestion({ ...seen, node, left }, questionId, words, ids, moment);
      if (!goal) return decision;
      return closeDependents(
        settleDecision(goalTreeOf(goal, seen), decision, moment),
        { ...seen, questions: seen.open },
        moment,
      );
    },
  });
  const answered = orThrow(outcome);
  if (outcome.ok) await awaitStopped(world, outcome.events);
  if (answered.told !== null) await wakeRunner(world, answered.told);
  return answered;
}

export async function acknowledge(world: World, word: string): Promise<string> {
  return change(world, word, (question, id, moment) => {
    const decision = acknowledgeQuestion(question, id, "command line", moment);
    return decision.ok ? accept(decision.events, id) : decision;
  });
}

export async function withdraw(world: World, word: string, reason?: string): Promise<string> {
  await assertFits(world, { reason });
  const end = { to: "withdrawn", reason: reason ?? "a person took it away" } as const;
  return change(world, word, (question, id, moment) => endQuestion(question, id, end, moment));
}

async function change(
  world: World,
  word: string,
  rule: (question: Question | undefined, id: string, moment: Moment) => Decision<string>,
): Promise<string> {
  const store = await world.writer();
  const questionId = await resolveQuestion(store, word);
  const moment = momentOf(world);
  return orThrow(
    await store.commit({
      at: moment.now,
      reads: { question: questionById(questionId) },
      decide: ({ question }) => rule(question, questionId, moment),
    }),
  );
}

export interface Notified {
  /** Notices that were tried, with what became of them. */
  readonly sent: readonly (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[];
  /** When something is due again; null when nothing is by itself. */
  readonly nextAt: number | null;
}

/**
 * Sends what is due, raises what nobody reacted to, and withdraws what has become moot. For the daemon's loop; safe to
 * repeat: what got through is in the log under its round and channel, and a crash in between sends it once more under
 * the same key.
 */
export async function notifyDue(world: World): Promise<Notified> {
  const store = await world.writer();
  const config = await world.config();
  const { open } = await store.read({ open: openQuestions() });
  const sent: (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[] = [];
  const later: number[] = [];
  for (const one of open) {
    const question = await escalateIfDue(world, store, config, one);
    if (!question) continue;
    const choices = await choicesFor(store, config, question);
    const due = dueNotices(question, choices, world.clock.now());
    if (due.nextAt !== null) later.push(due.nextAt);
    for (const notice of due.send) {
      const outcome = await deliver(world, store, question, notice);
      await recordNotice(world, store, notice, outcome);
      sent.push({ ...notice, ok: outcome.ok, detail: outcome.detail });
    }
  }
  return { sent, nextAt: later.length === 0 ? null : Math.min(...later) };
}

/** The question as it stands once a new round was opened or it was found to be moot; undefined when it is over. */
async function escalateIfDue(
  world: World,
  store: Store,
  config: Config,
  question: Question,
): Promise<Question | undefined> {
  const { questionId, goalId, workNodeId } = question;
  const choices = await choicesFor(store, config, question);
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
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

async function deliver(world: World, store: Store, question: Question, due: DueNotice): Promise<NoticeOutcome> {
  const { goal } = await store.read({ goal: goalById(question.goalId ?? "") });
  switch (due.channel) {
    case "terminal":
      return { ok: true, detail: "", acknowledged: false }; // status and questions show whatever is open
    case "session":
      return toSession(world, store, question, due, goal);
    case "command":
      return notifyByCommand(world, await noticeBody(world, question, due, goal?.origin));
    case "webhook":
      return notifyByWebhook(world, await noticeBody(world, question, due, goal?.origin));
  }
}

/** Into the inbox of the agent that wanted the goal. */
async function toSession(
  world: World,
  store: Store,
  question: Question,
  due: DueNotice,
  goal: Goal | undefined,
): Promise<NoticeOutcome> {
  const session = goal?.origin.deliveryContext?.session ?? goal?.origin.session;
  const messageId = world.ids.next("m_");
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
  const told = await store.commit({
    at: moment.now,
    reads: { living: livingAttempts() },
    decide: ({ living }): Decision<number | null> => {
      const one = living.find((attempt) => isSession(attempt, session));
      if (!one) return accept([], null);
      const body = sessionText(question, due.round);
      const data = { messageId, kind: "instruction", from: "overseer", body, dispatchId: null } as const;
      return accept([attemptEvent(one, "overseer", "message.queued", "question-for-its-session", data)], one.attempt);
    },
  });
  const attempt = orThrow(told);
  if (attempt === null) return { ok: false, detail: "the session is gone", acknowledged: false };
  await wakeRunner(world, attempt);
  return { ok: true, detail: "", acknowledged: false };
}

function sessionText(question: Question, round: number): string {
  const about = question.workNodeId ? ` about ${inline(`${question.goalId}/${question.workNodeId}`)}` : "";
  const options = question.options.map((option, index) => `${index + 1}. ${option}`).join("\n");
  return [
    `${round > 0 ? "Still open: " : ""}${inline(question.askedBy, 60)} has a question${about} for whoever wanted this goal (${question.questionId}):`,
    renderFenced([question.text, options].filter(Boolean).join("\n\n"), 4_000) ?? "",
    `A person answers with \`overseer answer ${question.questionId} <choice or text>\`; pass it on.`,
  ].join("\n\n");
}

async function recordNotice(world: World, store: Store, due: DueNotice, outcome: NoticeOutcome): Promise<void> {
  const moment: Moment = { now: world.clock.now(), actor: "overseer" };
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

function momentOf(world: World): Moment {
  return { now: world.clock.now(), actor: world.actor };
}

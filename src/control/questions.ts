/**
 * Questions to people: looking, answering, acknowledging, withdrawing. Asking is done by reports (control/reports.ts) and
 * by rules, sending by act/notify.ts; every answer is one commit, so it counts once.
 */
import { wakeRunner } from "#act/attempt-files.ts";
import type { Moment } from "#domain/core/actor.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { endQuestion, type Question } from "#domain/model/question.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { type Answered, answerQuestion } from "#domain/reports/answer.ts";
import { acknowledgeQuestion } from "#domain/reports/question-notice.ts";
import { OverseerError, orThrow } from "#errors.ts";
import { latestQuestions, openQuestions, questionById, questionsWithPrefix } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import type { Store } from "#store/store.ts";
import { awaitStopped } from "./agents.ts";
import { clipWord } from "./names.ts";
import { type QuestionView, questionView } from "./question-view.ts";
import type { World } from "./world.ts";
import { assertFits } from "./world.ts";

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

/** The answer reaches the agent that waits, and lets the work continue. */
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

function momentOf(world: World): Moment {
  return { now: world.clock.now(), actor: world.actor };
}

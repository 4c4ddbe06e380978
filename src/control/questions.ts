/**
 * Questions to people: looking, answering, acknowledging, withdrawing. Asking is done by reports (control/reports.ts) and
 * by rules, sending by act/notify.ts; every answer is one commit, so it counts once.
 */
import { wakeRunner, wakeRunnersFor } from "#act/attempt-files.ts";
import { stopAttempt } from "#domain/agents/stop-agent.ts";
import type { Moment } from "#domain/core/actor.ts";
import { closeDependents } from "#domain/landing/closing.ts";
import { type Attempt, attemptLabel } from "#domain/model/attempt.ts";
import type { BudgetCondition } from "#domain/model/condition.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { endQuestion, type Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { settleDecision } from "#domain/plans/settle.ts";
import { type Answered, answerQuestion } from "#domain/reports/answer.ts";
import { acknowledgeQuestion } from "#domain/reports/question-notice.ts";
import { answerAboutBudget, findAskedBudget } from "#domain/reports/raise-budget.ts";
import { orThrow } from "#errors.ts";
import { presentConditions } from "#store/actions.ts";
import { latestQuestions, openQuestions, questionById } from "#store/assignments.ts";
import { livingAttempts } from "#store/attempts.ts";
import { goalTreeOf, goalTreeReads } from "#store/goal-tree.ts";
import { awaitStopped } from "./agents.ts";
import { resolveQuestion } from "./names.ts";
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

export interface GivenAnswer extends Answered {
  /** What the question was, so that whoever named it by a number sees which one they answered. */
  readonly asked: string;
  /** Who is told of it, as screens name it; null where nobody waits. */
  readonly toldAgent: string | null;
}

/** The question that a word names, for whoever named it and has not answered. */
export async function readQuestion(world: World, word: string): Promise<Question | undefined> {
  const store = await world.reader();
  return (await store.read({ asked: questionById(await resolveQuestion(store, word)) })).asked;
}

/** The answer reaches the agent that waits, and lets the work continue. */
export async function giveAnswer(world: World, word: string, words: string): Promise<GivenAnswer> {
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
      conditions: presentConditions(),
    },
    decide: ({ goal, ...seen }): Decision<Answered> => {
      const node = seen.nodes.find((one) => one.workNodeId === seen.question?.workNodeId);
      const left = seen.crystallizations.find((one) => one.crystallizationId === node?.crystallizationId);
      const answered = answerQuestion({ ...seen, node, left }, questionId, words, ids, moment);
      const budget = findAskedBudget(seen.conditions, questionId);
      const decision = budget && answered.ok ? followBudget(budget, answered, seen, moment) : answered;
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
  if (outcome.ok) await wakeRunnersFor(world, outcome.events);
  const { living } = await store.read({ living: livingAttempts() });
  const told = living.find(({ attempt }) => attempt === answered.told);
  const toldAgent = told ? attemptLabel(told) : answered.told === null ? null : `#${answered.told}`;
  return { ...answered, asked: asked?.text ?? "", toldAgent };
}

/** What an answer means for the budget that asked: more of it, or the end of its agent. */
function followBudget(
  budget: BudgetCondition,
  answered: { readonly events: readonly NewEvent[]; readonly value: Answered },
  { attempts, nodes }: { readonly attempts: readonly Attempt[]; readonly nodes: readonly WorkNode[] },
  moment: Moment,
): Decision<Answered> {
  const meant = answerAboutBudget(budget, answered.value.answer, moment);
  if (!meant.ok) return meant;
  const events = [...answered.events, ...meant.value.events];
  const attempt = attempts.find((one) => one.attempt === meant.value.stops);
  if (!attempt) return accept(events, answered.value);
  const node = nodes.find((one) => one.workNodeId === attempt.workNodeId);
  const order = { name: attempt.agent, reason: "its budget is spent", after: "reserve" } as const;
  const stopped = stopAttempt({ attempt, node, last: attempt.attempt }, order, moment);
  return stopped.ok ? accept([...events, ...stopped.events], answered.value) : stopped;
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

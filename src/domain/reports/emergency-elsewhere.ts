/**
 * An emergency of an agent on another host, put before a person here, once (SALUTE-2): not again while it lasts, nor by the
 * next watch that finds it. Another emergency of the same attempt is another question, when the last one has ended. What comes
 * from elsewhere is data: it is cleaned and cut. Pure.
 */
import type { Moment } from "#domain/core/actor.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { inline } from "#domain/core/quote.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { askQuestion, type Question } from "#domain/model/question.ts";
import type { Salute } from "#domain/signals/salute.ts";

export interface Elsewhere {
  readonly container: string;
  readonly unit: Salute["unit"];
  readonly startedAt: string | null;
}

/** So many emergencies of one attempt are asked about. */
const MOST_EMERGENCIES = 5;

/** The ids under which a person may have been asked about this attempt, the first emergency first. */
export function listQuestionIds({ container, unit, startedAt }: Elsewhere): string[] {
  return Array.from({ length: MOST_EMERGENCIES }, (_, at) =>
    deriveId("q_", "elsewhere", container, unit.agent, unit.attempt, startedAt ?? "", at),
  );
}

/** The id of the question that is asked now; null where it was asked before. */
export function askAboutElsewhere(
  emergency: Elsewhere,
  asked: readonly Question[],
  isAnother: boolean,
  moment: Moment,
): Decision<string | null> {
  const ids = listQuestionIds(emergency);
  const last = asked.find(({ questionId }) => questionId === ids[asked.length - 1]);
  const isDue = last === undefined || (isAnother && last.status !== "open");
  const questionId = ids[asked.length];
  if (!isDue || questionId === undefined) return accept([], null);
  const { container, unit } = emergency;
  const who = `${unit.agent}#${unit.attempt}`;
  const text = `${who} on another host (it reports in ${inline(container)}) is in an emergency: its way and every other way failed, and it was told to stop in order. Its task is ${inline(unit.task)} (${inline(`${unit.goalId}/${unit.workNodeId}`)} there). Look after it there; your answer ends the question here.`;
  return askQuestion(undefined, { questionId, text, options: ["I look after it", "leave it"] }, moment);
}

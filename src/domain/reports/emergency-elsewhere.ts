/**
 * An emergency of an agent on another host, put before a person here, once (SALUTE-2): not again while it lasts, nor by the
 * next watch that finds it. Another emergency of the same attempt is another question, when the last one has ended. What comes
 * from elsewhere is data: it is cleaned and cut, and however it changes, nobody is flooded with questions. Pure.
 */
import type { Moment } from "#domain/core/actor.ts";
import { deriveId } from "#domain/core/derived-id.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
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

/** And so many, whatever attempts and times are named, of one name and of one container, open or asked within an hour. */
const MOST_OF_ONE_NAME = 3;
const MOST_OF_ONE_CONTAINER = 10;
const HOUR_MS = 3_600_000;

/** The ids under which a person may have been asked about this attempt, the first emergency first. */
export function listQuestionIds({ container, unit, startedAt }: Elsewhere): string[] {
  return Array.from({ length: MOST_EMERGENCIES }, (_, at) =>
    deriveId("q_", "elsewhere", container, unit.agent, unit.attempt, startedAt ?? "", at),
  );
}

/**
 * The id of the question that is asked now; null where it was asked before, or enough is asked about that name or container
 * already. `lately`: the questions that are open or were asked last.
 */
export function askAboutElsewhere(
  emergency: Elsewhere,
  asked: readonly Question[],
  isAnother: boolean,
  moment: Moment,
  lately: readonly Question[] = [],
): Decision<string | null> {
  const ids = listQuestionIds(emergency);
  const last = asked.find(({ questionId }) => questionId === ids[asked.length - 1]);
  const isDue = last === undefined || (isAnother && last.status !== "open");
  const questionId = ids[asked.length];
  if (!isDue || questionId === undefined || isAskedEnough(emergency, lately, moment.now)) return accept([], null);
  const { container, unit } = emergency;
  const who = `${unit.agent}#${unit.attempt}`;
  const text = `${who}${tellWhere(container)} is in an emergency: its way and every other way failed, and it was told to stop in order. Its task is ${inline(unit.task)} (${inline(`${unit.goalId}/${unit.workNodeId}`)} there). Look after it there; your answer ends the question here.`;
  return askQuestion(undefined, { questionId, text, options: ["I look after it", "leave it"] }, moment);
}

function tellWhere(container: string): string {
  return ` on another host (it reports in ${inline(container)})`;
}

/** Which questions are about whom their own words say: we wrote them. */
function isAskedEnough({ container, unit }: Elsewhere, lately: readonly Question[], now: number): boolean {
  const standing = lately.filter(({ status, askedAt }) => status === "open" || !hasPassed(askedAt, HOUR_MS, now));
  const heads = standing.flatMap(({ text }) => {
    const [head = "", ...rest] = text.split(tellWhere(container));
    return rest.length > 0 && /^[a-z0-9-]+#-?\d+$/.test(head) ? [head] : [];
  });
  const ofName = heads.filter((head) => head.startsWith(`${unit.agent}#`));
  return ofName.length >= MOST_OF_ONE_NAME || heads.length >= MOST_OF_ONE_CONTAINER;
}

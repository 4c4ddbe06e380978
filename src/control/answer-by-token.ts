/**
 * An answer from elsewhere: with the token that came with the question, by a channel or by `answer --token`. A token
 * that was forged, has expired, belongs to another question or was used is refused, and that is in the log, from where
 * people are told.
 */
import { ANSWER_SECRET, judgeAnswerToken } from "#act/answer-token.ts";
import type { ReturnedAnswer } from "#act/notify.ts";
import { readSecret } from "#channels/secret.ts";
import { accept } from "#domain/model/decision.ts";
import { aboutQuestion } from "#domain/model/question.ts";
import { OverseerError } from "#errors.ts";
import { questionById } from "#store/assignments.ts";
import { type GivenAnswer, giveAnswer } from "./questions.ts";
import { speakingAs, type World } from "./world.ts";

export interface TokenAnswer extends Omit<ReturnedAnswer, "questionId"> {
  /** Set where only this question may be answered. */
  readonly questionId?: string;
}

/** Throws conflict/TOKEN_… where it is refused. */
export async function answerByToken(world: World, answer: TokenAnswer): Promise<GivenAnswer> {
  const { token, words, via } = answer;
  const verdict = judgeAnswerToken(token, await readSecret(world, ANSWER_SECRET), world.clock.now());
  if (!verdict.ok) return refuse(world, via, verdict);
  const { questionId } = verdict;
  if (answer.questionId !== undefined && answer.questionId !== questionId) {
    const reason = `its token is for ${questionId}`;
    return refuse(world, via, { code: "TOKEN_FOR_ANOTHER", questionId: answer.questionId, reason });
  }
  const { question } = await (await world.writer()).read({ question: questionById(questionId) });
  if (question?.status !== "open") {
    const reason = question ? `the question is ${question.status} already` : "there is no such question";
    return refuse(world, via, { code: "TOKEN_USED", questionId, reason });
  }
  try {
    return await giveAnswer(world, questionId, words);
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    return refuse(world, via, { code: error.code, questionId, reason: error.message });
  }
}

/** For the daemon: an answer that came back with a notice. True where it was taken. */
export async function takeReturnedAnswer(world: World, answer: ReturnedAnswer): Promise<boolean> {
  try {
    await answerByToken(speakingAs(world, `human:${answer.via}`), answer);
    return true;
  } catch (error) {
    if (error instanceof OverseerError) return false; // refused, and in the log
    throw error;
  }
}

interface Refused {
  readonly code: string;
  readonly questionId: string | null;
  readonly reason: string;
}

async function refuse(world: World, via: string, { code, questionId, reason }: Refused): Promise<never> {
  await (await world.writer()).commit({
    at: world.clock.now(),
    reads: { question: questionById(questionId ?? "") },
    decide: ({ question }) => {
      const about = question ? aboutQuestion(question) : {};
      const data = { question: questionId, via, code, reason };
      return accept([{ type: "answer.refused", actor: world.actor, ...about, because: "not-taken", data }], null);
    },
  });
  throw new OverseerError(
    "conflict",
    code,
    `The answer was not taken: ${reason}.`,
    "'overseer questions' lists what is open, and 'overseer answer <question> <choice or text>' answers it.",
  );
}

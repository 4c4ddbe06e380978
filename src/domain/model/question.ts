/**
 * A question to a person: asked once, with options where there are any, open until it is answered or no longer
 * matters. When and by which channel it reaches people is decided in question-notice.ts, and what an answer does to the
 * work in answer.ts; this file knows what a question is and how it ends.
 */
import type { Moment } from "#domain/core/actor.ts";
import type { Moves } from "#domain/core/moves.ts";
import { mayMove } from "#domain/core/moves.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "./decision.ts";
import type { EventOf } from "./event.ts";

/** As the channel calls itself (channels/list.ts). The log keeps it, also after the channel is gone. */
export type ChannelName = string;

export const QUESTION_STATUSES = ["open", "answered", "withdrawn"] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

export const QUESTION_MOVES: Moves<QuestionStatus> = {
  open: ["answered", "withdrawn"],
  answered: [],
  withdrawn: [],
};

export interface Question {
  readonly questionId: string;
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  readonly assignmentId: string | null;
  readonly text: string;
  readonly options: readonly string[];
  readonly status: QuestionStatus;
  readonly answer: string | null;
  readonly askedBy: string;
  readonly askedAt: number;
  readonly endedAt: number | null;
  /** How it was put before people, oldest first; the last few. */
  readonly notices: readonly Notice[];
  /** How often it was raised again because nobody reacted, and since when this round runs. */
  readonly round: number;
  readonly roundAt: number;
  /** Somebody has seen it and will answer. */
  readonly acknowledgedBy: string | null;
  readonly acknowledgedAt: number | null;
}

export interface Notice {
  readonly channel: ChannelName;
  readonly round: number;
  readonly at: number;
  readonly ok: boolean;
  readonly detail: string;
}

/** A question keeps so many notices; the log has them all. */
const KEPT_NOTICES = 40;

export interface NewQuestion {
  readonly questionId: string;
  readonly goalId?: string;
  readonly nodeId?: string;
  readonly assignmentId?: string;
  readonly text: string;
  readonly options: readonly string[];
}

export function askQuestion(taken: Question | undefined, wanted: NewQuestion, moment: Moment): Decision<string> {
  if (taken) {
    return refuse(
      "conflict",
      "QUESTION_EXISTS",
      `Question ${wanted.questionId} was asked already.`,
      `Run 'overseer why ${wanted.questionId}'.`,
    );
  }
  if (wanted.text.trim() === "") {
    return refuse("usage", "QUESTION_EMPTY", "The question has no text.", "Say what has to be decided.");
  }
  const { questionId, goalId, nodeId, assignmentId, text, options } = wanted;
  return accept(
    [
      {
        type: "question.asked",
        actor: moment.actor,
        goalId,
        nodeId,
        assignmentId,
        because: "needs-a-person",
        data: { questionId, text, options },
      },
    ],
    questionId,
  );
}

export function endQuestion(
  question: Question | undefined,
  questionId: string,
  end: { readonly to: "answered"; readonly answer: string } | { readonly to: "withdrawn"; readonly reason: string },
  moment: Moment,
): Decision<string> {
  if (!question) return noSuchQuestion(questionId);
  if (!mayMove(QUESTION_MOVES, question.status, end.to)) {
    return refuse(
      "conflict",
      "QUESTION_ENDED",
      `Question ${questionId} is ${question.status} already.`,
      `Run 'overseer why ${questionId}' to see how it ended.`,
    );
  }
  const about = { actor: moment.actor, ...aboutQuestion(question) };
  return accept(
    [
      end.to === "answered"
        ? {
            type: "question.answered",
            ...about,
            because: "a-person-answered",
            data: { questionId, answer: end.answer },
          }
        : {
            type: "question.withdrawn",
            ...about,
            because: "no-longer-matters",
            data: { questionId, reason: end.reason },
          },
    ],
    questionId,
  );
}

export function noSuchQuestion(questionId: string): Decision<never> {
  return refuse(
    "not-found",
    "QUESTION_UNKNOWN",
    `There is no question ${questionId}.`,
    "'overseer questions' lists the open ones.",
  );
}

/** What a question is about, as the columns of an event. */
export function aboutQuestion(question: Question) {
  return {
    goalId: question.goalId ?? undefined,
    nodeId: question.workNodeId ?? undefined,
    assignmentId: question.assignmentId ?? undefined,
  };
}

export function applyToQuestion(question: Question | undefined, event: EventOf): Question | undefined {
  if (event.type === "question.asked") {
    return {
      questionId: event.data.questionId,
      goalId: event.goalId ?? null,
      workNodeId: event.nodeId ?? null,
      assignmentId: event.assignmentId ?? null,
      text: event.data.text,
      options: event.data.options,
      status: "open",
      answer: null,
      askedBy: event.actor,
      askedAt: event.at,
      endedAt: null,
      notices: [],
      round: 0,
      roundAt: event.at,
      acknowledgedBy: null,
      acknowledgedAt: null,
    };
  }
  if (!question) return undefined;
  if (event.type === "question.notified") {
    const { channel, round, ok, detail } = event.data;
    return {
      ...question,
      notices: [...question.notices, { channel, round, at: event.at, ok, detail }].slice(-KEPT_NOTICES),
    };
  }
  if (event.type === "question.acknowledged") {
    return { ...question, acknowledgedBy: event.actor, acknowledgedAt: event.at };
  }
  if (event.type === "question.escalated") return { ...question, round: event.data.round, roundAt: event.at };
  if (event.type === "question.answered") {
    return { ...question, status: "answered", answer: event.data.answer, endedAt: event.at };
  }
  if (event.type === "question.withdrawn") return { ...question, status: "withdrawn", endedAt: event.at };
  return question;
}

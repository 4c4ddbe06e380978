/**
 * A question to a person: asked once, with options where there are any, open until it is answered or no longer
 * matters. Delivery to channels is somebody else's work; this file knows what a question is and how it ends.
 */
import type { Moment } from "./actor.ts";
import type { EventOf } from "./event.ts";
import type { Moves } from "./moves.ts";
import { mayMove } from "./moves.ts";
import type { Decision } from "./refusal.ts";
import { accept, refuse } from "./refusal.ts";

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
}

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
  if (!question) {
    return refuse(
      "not-found",
      "QUESTION_UNKNOWN",
      `There is no question ${questionId}.`,
      "'overseer questions' lists the open ones.",
    );
  }
  if (!mayMove(QUESTION_MOVES, question.status, end.to)) {
    return refuse(
      "conflict",
      "QUESTION_ENDED",
      `Question ${questionId} is ${question.status} already.`,
      `Run 'overseer why ${questionId}' to see how it ended.`,
    );
  }
  const about = {
    actor: moment.actor,
    goalId: question.goalId ?? undefined,
    nodeId: question.workNodeId ?? undefined,
    assignmentId: question.assignmentId ?? undefined,
  };
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
    };
  }
  if (!question) return undefined;
  if (event.type === "question.answered") {
    return { ...question, status: "answered", answer: event.data.answer, endedAt: event.at };
  }
  if (event.type === "question.withdrawn") return { ...question, status: "withdrawn", endedAt: event.at };
  return question;
}

/**
 * Asking a person and what the answer does. A question is asked once: the same words about the same node find the one
 * that is open. An answer ends it, becomes a decision in the node's handoff, reaches the agent that waits as a message,
 * and lets the work continue, all in one commit, so that none of it can happen twice or alone.
 */
import type { Moment } from "#domain/core/actor.ts";
import { renderFenced } from "#domain/core/quote.ts";
import { refuse } from "#domain/core/refusal.ts";
import { answerAboutLanding } from "#domain/landing/landing-answer.ts";
import type { Assignment } from "#domain/model/assignment.ts";
import { isLive } from "#domain/model/assignment.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { attemptEvent, isLiving } from "#domain/model/attempt.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import { crystallization } from "#domain/model/crystallization.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { askQuestion, endQuestion, type NewQuestion, noSuchQuestion, type Question } from "#domain/model/question.ts";
import { waitsFor } from "#domain/model/readiness.ts";
import type { WorkNode } from "#domain/model/work.ts";
import {
  cancelNode,
  descendants,
  GO_ON_WITHOUT,
  isOpen,
  liftBlock,
  nodeEvent,
  nodeKey,
  takeDefinition,
} from "#domain/model/work.ts";
import { mergeUpdate, saysTheSame } from "./update.ts";

export interface PersonAskResult {
  readonly questionId: string;
  /** False when that question was open already. */
  readonly isNew: boolean;
}

/** Asks, unless the same is open already about the same thing. For agents, the ladder, budgets, landing. */
export function askPerson(open: readonly Question[], wanted: NewQuestion, moment: Moment): Decision<PersonAskResult> {
  const same = open.find((question) => isSame(question, wanted));
  if (same) return accept([], { questionId: same.questionId, isNew: false });
  const taken = open.find((question) => question.questionId === wanted.questionId);
  const decision = askQuestion(taken, wanted, moment);
  return decision.ok ? accept(decision.events, { questionId: decision.value, isNew: true }) : decision;
}

/**
 * The same for a question that was decided a while ago: asked once under its id, and not at all when what it is about
 * has ended meanwhile, because the answer would reach nobody. Says what came of it.
 */
export function askLater(
  seen: {
    readonly known: Question | undefined;
    readonly open: readonly Question[];
    readonly node: WorkNode | undefined;
  },
  wanted: NewQuestion,
  moment: Moment,
): Decision<string> {
  if (seen.known) return accept([], seen.known.questionId);
  if (seen.node && !isOpen(seen.node)) return accept([], `nobody: ${seen.node.workNodeId} is ${seen.node.status}`);
  const decision = askPerson(seen.open, wanted, moment);
  return decision.ok ? accept(decision.events, decision.value.questionId) : decision;
}

function isSame(question: Question, wanted: NewQuestion): boolean {
  return (
    question.status === "open" &&
    question.goalId === (wanted.goalId ?? null) &&
    question.workNodeId === (wanted.nodeId ?? null) &&
    plain(question.text) === plain(wanted.text)
  );
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, " ").toLowerCase();
}

export interface AnswerSeen {
  readonly question: Question | undefined;
  /** The node it is about, and all open questions; what lets the work continue depends on both. */
  readonly node: WorkNode | undefined;
  /** All nodes of its goal, for an answer that ends the node and what lies below it. */
  readonly nodes?: readonly WorkNode[];
  readonly open: readonly Question[];
  readonly assignments: readonly Assignment[];
  readonly attempts: readonly Attempt[];
  readonly left: Crystallization | undefined;
}

export interface AnswerIds {
  readonly messageId: string;
  readonly crystallizationId: string;
}

export interface Answered {
  readonly questionId: string;
  readonly answer: string;
  /** The attempt that was told. */
  readonly told: number | null;
  readonly unblocked: boolean;
}

export function answerQuestion(
  seen: AnswerSeen,
  questionId: string,
  words: string,
  ids: AnswerIds,
  moment: Moment,
): Decision<Answered> {
  const { question, node } = seen;
  if (!question) return noSuchQuestion(questionId);
  const chosen = choiceMeant(question, words);
  if (!chosen.ok) return chosen;
  const answer = chosen.value;
  const ended = endQuestion(question, questionId, { to: "answered", answer }, moment);
  if (!ended.ok) return ended;
  if (node && !isOpen(node)) {
    return refuse(
      "conflict",
      "NODE_ENDED",
      `${nodeKey(node.goalId, node.workNodeId)} is ${node.status}; nobody would get the answer.`,
      `Withdraw the question with 'overseer questions withdraw ${questionId}'.`,
    );
  }
  const events: NewEvent[] = [...ended.events];
  const order = question.askedBy === "overseer" ? ORDERS[plain(answer)] : undefined;
  if (node && order === "cancel") {
    const cancelled = cancelNode(node, seen.nodes ?? [node], `question ${questionId} was answered: ${answer}`, moment);
    if (!cancelled.ok) return cancelled;
    return accept([...events, ...cancelled.events], { questionId, answer, told: null, unblocked: false });
  }
  if (node && order === "without") events.push(...letGoOn(node, seen.nodes ?? [node], questionId, moment));
  const working = node && holderOf(seen, node);
  const holder = order === "leave" ? undefined : working;
  // Hands off until that person says otherwise, whatever it was paused for before.
  if (order === "leave" && working && (working.attempt.status === "running" || working.attempt.status === "paused")) {
    const paused = { now: true, reason: "a person takes care of it" };
    events.push(attemptEvent(working.attempt, moment.actor, "agent.paused", "left-to-a-person", paused));
  }
  const goesOn = node?.status === "blocked" && order !== "leave" && !othersOpen(seen, question);
  if (node) events.push(...recordAnswer(node, seen.left, question, answer, ids.crystallizationId, moment));
  const meant = node && answerAboutLanding(node, seen.nodes ?? [node], question, answer, moment);
  if (meant) events.push(...meant.events);
  if (meant?.ends) return accept(events, { questionId, answer, told: null, unblocked: false });
  if (node && goesOn) {
    const reason = `question ${questionId} was answered`;
    events.push(...liftBlock(node, "answered", reason, moment));
    if (holder && !node.claim)
      events.push(attemptEvent(holder.attempt, moment.actor, "work.started", "answered", { reason }));
  }
  if (holder) {
    if (holder.assignment.status === "blocked" && !othersOpen(seen, question)) {
      const reason = "a person answered";
      events.push(attemptEvent(holder.attempt, moment.actor, "assignment.active", "answered", { reason }));
    }
    events.push(
      attemptEvent(holder.attempt, moment.actor, "message.queued", "answered", {
        messageId: ids.messageId,
        kind: "instruction",
        from: moment.actor,
        body: answerText(question, answer),
        dispatchId: null,
      }),
    );
  }
  const told = holder?.attempt.attempt ?? null;
  return accept(events, { questionId, answer, told, unblocked: goesOn });
}

/** What rules offer as answers to their own questions, and what it means; anything else is for the agent to read. */
const ORDERS: Readonly<Record<string, "cancel" | "leave" | "without">> = {
  "cancel it": "cancel",
  "leave it to me": "leave",
  [GO_ON_WITHOUT]: "without",
};

/**
 * The node is ready, and with it what is below it, as far as nothing else is waited for. What waits for something else
 * too waits for that alone from now on.
 */
function letGoOn(node: WorkNode, nodes: readonly WorkNode[], questionId: string, moment: Moment): NewEvent[] {
  const byId = new Map(nodes.map((one) => [one.workNodeId, one]));
  const isCancelled = (id: string) => byId.get(id)?.status === "cancelled";
  return [node, ...descendants(node, nodes)]
    .filter(({ status }) => status === "todo")
    .flatMap((one) => {
      if (waitsFor(one, byId).every(isCancelled)) {
        return [nodeEvent(one, moment, "work.queued", "answered", { reason: `question ${questionId} was answered` })];
      }
      const dependsOn = one.dependsOn.filter((id) => !isCancelled(id));
      if (dependsOn.length === one.dependsOn.length) return [];
      const definition = { ...takeDefinition(one), dependsOn };
      return [nodeEvent(one, moment, "work.redefined", "answered", { definition, revision: one.revision })];
    });
}

/** A number or the words of an option; anything else is the person's own answer, unless it names no option there is. */
function choiceMeant(question: Question, words: string): Decision<string> {
  const text = words.trim();
  if (text === "") {
    return refuse("usage", "ANSWER_EMPTY", "The answer is empty.", "Give an option's number, or your own words.");
  }
  const { options } = question;
  if (options.length === 0) return accept([], text);
  if (/^\d{1,2}$/.test(text)) {
    const option = options[Number(text) - 1];
    if (option !== undefined) return accept([], option);
    return refuse(
      "usage",
      "OPTION_UNKNOWN",
      `Question ${question.questionId} has no option ${text}.`,
      `Its options: ${options.map((one, index) => `${index + 1}. ${one}`).join(", ")}. Your own words are an answer too.`,
    );
  }
  return accept([], options.find((option) => plain(option) === plain(text)) ?? text);
}

/** Whoever works on the node now, or on the node above whose part it is. */
function holderOf(
  { assignments, attempts }: AnswerSeen,
  node: WorkNode,
): { readonly attempt: Attempt; readonly assignment: Assignment } | undefined {
  const path = node.path.split("/").toReversed();
  for (const id of path) {
    const assignment = assignments.find((one) => isLive(one) && one.goalId === node.goalId && one.workNodeId === id);
    const attempt = attempts.find((one) => isLiving(one) && one.assignmentId === assignment?.assignmentId);
    if (assignment && attempt) return { attempt: { ...attempt, workNodeId: node.workNodeId }, assignment };
  }
  return undefined;
}

function othersOpen({ open }: AnswerSeen, answered: Question): boolean {
  return open.some(
    (one) =>
      one.status === "open" &&
      one.questionId !== answered.questionId &&
      one.goalId === answered.goalId &&
      one.workNodeId === answered.workNodeId,
  );
}

/** The answer is a decision that whoever comes next must know. */
function recordAnswer(
  node: WorkNode,
  left: Crystallization | undefined,
  question: Question,
  answer: string,
  crystallizationId: string,
  moment: Moment,
): NewEvent[] {
  const known = left ?? crystallization(node.kind, {});
  const body = mergeUpdate(known, {
    decisions: [{ decision: answer, rationale: `answer to: ${question.text}` }],
    openQuestions: known.openQuestions.filter((text) => plain(text) !== plain(question.text)),
    knownBlockers: known.knownBlockers.filter((text) => !plain(question.text).includes(plain(text))),
  });
  if (saysTheSame(known, body)) return [];
  return [nodeEvent(node, moment, "crystallization.recorded", "answered", { crystallizationId, ...body })];
}

/** What the agent hears. A person's words are material between fences; what they are an answer to stands above. */
function answerText(question: Question, answer: string): string {
  return [
    `Your question ${question.questionId} was answered. You had asked:`,
    renderFenced(question.text, 2_000) ?? "",
    "The answer:",
    renderFenced(answer, 8_000) ?? "",
    "Continue your work accordingly.",
  ].join("\n\n");
}

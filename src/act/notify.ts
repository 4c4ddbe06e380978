/**
 * Puts open questions before people: sends what is due by the channels that are meant for it, raises what nobody
 * reacted to, and withdraws what has become moot. When and where is decided in domain/reports/question-notice.ts; how a
 * channel sends is its own file in channels/.
 */
import type { ChannelKind, NoticeOutcome, QuestionNotice } from "#channels/channel.ts";
import { notSent } from "#channels/channel.ts";
import { isQuietFor, listRecipients } from "#channels/recipients.ts";
import { readSecret } from "#channels/secret.ts";
import type { Config } from "#config/schema.ts";
import type { Moment } from "#domain/core/actor.ts";
import { isoTime } from "#domain/core/iso-time.ts";
import { withdrawMoot } from "#domain/landing/closing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Origin } from "#domain/model/goal.ts";
import type { Question } from "#domain/model/question.ts";
import { isOpen } from "#domain/model/work.ts";
import {
  acknowledgeQuestion,
  type DueNotice,
  dueNotices,
  escalateQuestion,
  noticeEvent,
} from "#domain/reports/question-notice.ts";
import { openQuestions, questionById } from "#store/assignments.ts";
import { goalById } from "#store/goals.ts";
import type { Store } from "#store/store.ts";
import { nodeById } from "#store/work.ts";
import { nameOf } from "#sys/paths.ts";
import { ANSWER_SECRET, ANSWER_WITHIN_MS, signAnswerToken } from "./answer-token.ts";
import { choicesFor } from "./channel-choices.ts";
import type { ActParts } from "./parts.ts";
import { sendNotice } from "./send-notice.ts";
import { tellKept } from "./tell-people.ts";

export interface Notified {
  /** Notices that were tried, with what became of them. */
  readonly sent: readonly (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[];
  /** When something is due again; null when nothing is by itself. */
  readonly nextAt: number | null;
}

/** An answer that came back with a notice; nothing in it is trusted yet. */
export interface ReturnedAnswer {
  readonly token: string;
  readonly words: string;
  /** By whom it came. */
  readonly via: string;
  /** The question that was sent there. */
  readonly questionId: string;
}

/** True where it was taken; one that is refused is in the log. */
export type TakeAnswer = (answer: ReturnedAnswer) => Promise<boolean>;

/** Those for whom it is quiet now: what waits for them follows after. */
function listQuiet(config: Config, now: number): ReadonlySet<string> {
  return new Set(
    listRecipients(config.channels)
      .filter((one) => isQuietFor(one, now))
      .map(({ name }) => name),
  );
}

/**
 * For the daemon's loop; safe to
 * repeat: what got through is in the log under its round and channel, and a crash in between sends it once more under
 * the same key.
 */
export async function notifyDue(parts: ActParts, takeAnswer?: TakeAnswer): Promise<Notified> {
  const store = await parts.writer();
  const config = await parts.config();
  const { open } = await store.read({ open: openQuestions() });
  const sent: (DueNotice & Pick<NoticeOutcome, "ok" | "detail">)[] = [];
  const later: number[] = [];
  for (const one of open) {
    const question = await escalateIfDue(parts, store, config, one);
    if (!question) continue;
    const quiet = listQuiet(config, parts.clock.now());
    const choices = (await choicesFor(store, config, question)).filter(({ channel }) => !quiet.has(channel));
    const due = dueNotices(question, choices, parts.clock.now());
    if (due.nextAt !== null) later.push(due.nextAt);
    for (const notice of due.send) {
      const outcome = await deliver(parts, store, config, question, notice);
      await recordNotice(parts, store, notice, outcome);
      sent.push({ ...notice, ok: outcome.ok, detail: outcome.detail });
      if (outcome.answer && takeAnswer) {
        const taken = await takeAnswer({ ...outcome.answer, via: notice.channel, questionId: question.questionId });
        if (taken) break; // nobody else has to be asked
      }
    }
  }
  await tellKept(parts, new Set(sent.flatMap(({ ok, channel }) => (ok ? [channel] : []))));
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
  const recipient =
    due.channel === SESSION.name ? SESSION : listRecipients(config.channels).find(({ name }) => name === due.channel);
  if (!recipient) return notSent("there is no such channel");
  const { goal } = await store.read({ goal: goalById(question.goalId ?? "") });
  const project = config.project.name ?? nameOf(parts.root.project);
  const token = MAY_ANSWER.has(recipient.via) ? await makeToken(parts, question.questionId) : null;
  return sendNotice(parts, recipient, noticeOf(question, due, { project, origin: goal?.origin, token }));
}

const SESSION = { name: "session", via: "session", to: null } as const;
/** Where an answer can come back; an agent's session is no person, and gets no token. */
const MAY_ANSWER: ReadonlySet<ChannelKind> = new Set(["command", "webhook"]);

async function makeToken(parts: ActParts, questionId: string): Promise<string> {
  const secret = await readSecret(parts, ANSWER_SECRET);
  return signAnswerToken(secret, questionId, parts.clock.now() + ANSWER_WITHIN_MS);
}

function noticeOf(
  question: Question,
  due: DueNotice,
  { project, origin, token }: { project: string; origin: Origin | undefined; token: string | null },
): QuestionNotice {
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
    token,
  };
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

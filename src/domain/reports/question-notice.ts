/**
 * How a question reaches people: which channels are meant for it, what is to be sent now, when it is raised again
 * because nobody reacted, and whether anybody can have seen it at all. The goal's origin comes first, anything else only
 * where it is configured (ESC-2). Pure: it says what is due; act/notify.ts sends it, and the outcome comes back as events.
 */

import type { Moment } from "#domain/core/actor.ts";
import { waitLeft } from "#domain/core/elapsed.ts";
import { refuse } from "#domain/core/refusal.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { Origin } from "#domain/model/goal.ts";
import { aboutQuestion, type ChannelName, type Notice, noSuchQuestion, type Question } from "#domain/model/question.ts";

export interface ChannelChoice {
  readonly channel: ChannelName;
  readonly because: "origin" | "configured" | "origin-is-gone";
}

/** In the order in which they are tried; all of them are. A session is chosen by the origin, never by configuration. */
export function channelsFor(
  origin: Origin | undefined,
  configured: readonly ChannelName[],
  isLivingSession: (session: string) => boolean,
): readonly ChannelChoice[] {
  const session = origin?.deliveryContext?.session ?? origin?.session;
  const reachable = session !== undefined && isLivingSession(session);
  const gone = session !== undefined && !reachable;
  const atTerminal = session === undefined ? "origin" : gone ? "origin-is-gone" : "configured";
  return [
    ...(reachable ? [{ channel: "session", because: "origin" } as const] : []),
    ...configured.map((channel) => ({ channel, because: channel === "terminal" ? atTerminal : "configured" }) as const),
  ];
}

export interface NoticePolicy {
  /** Nobody has said that he saw it for this long: it is raised again. */
  readonly escalateAfterMs: number;
  readonly mostRounds: number;
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
  /** So often with growing waits; then seldom. */
  readonly mostTries: number;
  readonly seldomMs: number;
}

export const NOTICE_POLICY: NoticePolicy = {
  escalateAfterMs: 4 * 3_600_000,
  mostRounds: 2,
  retryBaseMs: 60_000,
  retryMaxMs: 30 * 60_000,
  mostTries: 5,
  seldomMs: 3_600_000,
};

export interface DueNotice extends ChannelChoice {
  readonly questionId: string;
  readonly round: number;
  /** The same for every try of one notice: whoever receives it twice can tell. */
  readonly key: string;
}

export interface Due {
  readonly send: readonly DueNotice[];
  /** Set when it is to be raised again; the notices of the new round follow when that is recorded. */
  readonly escalate: boolean;
  /** When something will be due by itself; null when nothing will. */
  readonly nextAt: number | null;
}

const NOTHING: Due = { send: [], escalate: false, nextAt: null };

export function dueNotices(
  question: Question,
  choices: readonly ChannelChoice[],
  now: number,
  policy: NoticePolicy = NOTICE_POLICY,
): Due {
  if (question.status !== "open") return NOTHING;
  const raise = question.acknowledgedAt === null && question.round < policy.mostRounds;
  const raiseIn = raise ? waitLeft(question.roundAt, policy.escalateAfterMs, now) : null;
  if (raiseIn === 0) return { send: [], escalate: true, nextAt: null };
  const waits = choices.map((choice) => ({ choice, inMs: dueIn(question, choice.channel, policy, now) }));
  const send = waits
    .filter(({ inMs }) => inMs === 0)
    .map(({ choice }) => ({ ...choice, ...noticeOf(question, choice.channel) }));
  const later = [raiseIn, ...waits.map(({ inMs }) => inMs)].filter((ms): ms is number => ms !== null && ms > 0);
  return { send, escalate: false, nextAt: later.length === 0 ? null : now + Math.min(...later) };
}

function noticeOf({ questionId, round }: Question, channel: ChannelName) {
  return { questionId, round, key: `${questionId}/${round}/${channel}` };
}

/** In how long this round's notice on a channel is to be tried (again); null when it got through or was given up. */
function dueIn(question: Question, channel: ChannelName, policy: NoticePolicy, now: number): number | null {
  const tries = question.notices.filter((notice) => notice.channel === channel && notice.round === question.round);
  const last = tries.at(-1);
  if (!last) return 0;
  if (tries.some((notice) => notice.ok)) return null;
  // A channel that is mended late still carries what is open: tried again for ever, and seldom.
  const wait = tries.length < policy.mostTries ? retryWaitMs(tries.length, policy) : policy.seldomMs;
  return waitLeft(last.at, wait, now);
}

/** After the n-th failure; never shrinks and stays capped. */
export function retryWaitMs(failures: number, policy: NoticePolicy = NOTICE_POLICY): number {
  return Math.min(policy.retryMaxMs, policy.retryBaseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}

/** A way by which the last notice of an open question did not get through, whoever else was reached. */
export interface FailingChannel {
  readonly channel: ChannelName;
  readonly sinceAt: number;
  readonly problem: string;
}

export function listFailingChannels(questions: readonly Pick<Question, "status" | "notices">[]): FailingChannel[] {
  const open = questions.filter(({ status }) => status === "open");
  const all = open.flatMap(({ notices }) => notices).toSorted((a, b) => a.at - b.at);
  const failing = new Map<ChannelName, FailingChannel>();
  for (const { channel, ok, at, detail } of all) {
    if (ok) failing.delete(channel);
    else failing.set(channel, { channel, sinceAt: failing.get(channel)?.sinceAt ?? at, problem: detail });
  }
  return [...failing.values()];
}

export type Reach =
  | { readonly state: "reached"; readonly by: readonly ChannelName[] }
  | { readonly state: "waiting" }
  /** Nobody can have seen it, and why; shown wherever questions are. */
  | { readonly state: "unreached"; readonly why: string };

export function reachOf(question: Question, choices: readonly ChannelChoice[]): Reach {
  const by = [...new Set(question.notices.filter((notice) => notice.ok).map((notice) => notice.channel))];
  if (by.length > 0) return { state: "reached", by };
  if (choices.length === 0) return { state: "unreached", why: "no channel is configured" };
  const failed = choices.flatMap(({ channel }) => question.notices.filter((one) => one.channel === channel).slice(-1));
  if (failed.length < choices.length) return { state: "waiting" };
  return { state: "unreached", why: failed.map((one) => `${one.channel}: ${one.detail}`).join("; ") };
}

export function noticeEvent(
  question: Question,
  due: DueNotice,
  outcome: Pick<Notice, "ok" | "detail">,
  moment: Moment,
): NewEvent {
  const { questionId, channel, round, because } = due;
  return {
    type: "question.notified",
    actor: moment.actor,
    ...aboutQuestion(question),
    because,
    data: { questionId, channel, round, ...outcome },
  };
}

export function escalateQuestion(
  question: Question | undefined,
  questionId: string,
  moment: Moment,
): Decision<boolean> {
  if (!question) return noSuchQuestion(questionId);
  if (question.status !== "open" || question.acknowledgedAt !== null) return accept([], false);
  const data = { questionId, round: question.round + 1, reason: "nobody has answered" };
  return accept(
    [
      {
        type: "question.escalated",
        actor: moment.actor,
        ...aboutQuestion(question),
        because: "unacknowledged-too-long",
        data,
      },
    ],
    true,
  );
}

/** Somebody has seen it. Saying so twice changes nothing. */
export function acknowledgeQuestion(
  question: Question | undefined,
  questionId: string,
  via: string,
  moment: Moment,
): Decision<boolean> {
  if (!question) return noSuchQuestion(questionId);
  if (question.status !== "open") {
    return refuse(
      "conflict",
      "QUESTION_ENDED",
      `Question ${questionId} is ${question.status} already.`,
      `Run 'overseer why ${questionId}' to see how it ended.`,
    );
  }
  if (question.acknowledgedAt !== null) return accept([], false);
  return accept(
    [
      {
        type: "question.acknowledged",
        actor: moment.actor,
        ...aboutQuestion(question),
        because: "a-person-saw-it",
        data: { questionId, via },
      },
    ],
    true,
  );
}

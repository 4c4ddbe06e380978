/**
 * Takes what waits out of an inbox and writes down that it was handed over, in one commit: of several who reach into
 * the same box, each message goes to one. What is returned is what the agent is to read, within the cap; whoever asked
 * puts it before the agent, and proof that it was seen comes later (trace-messages.ts, or the agent's own stream).
 */

import type { Injection } from "#domain/inbox/injection.ts";
import { renderInjection } from "#domain/inbox/injection.ts";
import {
  expiryEvents,
  handOver,
  markHanded,
  markSeen,
  overdue,
  steerEvents,
  withdrawSyncs,
} from "#domain/inbox/mailing.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { theFleet } from "#store/fleet.ts";
import { listForgottenInBox } from "#store/learnings.ts";
import { countQueuedMessages, listQueuedMessages, messageById, messagesByIds, unseenInBox } from "#store/messages.ts";
import type { Store } from "#store/store.ts";

export interface Taking {
  /** Under what id it is handed over; the proof refers to it. */
  readonly handedAs: string;
  readonly because: string;
  readonly capBytes: number;
  readonly now: number;
}

const NOTHING: Injection = { text: "", handed: [], left: 0 };

/** More than fits under any sensible cap; the rest is only counted. */
const MOST_LOOKED_AT = 200;

/**
 * For an attempt; nothing while it is paused or the fleet is frozen (FREEZE-1), or once it has ended. In the middle of a
 * turn only what it was not told of already: the rest of a flood waits for the next turn.
 */
export async function takeForAttempt(
  store: Pick<Store, "commit" | "read">,
  attempt: number,
  taking: Taking & { readonly midTurn: boolean },
): Promise<Injection> {
  const fresh = taking.midTurn;
  const outcome = await store.commit({
    at: taking.now,
    reads: {
      attempt: attemptByNumber(attempt),
      waiting: listQueuedMessages(attempt, { fresh, limit: MOST_LOOKED_AT }),
      many: countQueuedMessages(attempt, { fresh }),
      fleet: theFleet(),
      forgotten: listForgottenInBox(attempt),
    },
    decide: ({ attempt, waiting, many, fleet, forgotten }): Decision<Injection> => {
      if (!attempt || !isLiving(attempt) || attempt.status === "paused") return accept([], NOTHING);
      if (fleet?.status === "frozen") return accept([], NOTHING);
      // One that came back from whoever ended, or that an older version left waiting.
      const withdrawn = waiting.filter(({ kind, threadId }) => kind === "sync" && forgotten.has(threadId ?? ""));
      const late = overdue(waiting, taking.now).filter((message) => !withdrawn.includes(message));
      const due = waiting.filter((message) => !late.includes(message) && !withdrawn.includes(message));
      const total = many - late.length - withdrawn.length;
      const injection = renderInjection(due, { capBytes: taking.capBytes, total });
      const { handed: messages, left } = injection;
      const handing = { messages, handedAs: taking.handedAs, left: messages.length === 0 ? 0 : left };
      const ended = [...expiryEvents(late), ...withdrawSyncs(withdrawn, "overseer")];
      return accept([...ended, ...handOver(attempt, handing, taking.because)], injection);
    },
  });
  return outcome.ok ? outcome.value : NOTHING;
}

/** For a box that no attempt has. Whoever shows it says afterwards, with `confirm`, that it was shown. */
export async function takeFromBox(store: Pick<Store, "commit">, agent: string, taking: Taking): Promise<Injection> {
  const outcome = await store.commit({
    at: taking.now,
    reads: { unseen: unseenInBox(agent, MOST_LOOKED_AT) },
    decide: ({ unseen }): Decision<Injection> => {
      const queued = unseen.filter((message) => message.status === "queued" && message.attempt === 0);
      const injection = renderInjection(queued, { capBytes: taking.capBytes, total: queued.length });
      return accept(markHanded(injection.handed, taking.handedAs, taking.because), injection);
    },
  });
  return outcome.ok ? outcome.value : NOTHING;
}

export async function confirmShown(store: Pick<Store, "commit">, injection: Injection, now: number): Promise<void> {
  const ids = injection.handed.map((message) => message.messageId);
  await store.commit({
    at: now,
    reads: { messages: messagesByIds(ids) },
    decide: ({ messages }): Decision<null> => accept(markSeen(messages, "overseer", "shown"), null),
  });
}

export interface SteeringMessage {
  readonly messageId: string;
  /** One sentence; `[SUPERVISOR]` is put before it. */
  readonly body: string;
  readonly handedAs: string;
  readonly now: number;
}

/** Steers an attempt at work: what is to be put before it now, written down as handed; empty when it has ended or paused. */
export async function steerAttempt(
  store: Pick<Store, "commit" | "read">,
  attempt: number,
  steering: SteeringMessage,
): Promise<string> {
  const outcome = await store.commit({
    at: steering.now,
    reads: { one: attemptByNumber(attempt), fleet: theFleet() },
    decide: ({ one, fleet }): Decision<boolean> => {
      const may = one !== undefined && isLiving(one) && one.status !== "paused" && fleet?.status !== "frozen";
      return accept(may ? steerEvents(one, steering) : [], may);
    },
  });
  if (!outcome.ok || !outcome.value) return "";
  const { said } = await store.read({ said: messageById(steering.messageId) });
  return said ? renderInjection([said], { capBytes: Number.POSITIVE_INFINITY, total: 1 }).text : "";
}

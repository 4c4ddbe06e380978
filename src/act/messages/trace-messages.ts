/**
 * Finds out what became of messages that were handed over and not confirmed. What was handed to an agent stands in the
 * transcript of its session under its id if the agent took it, also after a kill; so that is looked at before anything
 * is handed over again. Found: seen. Not found, and the one it was handed to is gone: back into the queue.
 */

import { markSeen, requeueEvents } from "#domain/inbox/mailing.ts";
import { isLiving } from "#domain/model/attempt.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import type { Message } from "#domain/model/message.ts";
import { attemptByNumber } from "#store/attempts.ts";
import { waitingMessages } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import { readLast } from "#sys/read-tail.ts";

export interface TraceOptions {
  readonly now: number;
  /** Where the session is written down; undefined when the agent's program keeps none. */
  readonly transcript: string | undefined;
  /** Those of the handed over that nobody can take any more; only they go back into the queue. */
  readonly isLost: (message: Message) => boolean;
  readonly reason: string;
}

/** Settles every message of the attempt that was handed over. Returns how many were found and how many wait again. */
export async function traceMessages(
  store: Pick<Store, "commit" | "read">,
  attempt: number,
  trace: TraceOptions,
): Promise<{ readonly seen: number; readonly requeued: number }> {
  const { waiting } = await store.read({ waiting: waitingMessages(attempt) });
  const handed = waiting.filter((message) => message.status === "handed");
  if (handed.length === 0) return { seen: 0, requeued: 0 };
  const found = new Set(idsInText(readTranscriptEnd(trace.transcript)));
  const outcome = await store.commit({
    at: trace.now,
    reads: { attempt: attemptByNumber(attempt), waiting: waitingMessages(attempt) },
    decide: ({ attempt, waiting }): Decision<{ seen: number; requeued: number }> => {
      const still = waiting.filter((message) => message.status === "handed");
      const seen = still.filter((message) => found.has(message.messageId));
      // Of one that has ended, what was not found is settled by its end.
      const open = attempt && isLiving(attempt) ? still.filter((message) => !seen.includes(message)) : [];
      const lost = open.filter(trace.isLost);
      return accept([...markSeen(seen, "overseer", "found-in-transcript"), ...requeueEvents(lost, trace.reason)], {
        seen: seen.length,
        requeued: lost.length,
      });
    },
  });
  return outcome.ok ? outcome.value : { seen: 0, requeued: 0 };
}

/** Ids of messages as they stand in their tags; a text inside a text has its quotes escaped, perhaps twice. */
const TAGGED_ID = /<overseer-[a-z]+ id=\\*"(m_[A-Za-z0-9-]+)\\*"/g;

export function idsInText(text: string): string[] {
  return [...text.matchAll(TAGGED_ID)].flatMap((match) => match[1] ?? []);
}

/**
 * What waits for its proof was handed over lately, so that it stands near the end; a session of days is not held in
 * memory as a whole.
 */
const LOOKED_AT_BYTES = 16 * 1024 * 1024;

/** Where it lies may have been said by a session, so it may be anything: what is no regular file says nothing. */
export function readTranscriptEnd(path: string | undefined): string {
  return path ? readLast(path, LOOKED_AT_BYTES) : "";
}

/**
 * Hands the orchestrator's letters to the session that leads, and finds out what became of those that were handed over:
 * what a hook has put before its model under its id, as its transcript has it, was seen. What does not, and whose session is gone or has
 * long gone on without it, waits again (RCPT-1). A CLI writes its transcript a moment later than it reads, so
 * that something is not there yet says nothing by itself.
 */
import { takeFromBox } from "#act/messages/take-messages.ts";
import { idsInText, readTranscriptEnd } from "#act/messages/trace-messages.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import { markSeen, requeueEvents } from "#domain/inbox/mailing.ts";
import { accept, type Decision } from "#domain/model/decision.ts";
import { type LeadSession, nameHand, readHand } from "#domain/model/lead.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import { promptContextsIn } from "#runtimes/hook-contexts.ts";
import { theLead } from "#store/lead.ts";
import { unseenInBox } from "#store/messages.ts";
import type { Store } from "#store/store.ts";
import type { Processes } from "#sys/processes.ts";

/**
 * A session that has gone on for so long without a letter in its transcript has not taken it: its prompt was broken off,
 * or the hook was too slow. Until then the prompt may wait in the CLI behind a tool that runs.
 */
const LONG_GONE_ON_MS = 10 * 60_000;

/** What waits, in the form that cannot be forged; empty when nothing does. */
export async function handToLead(
  store: Pick<Store, "commit">,
  session: LeadSession,
  taking: { readonly capBytes: number; readonly now: number },
): Promise<string> {
  const handing = { ...taking, handedAs: nameHand(session), because: "at-a-boundary" };
  return (await takeFromBox(store, ORCHESTRATOR_ADDRESS, handing)).text;
}

/** Settles what sessions were handed; safe to repeat, and cheap where there is nothing to settle. */
export async function settleHanded(
  store: Pick<Store, "read" | "commit">,
  processes: Pick<Processes, "alive">,
  now: number,
): Promise<void> {
  const { unseen, lead } = await store.read({ unseen: unseenInBox(ORCHESTRATOR_ADDRESS), lead: theLead() });
  if (!unseen.some(({ handedAs }) => readHand(handedAs))) return;
  const found = new Set<string>();
  for (const transcript of new Set([lead?.holder?.transcript, lead?.before?.transcript])) {
    const contexts = promptContextsIn(readTranscriptEnd(transcript), "<overseer-");
    for (const id of contexts.flatMap(idsInText)) found.add(id);
  }
  const isLost = (handedAs: string | null, handedAt: number) => {
    const hand = readHand(handedAs);
    if (!hand) return false;
    return (hand.process !== null && !processes.alive(hand.process)) || hasPassed(handedAt, LONG_GONE_ON_MS, now);
  };
  await store.commit({
    at: now,
    reads: { unseen: unseenInBox(ORCHESTRATOR_ADDRESS) },
    decide: ({ unseen }): Decision<null> => {
      const handed = unseen.filter(({ status, handedAs }) => status === "handed" && readHand(handedAs));
      const seen = handed.filter(({ messageId }) => found.has(messageId));
      const lost = handed.filter(
        (message) => !seen.includes(message) && isLost(message.handedAs, message.handedAt ?? now),
      );
      return accept(
        [...markSeen(seen, "overseer", "found-in-transcript"), ...requeueEvents(lost, "the session did not take it")],
        null,
      );
    },
  });
}

/**
 * What an agent that continues in its old session has to be told again: what it never saw, and what it saw in its last
 * moments and its CLI had not written down when it was killed. The session is what remembers; a message that is not in it
 * was not heard, whatever the CLI had answered before.
 */
import type { Message } from "#domain/model/message.ts";

/** CLIs write their sessions a moment later; this is far longer than any of them takes. */
export const WRITTEN_WITHIN_MS = 60_000;

/** `transcript`: what the session that goes on holds; undefined where it begins anew, and knows nothing. */
export function listToTellAgain(
  messages: readonly Message[],
  transcript: string | undefined,
  endedAt: number,
): readonly Message[] {
  return messages.filter((message) => {
    // The instruction of an assignment ends with it.
    if (message.dispatchId !== null) return false;
    if (message.status === "seen") {
      return transcript !== undefined && isOfLastMoments(message, endedAt) && !isWrittenIn(transcript, message);
    }
    return message.handedAs === null || transcript === undefined || !isWrittenIn(transcript, message);
  });
}

export function isOfLastMoments({ endedAt }: Pick<Message, "endedAt">, attemptEndedAt: number): boolean {
  return endedAt !== null && Math.abs(attemptEndedAt - endedAt) <= WRITTEN_WITHIN_MS;
}

/** Driven, it was written under the id of its handing; on a screen, with its own id in it. */
function isWrittenIn(transcript: string, { handedAs, messageId }: Message): boolean {
  return (handedAs !== null && transcript.includes(handedAs)) || transcript.includes(messageId);
}

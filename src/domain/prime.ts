/**
 * What an agent is told again when it has lost its thread: after its context was compacted, or because it asks with
 * `prime`. The assignment comes first and whole, then what waits for it, then what it did last. Texts of others stand
 * between fences, and the whole stays under a cap so that it cannot fill the context it is meant to rescue.
 */
import type { Message } from "./message.ts";
import type { OverlayInput } from "./overlay.ts";
import { OVERLAY_MIN_BYTES, renderOverlay } from "./overlay.ts";
import { fenced, inline } from "./quote.ts";

/** The page that is written when an attempt starts and handed out again after each compaction. */
export function renderPrime(input: OverlayInput): string {
  return [
    `You are ${inline(input.agent, 40)}, attempt #${input.attempt}, in the middle of the work below. Your context was compacted;`,
    "what you had done is in the worktree and in git log. Look there, then go on. Your role's rules still hold.",
    "",
    renderOverlay(input, OVERLAY_MIN_BYTES),
  ].join("\n");
}

/** Messages shown at once, and the room for each. */
const MOST_MESSAGES = 10;
const MESSAGE_BYTES = 2_000;

/** What waits in the inbox; empty when nothing does. */
export function renderWaiting(messages: readonly Pick<Message, "messageId" | "from" | "body">[]): string {
  if (messages.length === 0) return "";
  const shown = messages.slice(0, MOST_MESSAGES).map((message) => {
    const head = `From ${inline(message.from, 60)} (${message.messageId}):`;
    return `${head}\n\n${fenced(message.body, MESSAGE_BYTES) ?? "(empty)"}`;
  });
  const more = messages.length - shown.length;
  return [
    "## Waiting messages",
    ...shown,
    ...(more > 0 ? [`and ${more} more, which will be given to you in turn.`] : []),
  ].join("\n\n");
}

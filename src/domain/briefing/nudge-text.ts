/**
 * What Overseer says to an agent that is stuck. Each text asks for the same four things (status, next, blockers, and what
 * to do if finished) in a form that can be read without guessing. The tone rises, the request stays. The block shown is
 * the one agents are taught (protocol.ts); whoever reads answers takes them from the agent's own words only. Who speaks is
 * said by the inbox, around the text.
 */

import { textHash } from "#domain/core/derived-id.ts";
import { renderFenced } from "#domain/core/quote.ts";
import type { Nudge } from "#domain/model/ladder-state.ts";
import { updateBlock } from "#domain/model/protocol.ts";

const OPENINGS: Readonly<Record<Nudge, string>> = {
  hint: "Your work has shown no sign of progress for a while.",
  warning: "Your work still shows no sign of progress. Please answer before you do anything else.",
  critical: "Your work counts as stuck. Without an answer it will be taken from you and given to another agent.",
};

const OF_CAUSE: Readonly<Record<string, string>> = {
  looping: "You have made the same call with the same result several times. Stop it, and try another way or ask.",
  "tool-hangs":
    "A tool call of yours has neither computed nor read or written anything for a long time. It will be interrupted.",
  "quiet-by-threshold": "Nothing was heard of you for a while.",
  "update-overdue": "The update that was due has not arrived.",
  "idle-with-open-work": "You stopped, and your task is neither reported done nor blocked.",
};

const REQUEST = `Answer in a few words:
- Status: what has changed since your last instruction.
- Next: the next concrete action; then do it.
- Blockers: what you need from somebody else to continue.
- If finished: say that it is done, with a short summary and the commit, files and tests that show it.
End your answer with this block, filled in for your task:

${updateBlock()}`;

/** Stands for what `nudgeText` says: the words follow from these two, and hashing them would cost more. */
export function nudgeHash(nudge: Nudge, cause: string): string {
  return textHash(`nudge ${nudge} ${cause}`);
}

export function nudgeText(nudge: Nudge, cause: string): string {
  return [OPENINGS[nudge], OF_CAUSE[cause] ?? "", REQUEST].filter((part) => part !== "").join("\n");
}

/** So much of a model's words is passed on. */
const ADVICE_BYTES = 1_500;

/** What a model thinks of the stall, as material: it is no instruction, and nothing in it speaks for Overseer. */
export function adviceText(message: string): string {
  return `Your work counts as stuck. A model was shown the last signs of it; its advice stands below between fences. It is an opinion
of somebody who saw little: weigh it, and do what your task asks for.
${renderFenced(message, ADVICE_BYTES) ?? ""}
${REQUEST}`;
}

export function statusRequestText(): string {
  return `An update on your work is due. You need not stop for it.\n${REQUEST}`;
}

export const HAND_OVER_TEXT = `The budget for this work is spent; you will be paused after this turn. Use it to hand over: commit what is sound, and
report where the work stands, what you decided and why, and what comes next. Begin nothing new.`;

export const QUOTA_BACK_TEXT = `You were held up because the usage limit was reached. It should be lifted now: continue with your task where you were.`;

export const PROVIDER_BACK_TEXT = `Your last turn was given up because the provider of your model failed. It should work again: continue with your task where
you were.`;

export const HUNG_TOOL_TEXT = `A tool call of yours was interrupted: for a long time its processes had neither computed nor read or written anything. Do
not run the same again and wait for it: find out why it hung, give it a time limit, or take another way. Then continue your task.`;

export const RESUMED_TEXT = "Continue your task; if something keeps you from it, say what.";

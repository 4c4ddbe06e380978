/**
 * What the last words of a silent agent say about its silence (LIVE-1). Looked at only for an assignment that seems
 * stale, over at most twenty messages, and by rules alone: whoever waits for a person's answer is not nudged, whoever
 * waits for something slow gets more time, and a turn that failed is named as the cause. Words that fit no rule say
 * nothing; then silence is silence. What Overseer itself wrote is never among them.
 */
import type { Signal, SignalKind } from "./signal.ts";

export type Fingerprint =
  | { readonly class: "waiting-on-human"; readonly words: string }
  | { readonly class: "slow" }
  | { readonly class: "failed" };

/** How many messages are looked at, at most. */
export const FINGERPRINT_MESSAGES = 20;

/** Kinds of signal that count as messages. */
export const FINGERPRINT_KINDS = [
  "said",
  "turn.ended",
  "api.retry",
  "api.failed",
] as const satisfies readonly SignalKind[];

/** `recent`: the oldest first, as they were recorded. Undefined: the words say nothing about it. */
export function fingerprintOf(recent: readonly Signal[]): Fingerprint | undefined {
  for (const signal of recent.slice(-FINGERPRINT_MESSAGES).toReversed()) {
    const found = classifySignal(signal);
    if (found !== "look further back") return found;
  }
  return undefined;
}

/** The newest message that says anything decides; what was said before it is past. */
function classifySignal(signal: Signal): Fingerprint | undefined | "look further back" {
  switch (signal.kind) {
    case "api.failed":
      return { class: "failed" };
    case "api.retry":
      // Trying again what does not work is neither progress nor a word about it; what was said before it is past.
      return undefined;
    case "turn.ended":
      // One that was interrupted has not failed; whoever interrupted it knows why.
      if (!signal.data.ok && !BROKEN_OFF.test(signal.data.reason)) return { class: "failed" };
      return classifyWords(signal.data.text);
    case "said":
      return classifyWords(signal.data.text);
    default:
      return "look further back";
  }
}

const BROKEN_OFF = /abort|interrupt|cancel/i;

function classifyWords(text: string): Fingerprint | undefined | "look further back" {
  const words = text.replace(FENCED, "").trim();
  if (words === "") return "look further back";
  const last = words.split(/\n\s*\n/).at(-1) ?? words;
  if (ASKS.test(last) || END_OF_A_QUESTION.test(last))
    return { class: "waiting-on-human", words: last.slice(-WORDS_KEPT) };
  return IS_SLOW.test(last) ? { class: "slow" } : undefined;
}

/** Blocks of code and reports are not said to anybody. */
const FENCED = /```[\s\S]*?(?:```|$)/g;
const WORDS_KEPT = 500;
const END_OF_A_QUESTION = /\?["')\]*_]*\s*$/;
const ASKS =
  /\b(?:please (?:confirm|advise|choose|decide|let me know)|let me know (?:if|how|which|whether|what|when)|waiting (?:for|on) (?:your|you\b|approval|a (?:person|human)|confirmation|permission)|(?:i )?need (?:your|a (?:person|human)|approval|permission|credentials|access)|do you want me|would you like|should i\b|awaiting (?:your|approval|confirmation|instructions|input))/i;
const IS_SLOW =
  /\b(?:still (?:running|building|compiling|installing|downloading|waiting|in progress)|(?:may|might|will|can) take (?:a while|some time|several|a few|long)|waiting (?:for|on) (?:the )?(?:build|tests?|suite|ci|pipeline|download|install\w*|deploy\w*|server|job|command)|in the background)/i;

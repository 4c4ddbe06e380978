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
  const last = lastParagraph(words);
  if (ASKS.test(last) || ASKS_ELSEWHERE.test(last) || hasQuestion(last))
    return { class: "waiting-on-human", words: last.slice(-WORDS_KEPT) };
  return IS_SLOW.test(last) ? { class: "slow" } : undefined;
}

/** A list belongs to what stands before it: "Which approach?" and the choices are one question. */
function lastParagraph(words: string): string {
  const paragraphs = words.split(/\n\s*\n/);
  let first = paragraphs.length - 1;
  while (first > 0 && IS_LIST.test(paragraphs[first] ?? "")) first -= 1;
  return paragraphs.slice(first).join("\n\n");
}

/** Any sentence that asks, wherever it stands; one that answers itself ("Why? Because …") does not. */
function hasQuestion(paragraph: string): boolean {
  for (const [, sentence = ""] of paragraph.replace(INLINE_CODE, "x").matchAll(QUESTIONS)) {
    if (!ANSWERS_ITSELF.test(sentence.trim())) return true;
  }
  return false;
}

/** Blocks of code and reports are not said to anybody. */
const FENCED = /```[\s\S]*?(?:```|$)/g;
const WORDS_KEPT = 500;
const INLINE_CODE = /`[^`\n]*`/g;
const IS_LIST = /^\s*(?:[-*•+]|\(?(?:\d{1,2}|[a-zA-Z])[.)]|\*\*\(?(?:\d{1,2}|[a-zA-Z])[.)]|\*\*Option|Option)\s?\S/;
/** Full-width marks are written without a space after them. */
const QUESTIONS = /([^.!?。！？\n]*)(?:\?(?=["'”’)\]*_]*(?:\s|$))|？)/g;
const ANSWERS_ITSELF =
  /^["'*_(\s]*(?:why(?: (?:not|this|that))?|how(?: so)?|so what|what happened|what changed|(?:and )?the (?:cause|reason|result|fix|catch|problem|upshot|difference|good news))["'*_)\s]*$/i;
const ASKS =
  /\b(?:(?:please )?(?:reply|respond|answer) with\b|(?:tell me|say) (?:which|what|how|whether|when)\b|(?:pick|choose) (?:one|an option|a number|between)\b|please (?:confirm|advise|choose|decide|let me know(?! if))|let me know (?:how|which|whether|what|when)|waiting (?:for|on) (?:your|you\b|approval|a (?:person|human)|confirmation|permission)|(?:i )?need (?:your|a (?:person|human)|approval|permission|credentials|access)|do you want me|would you like|should i\b|(?:it's |that's |is |this is )?your (?:call|choice|decision)\b|up to you\b|awaiting (?:your|approval|confirmation|instructions|input))/i;
/** The same in languages that put no mark: Chinese, Japanese, Korean. */
const ASKS_ELSEWHERE =
  /请(?:告诉我|告知|确认|选择|回复|提供|问)|告诉我(?:结果|一声)|(?:教えて|お知らせ|ご?確認|選んで|ご?指示|ご?回答)(?:して)?ください|(?:ます|です|でしょう)か[。.]?\s*$|알려\s?주(?:세요|시면)|확인해\s?주|(?:할까요|까요|나요)[.]?\s*$/;
const IS_SLOW =
  /\b(?:still (?:running|building|compiling|installing|downloading|waiting|in progress)|(?:may|might|will|can) take (?:a while|some time|several|a few|long)|waiting (?:for|on) (?:the )?(?:build|tests?|suite|ci|pipeline|download|install\w*|deploy\w*|server|job|command)|in the background)/i;

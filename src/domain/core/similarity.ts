/**
 * When two calls are the same thing tried again. Results are compared by a hash of their text without what changes at
 * every run anyway (times, durations, ids, temporary paths); counts stay, because "11 failed" after "12 failed" is
 * progress. Arguments are compared by a sketch: the words of their values, hashed, a dozen of them, so that the pulse
 * can keep many calls in little room. Nothing here is cryptographic, and nothing reads further than it must.
 */

/** As much of a result is looked at; of a longer one both ends, because test runners sum up at the end. */
const LONGEST_RESULT = 64 * 1024;
const LONGEST_ARGUMENTS = 8 * 1024;

/** How many words of the arguments a sketch holds, and how many characters each takes. */
const SKETCH_WORDS = 12;
const WORD_LENGTH = 3;
const WORDS = 36 ** WORD_LENGTH;

/** Arguments that share this much of their words are similar. */
export const SIMILAR = 0.75;

/** A short name for a text: 53 bits, in base 36. */
export function digest(text: string): string {
  return numberOf(text).toString(36);
}

/** cyrb53: two multiply-xor lanes, good enough to tell texts apart and quick in plain JavaScript. */
function numberOf(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

const VOLATILE: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?/g, "<time>"],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b/g, "<time>"],
  [/\b\d+(?:\.\d+)?\s?(?:ms|milliseconds?|µs|us|ns|s|secs?|seconds?|mins?|minutes?)\b/g, "<time>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b0x[0-9a-f]+\b/gi, "<id>"],
  [/\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b/g, "<id>"],
  [/\/(?:tmp|var\/tmp|private\/var\/folders)\/[^\s'":,)]+/g, "<temp>"],
  [/\bpid[ =:]*\d+/gi, "pid <id>"],
];

const COUNTING_SHELLS: typeof VOLATILE = [
  // A shell that has been fed for hours counts its own lines; those of a file are another matter.
  [/\b((?:ba|da|k|z|a)?sh|eval)(:|\):) ?line \d+:/g, "$1$2 line <n>:"],
  [/\(eval\):\d+:/g, "(eval):<n>:"],
  [/\bline \d{4,}:/g, "line <n>:"],
];

/** The text without what is another at every run. */
export function withoutVolatile(text: string): string {
  // All of them hold a digit or lie in a temporary directory; most short texts do neither, and hooks wait for this.
  if (!/\d|\/(?:tmp|var)\//.test(text)) return text.trim();
  let left = text;
  for (const [pattern, name] of VOLATILE) left = left.replace(pattern, name);
  if (left.includes("line ") || left.includes("eval"))
    for (const [pattern, name] of COUNTING_SHELLS) left = left.replace(pattern, name);
  return left.trim();
}

/** Results with the same hash say the same. */
export function resultHash(text: string): string {
  const half = LONGEST_RESULT / 2;
  return digest(withoutVolatile(text.length > LONGEST_RESULT ? text.slice(0, half) + text.slice(-half) : text));
}

const SAYS_WHAT =
  /error|exception|fail|fatal|not found|no such|cannot|can't|could not|unable|denied|refused|unknown|invalid|missing|unexpected|undefined|must|timed? ?out|already|required|not (?:been|allowed|supported|recognized)/i;
/** What shells and CLIs put before the error itself. */
const PREAMBLE =
  /^(?:(?:error: )?exit code:? \d+|wall time|chunk id|process exited|output:|total output lines|command failed|stdout:|stderr:|original token count)\b.{0,60}$/i;
const HEAD = 160;
/** As much of the line is looked at: some of the patterns below look far ahead, and a dump of one line would cost seconds. */
const LONGEST_LINE = 512;

/** The line of an error that says what is wrong: the first one that does, or the last one of a traceback. */
export function tellingLine(text: string): string {
  const whole = text.slice(0, LONGEST_ARGUMENTS).replace(/<\/?tool_use_error>/g, "");
  const lines = (
    whole === text || text.length <= LONGEST_ARGUMENTS ? whole : `${whole}\n${text.slice(-LONGEST_ARGUMENTS / 4)}`
  )
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /[a-z]{3}/i.test(line) && !PREAMBLE.test(line));
  const traceback = lines.some((line) => line.startsWith("Traceback (most recent call last)"));
  return (traceback ? lines.at(-1) : (lines.find((one) => SAYS_WHAT.test(one)) ?? lines[0])) ?? "";
}

/**
 * The head of an error: the line that says what is wrong, without what it quotes, paths and numbers. Empty when nothing
 * is left of it. So an error that repeats the call is the same one every time.
 */
function errorHead(text: string): string {
  const head = tellingLine(text)
    .slice(0, LONGEST_LINE)
    .replace(/"[^"]*"|`[^`]*`|“[^”]*”|(?<![a-z])'[^']*'/gi, " ")
    .replace(/[^\s:()]*[/\\][^\s:()]*/g, " ")
    .replace(/\d+/g, " ")
    .replace(/[^\p{L}]+/gu, " ")
    .trim()
    .slice(0, HEAD);
  return /\p{L}{3}/u.test(head) ? head : "";
}

const COUNTED =
  /\b(\d{1,6}) (?:tests? |specs? |packages? )?(?:failed|failing|failures?|errors?|problems?)\b|\b(?:failures|errors|failed)\s*[:=]\s*(\d{1,6})/gi;
const SUMMARY = 2 * 1024;

/** How many failures the end of a run counts; undefined when it counts none. */
function countFailures(text: string): number | undefined {
  let count: number | undefined;
  for (const [, before, after] of text.slice(-SUMMARY).matchAll(COUNTED))
    count = Math.max(count ?? 0, Number(before ?? after));
  return count;
}

/** What is kept of a whole result beside its beginning: the head of its error, and how many failures it counts. */
export interface FailureSketch {
  readonly head?: string;
  readonly count?: number;
}

/** Undefined when there is nothing to keep. */
export function failureIn(text: string, ok: boolean, isShell: boolean): FailureSketch | undefined {
  const head = ok ? "" : errorHead(text);
  const count = isShell && /fail|error|problem/i.test(text.slice(-SUMMARY)) ? countFailures(text) : undefined;
  if (head === "" && count === undefined) return undefined;
  return { ...(head === "" ? {} : { head: digest(head) }), ...(count === undefined ? {} : { count }) };
}

/** The sketch of a call's arguments, which are JSON or the beginning of it. */
export function shapeOf(args: string): string {
  const words = withoutVolatile(valuesIn(args.slice(0, LONGEST_ARGUMENTS)))
    .split(/[\s"'`,;:(){}[\]=|&<>\\]+/)
    .filter((word) => word !== "")
    .map((word) => (/^\d+$/.test(word) ? "#" : word));
  return [...new Set(words.map((word) => (numberOf(word) % WORDS).toString(36).padStart(WORD_LENGTH, "0")))]
    .toSorted()
    .slice(0, SKETCH_WORDS)
    .join("");
}

/**
 * Names of fields say nothing about what was asked for; two searches in one place differ only in the pattern. Walked by
 * hand: an expression that skips strings begins again at every quote inside of one.
 */
function valuesIn(args: string): string {
  let kept = "";
  let at = 0;
  while (at < args.length) {
    const open = args.indexOf('"', at);
    if (open < 0) return kept + args.slice(at);
    let close = open + 1;
    while (close < args.length && args[close] !== '"') close += args[close] === "\\" ? 2 : 1;
    let after = close + 1;
    while (args[after] === " " || args[after] === "\n") after += 1;
    const isName = close < args.length && args[after] === ":";
    kept += isName ? `${args.slice(at, open)} ` : args.slice(at, after);
    at = isName ? after + 1 : after;
  }
  return kept;
}

/** From 0 (nothing in common) to 1 (the same words). */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  const ours = wordsOf(one);
  const theirs = new Set(wordsOf(other));
  const union = new Set([...ours, ...theirs]);
  // Sketches hold the smallest words of each: only as many of the union can be compared fairly.
  const compared = [...union].toSorted().slice(0, SKETCH_WORDS);
  const mine = new Set(ours);
  const shared = compared.filter((word) => mine.has(word) && theirs.has(word)).length;
  return compared.length === 0 ? 1 : shared / compared.length;
}

export function isSimilar(one: string, other: string): boolean {
  return similarity(one, other) >= SIMILAR;
}

function wordsOf(shape: string): string[] {
  return Array.from({ length: shape.length / WORD_LENGTH }, (_, at) =>
    shape.slice(at * WORD_LENGTH, (at + 1) * WORD_LENGTH),
  );
}

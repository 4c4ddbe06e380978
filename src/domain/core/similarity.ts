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

/** The text without what is another at every run. */
export function withoutVolatile(text: string): string {
  // All of them hold a digit or lie in a temporary directory; most short texts do neither, and hooks wait for this.
  if (!/\d|\/(?:tmp|var)\//.test(text)) return text.trim();
  let left = text;
  for (const [pattern, name] of VOLATILE) left = left.replace(pattern, name);
  return left.trim();
}

/** Results with the same hash say the same. */
export function resultHash(text: string): string {
  const half = LONGEST_RESULT / 2;
  return digest(withoutVolatile(text.length > LONGEST_RESULT ? text.slice(0, half) + text.slice(-half) : text));
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

/** Names of fields say nothing about what was asked for; two searches in one place differ only in the pattern. */
function valuesIn(args: string): string {
  return args.replace(/"(?:[^"\\]|\\.)*"\s*:/g, " ");
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

/**
 * Ids that follow from what they stand for. A rule that is asked twice about the same thing must name it the same both
 * times, and the domain has no source of chance; so the id of a dispatch or a message is computed from the words that
 * decided it. Same shape as the ids that are drawn: a prefix and ten signs of Crockford's base32.
 */
const SIGNS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function deriveId(prefix: string, ...of: readonly (string | number)[]): string {
  const text = of.join("\u0000");
  let left = hash(text, 0x2545f491);
  let right = hash(text, 0x9e3779b9);
  let signs = "";
  for (let index = 0; index < 5; index += 1) {
    signs += SIGNS.charAt(left & 31) + SIGNS.charAt(right & 31);
    left >>>= 5;
    right >>>= 5;
  }
  return prefix + signs;
}

/** The same as so many hexadecimal signs (up to 32), for ids whose shape others prescribe; never all zeros. */
export function deriveHex(signs: number, ...of: readonly (string | number)[]): string {
  const text = of.join("\u0000");
  const words = HEX_SEEDS.map((seed) => hash(text, seed).toString(16).padStart(8, "0"));
  return `1${words.join("").slice(1)}`.slice(0, signs);
}

const HEX_SEEDS = [0x2545f491, 0x9e3779b9, 0x85ebca77, 0x27d4eb2f];

/** A short name for a text, to notice the same one again. */
export function textHash(text: string): string {
  return (hash(text, 0) * 2 ** 20 + (hash(text, 1) >>> 12)).toString(36);
}

/** 32 bits, well spread (MurmurHash3's finish over a multiplicative walk). */
function hash(text: string, seed: number): number {
  let sum = seed ^ text.length;
  for (let index = 0; index < text.length; index += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(index), 0x5bd1e995);
    sum ^= sum >>> 15;
  }
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b);
  sum = Math.imul(sum ^ (sum >>> 13), 0xc2b2ae35);
  return (sum ^ (sum >>> 16)) >>> 0;
}

/**
 * When Claude Code replaces its context by a summary, by itself: when less than a reserve is left of the window. Versions
 * before 2.1.21 set the most a model may answer aside, 32,000 tokens of it, and later ones 20,000; both keep 13,000 more.
 * So a window of 200,000 is replaced at 77.5 % or at 83.5 % of it, as their /context says and transcripts show. Wider
 * windows are divided by rules of their own; there, what was seen once tells (domain/signals/pulse.ts).
 */

const OLDER_RESERVE = 45_000;
const RESERVE = 33_000;
const CHANGED_IN = [2, 1, 21] as const;

/** Nothing where the version is not said. */
export function reserveOf(version: string): { readonly compactReserve?: number } {
  const numbers = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  if (!numbers) return {};
  const differs = CHANGED_IN.findIndex((number, at) => number !== numbers[at]);
  const isOlder = differs >= 0 && (numbers[differs] ?? 0) < (CHANGED_IN[differs] ?? 0);
  return { compactReserve: isOlder ? OLDER_RESERVE : RESERVE };
}

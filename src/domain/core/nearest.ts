/**
 * "Did you mean …?": which known name a mistyped word most likely stands for. Distance is Damerau-Levenshtein
 * (insert, delete, replace, swap two neighbours), after capitals, dashes and underscores are forgotten, so that
 * `task_pool_command` finds `taskPoolCommand`. It rather says nothing than something far-fetched: a wrong guess
 * costs the reader more than no guess.
 */

/** Longer words are nobody's typing mistake, and comparing them would cost more than the answer is worth. */
const LONGEST_WORD = 64;

/** The candidate closest to the word, the earlier of two equally close ones; undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = plainOf(word);
  if (plain === "" || word.length > LONGEST_WORD) return undefined;
  let best: string | undefined;
  let bestDistance = countAllowedMistakes(plain.length) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(plain, plainOf(candidate));
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best ?? onlyContinuation(plain, candidates);
}

/** One mistake in a short word, up to three in a long one. */
function countAllowedMistakes(length: number): number {
  return Math.min(3, Math.max(1, Math.floor(length / 3)));
}

/** A beginning of three letters or more that only one candidate has: the rest was left off. */
function onlyContinuation(plain: string, candidates: readonly string[]): string | undefined {
  if (plain.length < 3) return undefined;
  const continuing = candidates.filter((candidate) => plainOf(candidate).startsWith(plain));
  return continuing.length === 1 ? continuing[0] : undefined;
}

function plainOf(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, "");
}

/** Optimal string alignment: rows of the usual table, of which a swap needs the last two. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}

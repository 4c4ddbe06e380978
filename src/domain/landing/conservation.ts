/**
 * Whether a resolved conflict keeps what both sides wrote. Every line that a side has added stands in the result, or is
 * listed as superseded with a reason; a side of which nothing is left has been dropped, whatever reasons are given.
 * Pure, and about lines only: whether the result works is for the gate to say.
 */

export interface Sides {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export interface Superseded {
  readonly side: "ours" | "theirs";
  readonly line: string;
  readonly reason: string;
}

const MARKER = /^(?:<{7}|>{7}|\|{7})(?: |$)|^={7}$/;

/** What is wrong with it, each as a sentence; nothing when both sides survive. */
export function conservationProblems(
  sides: Sides,
  result: string,
  superseded: readonly Superseded[] = [],
): readonly string[] {
  const problems: string[] = [];
  if (marksMore(sides, result)) problems.push("The result holds conflict markers.");
  const kept = countLines(linesOf(result));
  for (const side of ["ours", "theirs"] as const) {
    const added = findAddedLines(sides.base, sides[side]);
    const missing = added.filter((line) => !kept.has(line));
    if (added.length > 0 && missing.length === added.length) {
      problems.push(`Nothing of what ${NAMES[side]} added is left.`);
      continue;
    }
    const excused = new Set(superseded.filter((one) => one.side === side && one.reason.trim() !== "").map(lineOf));
    for (const line of missing.filter((one) => !excused.has(one)).slice(0, 20)) {
      problems.push(`A line that ${NAMES[side]} added is missing, and no reason is given: ${line.slice(0, 200)}`);
    }
  }
  return problems;
}

/**
 * The same about a conflict that its author resolved by hand, who gives no list of reasons: of each side something is
 * left, and no markers are. Here a line also lives on in one that has all of its words, because two that changed the
 * same line have to be written as one.
 */
export function bothSidesLive(sides: Sides, result: string): boolean {
  if (marksMore(sides, result)) return false;
  const kept = linesOf(result);
  const words = kept.map((line) => new Set(wordsOf(line)));
  const lives = (line: string) =>
    kept.includes(line) ||
    (wordsOf(line).length > 0 && words.some((set) => wordsOf(line).every((one) => set.has(one))));
  return (["ours", "theirs"] as const).every((side) => {
    const added = findAddedLines(sides.base, sides[side]);
    return added.length === 0 || added.some(lives);
  });
}

/** What a file is at each point, by an id of its content; undefined where there is none. */
export interface Versions {
  readonly base: string | undefined;
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
  readonly result: string | undefined;
}

/**
 * The same about what has no lines to compare, an image, a link, a submodule: a side that changed it is gone where the
 * result is simply the other side, or nothing at all. Something third may hold both; that is for the gate to say.
 */
export function bothVersionsLive({ base, ours, theirs, result }: Versions): boolean {
  const lives = (side: string | undefined, other: string | undefined) =>
    side === undefined || side === base || side === result || (result !== undefined && result !== other);
  return lives(ours, theirs) && lives(theirs, ours);
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function marksMore(sides: Sides, result: string): boolean {
  const count = (text: string) => linesOf(text).filter(isMarker).length;
  return count(result) > Math.max(count(sides.ours), count(sides.theirs));
}

const NAMES = { ours: "the target branch", theirs: "the other branch" } as const;

function isMarker(line: string): boolean {
  return MARKER.test(line);
}

function lineOf({ line }: Superseded): string {
  return line.trim();
}

/** Lines that the side has more often than the base, without those that say nothing by themselves. */
function findAddedLines(base: string, side: string): string[] {
  const before = countLines(linesOf(base));
  const added: string[] = [];
  for (const [line, count] of countLines(linesOf(side))) if (count > (before.get(line) ?? 0)) added.push(line);
  const telling = added.filter((line) => /[\p{L}\p{N}]/u.test(line));
  return telling.length > 0 ? telling : added;
}

function countLines(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) if (line !== "") counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}

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
  const markers = linesOf(result).filter((line) => MARKER.test(line)).length;
  const before = Math.max(...[sides.ours, sides.theirs].map((text) => linesOf(text).filter(isMarker).length));
  if (markers > before) problems.push("The result holds conflict markers.");
  const kept = counted(linesOf(result));
  for (const side of ["ours", "theirs"] as const) {
    const added = addedLines(sides.base, sides[side]);
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

const NAMES = { ours: "the target branch", theirs: "the other branch" } as const;

function isMarker(line: string): boolean {
  return MARKER.test(line);
}

function lineOf({ line }: Superseded): string {
  return line.trim();
}

/** Lines that the side has more often than the base, without those that say nothing by themselves. */
function addedLines(base: string, side: string): string[] {
  const before = counted(linesOf(base));
  const added: string[] = [];
  for (const [line, count] of counted(linesOf(side))) if (count > (before.get(line) ?? 0)) added.push(line);
  const telling = added.filter((line) => /[\p{L}\p{N}]/u.test(line));
  return telling.length > 0 ? telling : added;
}

function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) if (line !== "") counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function linesOf(text: string): string[] {
  return text.split("\n").map((line) => line.trim());
}

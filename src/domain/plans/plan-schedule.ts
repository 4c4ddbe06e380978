/**
 * How long a plan takes with so many places for agents, and how many are at work at once at most: played through as dispatch
 * does it, in the order of the plan, pieces with files in common one by one. It knows nothing of what goes wrong on the way.
 */
import { overlap } from "#domain/core/scope.ts";
import { countWaits, type LengthUnit, type TimeOfPiece, unknownTime, weighPieces } from "./critical-path.ts";
import { graphPieces, type PlanPart } from "./plan-pieces.ts";

export interface PlanSchedule {
  /** The time it takes; in tasks it is the number of rounds. */
  readonly length: number;
  readonly unit: LengthUnit;
  /** At work at once at most. */
  readonly peak: number;
}

export function schedulePlan(
  parts: readonly PlanPart[],
  places: number,
  timeOf: TimeOfPiece = unknownTime,
): PlanSchedule {
  const { pieces, begins, followers } = graphPieces(parts);
  const { unit, weights } = weighPieces(pieces, timeOf);
  const files = pieces.map(({ definition }) => definition.hints.files ?? []);
  const pieceAt = new Map(begins.map((begin, index) => [begin, index]));
  const waits = countWaits(followers, begins);
  const reached = new Uint8Array(followers.length);
  const ready: number[] = [];
  let running: { readonly piece: number; readonly until: number }[] = [];
  let [now, peak, next] = [0, 0, 0];

  const reach = (first: number): void => {
    const open = [first];
    for (let vertex = open.pop(); vertex !== undefined; vertex = open.pop()) {
      if (reached[vertex] === 1) continue;
      reached[vertex] = 1;
      const piece = pieceAt.get(vertex);
      if (piece !== undefined) ready.push(piece);
      for (const follower of followers[vertex] ?? []) if (isFree(follower)) open.push(follower);
    }
  };
  const isFree = (vertex: number): boolean => {
    waits[vertex] = (waits[vertex] ?? 0) - 1;
    return waits[vertex] === 0;
  };

  for (const [vertex, count] of [...waits].entries()) if (count === 0) reach(vertex);
  for (;;) {
    ready.sort((a, b) => a - b);
    for (const piece of [...ready]) {
      if (running.length >= places) break;
      if (running.some((one) => shareFiles(files[one.piece] ?? [], files[piece] ?? []))) continue;
      ready.splice(ready.indexOf(piece), 1);
      running.push({ piece, until: now + (weights[piece] ?? 0) });
    }
    peak = Math.max(peak, running.length);
    if (running.length === 0) {
      // Only what waits crosswise for parts of each other is left, if anything.
      while (reached[next] === 1) next += 1;
      if (next >= followers.length) return { length: now, peak, unit };
      reach(next);
      continue;
    }
    now = Math.min(...running.map(({ until }) => until));
    const ended = running.filter(({ until }) => until === now);
    running = running.filter(({ until }) => until !== now);
    for (const { piece } of ended) {
      const end = (begins[piece] ?? 0) + 1;
      if (isFree(end)) reach(end);
    }
  }
}

function shareFiles(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return false;
  return one.some((file) => other.includes(file)) || overlap(one, other) !== undefined;
}

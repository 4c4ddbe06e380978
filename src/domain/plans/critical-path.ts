/**
 * The longest chain of a plan: pieces of work each of which waits for the one before, so that no number of agents makes the
 * plan shorter than this. By time where the time of every piece is known, else by their number.
 */
import { graphPieces, type PlanPart } from "./plan-pieces.ts";

/** How long a piece takes; undefined where nobody knows. */
export type TimeOfPiece = (id: string) => number | undefined;

/** What a length is counted in. */
export type LengthUnit = "ms" | "tasks";

export interface CriticalPath {
  readonly path: readonly string[];
  readonly length: number;
  readonly unit: LengthUnit;
}

export const unknownTime: TimeOfPiece = () => undefined;

/** The time of all, or one for each. */
export function weighPieces(
  pieces: readonly PlanPart[],
  timeOf: TimeOfPiece,
): { readonly unit: LengthUnit; readonly weights: readonly number[] } {
  const times = pieces.flatMap(({ id }) => timeOf(id) ?? []);
  const isKnown = times.length === pieces.length && times.length > 0;
  return isKnown ? { unit: "ms", weights: times } : { unit: "tasks", weights: pieces.map(() => 1) };
}

export function findCriticalPath(parts: readonly PlanPart[], timeOf: TimeOfPiece = unknownTime): CriticalPath {
  const { pieces, begins, followers } = graphPieces(parts);
  const { unit, weights } = weighPieces(pieces, timeOf);
  const pieceAt = new Map(begins.map((begin, index) => [begin, index]));
  const length = followers.map(() => 0);
  const before = followers.map(() => -1);
  const waits = countWaits(followers, begins);
  const reached = new Uint8Array(followers.length);
  const open = followers.flatMap((_, vertex) => (waits[vertex] === 0 ? [vertex] : [])).reverse();
  let next = 0;
  const pass = (from: number, to: number, weight: number) => {
    if (reached[to] === 1) return;
    const way = (length[from] ?? 0) + weight;
    const longest = length[to] ?? 0;
    // Of two that are as long, the one that stands first in the plan.
    if (way > longest || (way === longest && from < (before[to] ?? -1))) {
      length[to] = way;
      before[to] = from;
    }
    waits[to] = (waits[to] ?? 0) - 1;
    if (waits[to] === 0) open.push(to);
  };
  while (next < followers.length) {
    const vertex = open.pop() ?? next;
    // Only what waits crosswise for parts of each other is taken before its turn.
    if (vertex === next) next += 1;
    if (reached[vertex] === 1) continue;
    reached[vertex] = 1;
    const piece = pieceAt.get(vertex);
    if (piece !== undefined) pass(vertex, vertex + 1, weights[piece] ?? 0);
    for (const follower of followers[vertex] ?? []) pass(vertex, follower, 0);
  }
  const path: string[] = [];
  let longest = 0;
  for (const [vertex, way] of length.entries()) if (way > (length[longest] ?? 0)) longest = vertex;
  for (let at = longest; at >= 0; at = before[at] ?? -1) {
    const from = before[at] ?? -1;
    const piece = from === at - 1 ? pieceAt.get(from) : undefined;
    const id = piece === undefined ? undefined : pieces[piece]?.id;
    if (id !== undefined) path.push(id);
  }
  return { path: path.reverse(), length: length[longest] ?? 0, unit };
}

/** How many lead to each vertex. */
export function countWaits(followers: readonly (readonly number[])[], begins: readonly number[]): number[] {
  const waits = followers.map(() => 0);
  for (const to of followers.flat()) waits[to] = (waits[to] ?? 0) + 1;
  for (const begin of begins) waits[begin + 1] = (waits[begin + 1] ?? 0) + 1;
  return waits;
}

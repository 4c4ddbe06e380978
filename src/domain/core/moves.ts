/**
 * One table per state machine, one way to read it. The rules ask `mayMove` before they decide, the store asks
 * `illegalMove` again before it writes, and the tests walk the same tables.
 */
export type Moves<S extends string> = Readonly<Record<S, readonly S[]>>;

export function mayMove<S extends string>(moves: Moves<S>, from: S, to: S): boolean {
  return moves[from].includes(to);
}

/** The shortest legal way from one state to another, without the start; undefined when there is none. */
export function pathOfMoves<S extends string>(moves: Moves<S>, from: S, to: S): readonly S[] | undefined {
  const queue: S[][] = [[from]];
  const seen = new Set<S>([from]);
  for (let path = queue.shift(); path; path = queue.shift()) {
    const last = path[path.length - 1];
    if (last === undefined) continue;
    for (const next of moves[last]) {
      if (next === to) return [...path.slice(1), next];
      if (!seen.has(next)) {
        seen.add(next);
        queue.push([...path, next]);
      }
    }
  }
  return undefined;
}

/** States nothing leaves any more. */
export function isFinal<S extends string>(moves: Moves<S>, state: S): boolean {
  return moves[state].length === 0;
}

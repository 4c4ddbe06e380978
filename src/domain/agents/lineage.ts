/** Who put whom to work: agents that still live under one that has ended need what it leaves behind. */
import { type Attempt, isLiving } from "#domain/model/attempt.ts";

/** Those that live and were put to work by one of these attempts, themselves or by others in between. */
export function livingDescendants(of: ReadonlySet<number>, all: readonly Attempt[]): Attempt[] {
  const byNumber = new Map(all.map((one) => [one.attempt, one]));
  const isBelow = (one: Attempt): boolean => {
    const seen = new Set<number>();
    for (let at = one.parent?.attempt; at !== undefined && !seen.has(at); at = byNumber.get(at)?.parent?.attempt) {
      if (of.has(at)) return true;
      seen.add(at);
    }
    return false;
  };
  return all.filter((one) => isLiving(one) && isBelow(one));
}

/**
 * The highest number any attempt ever had, told from the traces attempts leave. After an older log came back, numbers
 * continue above it: a number is identity, and whatever still carries one must never meet another attempt of that name.
 */

/** What was found, kind by kind. */
export interface Traces {
  /** Known by number: from logs and copies of it, directories of attempts, marks of processes. */
  readonly numbers: readonly number[];
  /** Names that end in the number of their attempt: worktrees (`builder-1-47`) and logs (`…-47`). */
  readonly names: readonly string[];
  /** Branches; most end in a number only from an agent's second attempt at a node on, and a node may be named so too. */
  readonly branches: readonly string[];
}

/** So far above everything certain a branch's number is believed; beyond it is part of a name, such as a year. */
const BELIEVED_ABOVE = 1_000;

export function highestAttempt({ numbers, names, branches }: Traces): number {
  const certain = Math.max(0, ...numbers.filter(isNumber), ...names.map(endOf).filter(isNumber));
  return Math.max(certain, ...branches.map(endOf).filter((one) => isNumber(one) && one <= certain + BELIEVED_ABOVE));
}

function endOf(name: string): number {
  return Number(/-(\d{1,9})$/.exec(name)?.[1] ?? Number.NaN);
}

function isNumber(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

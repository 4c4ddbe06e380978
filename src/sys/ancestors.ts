/**
 * The processes above this one, read from /proc: who started us, and who started them. Linux alone; elsewhere nobody is
 * above us. What has ended meanwhile, or belongs to another user, says nothing.
 */
import { procTable, readArguments } from "./process-table-proc.ts";

/** Deeper than any shell in a shell; a loop in what was read ends here. */
const MOST = 64;

/** The first value of one of these variables among the processes above, nearest first, that `accept` takes. */
export function findAbove<T>(
  names: readonly string[],
  accept: (name: string, value: string) => T | undefined,
  start = process.ppid,
): T | undefined {
  for (const pid of above(start)) {
    for (const pair of procTable().environment(pid) ?? []) {
      const equals = pair.indexOf("=");
      const name = pair.slice(0, equals);
      const found = names.includes(name) ? accept(name, pair.slice(equals + 1)) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Whether one of the processes above was called with such words. */
export function isCalledAbove(accept: (words: readonly string[]) => boolean, start = process.ppid): boolean {
  for (const pid of above(start)) if (accept(readArguments(pid))) return true;
  return false;
}

function* above(start: number): Generator<number> {
  if (process.platform !== "linux") return;
  const table = procTable();
  let pid: number | undefined = start;
  for (let step = 0; pid !== undefined && pid > 1 && step < MOST; step += 1) {
    yield pid;
    pid = table.find(pid)?.parent;
  }
}

/**
 * The processes above this one, read from /proc: who started us, and who started them. Linux alone; elsewhere nobody is
 * above us. What has ended meanwhile, or belongs to another user, says nothing.
 */
import { procTable } from "./process-table-proc.ts";

/** Deeper than any shell in a shell; a loop in what was read ends here. */
const MOST = 64;

/** The first value of one of these variables among the processes above, nearest first, that `wanted` takes. */
export function findAbove<T>(
  names: readonly string[],
  wanted: (name: string, value: string) => T | undefined,
  start = process.ppid,
): T | undefined {
  if (process.platform !== "linux") return undefined;
  const table = procTable();
  let pid: number | undefined = start;
  for (let step = 0; pid !== undefined && pid > 1 && step < MOST; step += 1) {
    for (const pair of table.environment(pid) ?? []) {
      const equals = pair.indexOf("=");
      const name = pair.slice(0, equals);
      const found = names.includes(name) ? wanted(name, pair.slice(equals + 1)) : undefined;
      if (found !== undefined) return found;
    }
    pid = table.find(pid)?.parent;
  }
  return undefined;
}

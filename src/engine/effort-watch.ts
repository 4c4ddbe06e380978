/**
 * What the processes of agents do to the machine: whether they are held by a signal, and how long those below each CLI
 * have neither computed nor read or written. It remembers between looks, by a clock that never jumps; what it meets for
 * the first time it cannot judge yet, and where the system does not tell it says nothing.
 */
import type { ProcessMark } from "#domain/model/attempt.ts";
import type { Processes, ProcessFacts } from "#sys/processes.ts";

interface Met {
  readonly pids: string;
  readonly processorTicks: number;
  readonly bytes: number;
  readonly since: number;
  readonly lookedAt: number;
}

/** Below this share of the time between two looks a process that only waits is not at work: timers tick. */
const AT_WORK = 0.002;
const TICKS_PER_MS = 0.1;

export class EffortWatch {
  private readonly met = new Map<string, Met>();
  private table: readonly ProcessFacts[] = [];

  constructor(private readonly processes: Processes) {}

  /** Looks at everybody's processes once; what is asked afterwards is answered from that. */
  look(): void {
    this.table = this.processes.list();
  }

  isStopped({ pid, start }: ProcessMark): boolean {
    return this.table.some((one) => one.pid === pid && one.start === start && one.stopped === true);
  }

  /** How long those below `root`, or with it, did nothing; null when that is not known. */
  measureStill(key: string, root: ProcessMark, withRoot: boolean, now: number): number | null {
    const pids = this.listBelow(root.pid);
    const efforts = (withRoot ? [root.pid, ...pids] : pids).map((pid) => this.processes.effort(pid));
    if (this.processes.effort(root.pid) === undefined) return null;
    const seen = {
      pids: pids.join(" "),
      processorTicks: efforts.reduce((sum, one) => sum + (one?.processorTicks ?? 0), 0),
      bytes: efforts.reduce((sum, one) => sum + (one?.bytes ?? 0), 0),
    };
    const known = this.met.get(key);
    const moved = known === undefined || isAtWork(known, seen, now - known.lookedAt);
    const since = known === undefined || moved ? now : known.since;
    this.met.set(key, { ...seen, since, lookedAt: now });
    return known === undefined ? null : now - since;
  }

  /** Nothing of the time in which nobody looked counts. */
  forgetTime(now: number): void {
    for (const [key, known] of this.met) this.met.set(key, { ...known, since: now, lookedAt: now });
  }

  /** Keeps only those that are looked at. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.met.keys()) if (!keys.has(key)) this.met.delete(key);
  }

  private listBelow(root: number): number[] {
    const below = new Set([root]);
    for (let before = 0; before !== below.size; ) {
      before = below.size;
      for (const { pid, parent, zombie } of this.table) if (below.has(parent) && !zombie) below.add(pid);
    }
    below.delete(root);
    return [...below].sort((a, b) => a - b);
  }
}

function isAtWork(before: Met, now: Pick<Met, "pids" | "processorTicks" | "bytes">, elapsedMs: number): boolean {
  if (before.pids !== now.pids || now.bytes > before.bytes) return true;
  return now.processorTicks - before.processorTicks > elapsedMs * TICKS_PER_MS * AT_WORK;
}

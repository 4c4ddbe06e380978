/**
 * How a row is measured: work and floor in one run, turn about, so that whatever else the machine does falls on both.
 * What counts is CPU time unless the row says otherwise, and the median of the turns.
 */
export interface Options {
  readonly quick: boolean;
  /** A directory of its own, removed at the end. */
  readonly scratch: string;
  /** By `performance.now()`: no new turn begins after it. */
  readonly until: number;
  /** Done when the row has ended, however it ended; last first. */
  atEnd(undo: () => unknown): void;
}

/** Work against floor. */
export interface Turns {
  /** Medians, in ms. */
  readonly workMs: number;
  readonly floorMs: number;
  readonly turns: number;
  /** What else is worth knowing. */
  readonly note?: string;
}

/** A number in the unit of the row's aim. */
export interface Figure {
  readonly value: number;
  readonly turns: number;
  readonly note?: string;
}

/** There is nothing to measure, and why. */
export interface Absent {
  readonly absent: string;
}

export type Measured = Turns | Figure | Absent;
export type Measure = (options: Options) => Promise<Measured>;

/** Both, turn about, after one unmeasured turn of each; as many as there is time for, and one at least. */
export async function turnAbout(
  { turns, until }: { readonly turns: number; readonly until: number },
  work: () => number | Promise<number>,
  floor: () => number | Promise<number>,
): Promise<Turns> {
  await floor();
  await work();
  const costs: { work: number; floor: number }[] = [];
  for (let turn = 0; turn < turns && (turn === 0 || performance.now() < until); turn += 1) {
    // Who goes first changes, because the second finds warmer caches.
    if (turn % 2 === 0) costs.push({ floor: await floor(), work: await work() });
    else costs.push({ work: await work(), floor: await floor() });
  }
  return {
    workMs: median(costs.map((cost) => cost.work)),
    floorMs: median(costs.map((cost) => cost.floor)),
    turns: costs.length,
    ...(costs.length < turns ? { note: `time for ${costs.length} of ${turns} turns` } : {}),
  };
}

/** The same with a remark beside what it says already. */
export function remarked(turns: Turns, note: string): Turns {
  return { ...turns, note: [turns.note, note].filter(Boolean).join(", ") };
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

/** CPU time of a command, its children included, in ms. Throws when it fails. */
export function cpuOf(argv: readonly string[], cwd: string): number {
  const done = Bun.spawnSync([...argv], { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  if (done.exitCode !== 0) throw new Error(`${argv.join(" ")} ended with ${done.exitCode}: ${done.stderr}`);
  return Number(done.resourceUsage.cpuTime.total) / 1000;
}

/** CPU time of this process while it does something, in ms. */
export async function cpuOfThis(work: () => unknown): Promise<number> {
  Bun.gc(true);
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

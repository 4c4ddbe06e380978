/**
 * What a row of the speed table is: some work, a floor to hold it against, and how many times the floor it may cost.
 * Work and floor are measured in one run, turn about, so that whatever else the machine does falls on both; what counts
 * is CPU time, and the median of the turns.
 */
export interface Row {
  readonly name: string;
  readonly work: string;
  readonly floor: string;
  /** The most it may cost, as a multiple of the floor. */
  readonly aim: number;
  measure(options: { readonly quick: boolean; readonly scratch: string }): Promise<Measured>;
}

export interface Measured {
  /** CPU milliseconds, medians. */
  readonly workMs: number;
  readonly floorMs: number;
  readonly turns: number;
  /** What else is worth knowing. */
  readonly note?: string;
}

/** Both, turn about, after one unmeasured turn of each. */
export async function turnAbout(
  turns: number,
  work: () => number | Promise<number>,
  floor: () => number | Promise<number>,
): Promise<Measured> {
  await floor();
  await work();
  const costs: { work: number; floor: number }[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    // Who goes first changes, because the second finds warmer caches.
    if (turn % 2 === 0) costs.push({ floor: await floor(), work: await work() });
    else costs.push({ work: await work(), floor: await floor() });
  }
  return {
    workMs: median(costs.map((cost) => cost.work)),
    floorMs: median(costs.map((cost) => cost.floor)),
    turns,
  };
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

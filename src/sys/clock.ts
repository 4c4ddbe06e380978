/**
 * Time as a port. `now` is the wall clock, for people and for the log; `monotonic` only ever grows, is shared by all
 * processes of this boot, and is what freshness is measured with: wall clocks jump, laptops sleep.
 */
export interface Clock {
  /** Wall clock, integer milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since boot, the same for every process of the machine. Never goes back within one boot. */
  monotonic(): number;
  /** Which boot of which machine that is: numbers of another one cannot be compared with it. */
  boot(): string;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function systemClock(): Clock {
  return { now: () => Date.now(), monotonic: millisecondsSinceBoot, boot: nameOfBoot, sleep };
}

let bootName: string | undefined;

/** The kernel's own name for it; where it has none, the machine and the minute in which it was started, as far as that is known. */
function nameOfBoot(): string {
  bootName ??= readBootId() ?? `${hostName()}:${Math.round((Date.now() - millisecondsSinceBoot()) / 60_000)}`;
  return bootName;
}

function readBootId(): string | undefined {
  const fs: typeof import("node:fs") = require("node:fs");
  try {
    return fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return undefined;
  }
}

function hostName(): string {
  const os: typeof import("node:os") = require("node:os");
  return os.hostname();
}

/** setTimeout takes a signed 32-bit number and fires at once beyond it, so longer sleeps are taken in stages. */
const LONGEST_TIMER_MS = 2_147_483_647;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let left = ms;
  do {
    if (signal?.aborted) return;
    await oneTimer(Math.max(0, Math.min(left, LONGEST_TIMER_MS)), signal);
    left -= LONGEST_TIMER_MS;
  } while (left > 0);
}

function oneTimer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

/**
 * Every clock of the runtime starts with its process, so the kernel is asked. The direct call costs a tenth of the
 * start of Bun, reading /proc/uptime through node:fs almost half; both read the same clock, so it does not matter
 * which one a process ended up with. Nothing is loaded before the first question.
 */
let bootClock: (() => number) | undefined;

function millisecondsSinceBoot(): number {
  bootClock ??= kernelClock() ?? uptimeClock();
  return bootClock();
}

/** CLOCK_BOOTTIME on Linux; on macOS its CLOCK_MONOTONIC, which likewise counts the time asleep. */
const KERNEL_CLOCKS: Readonly<Record<string, { library: string; clock: number }>> = {
  linux: { library: "libc.so.6", clock: 7 },
  darwin: { library: "libSystem.B.dylib", clock: 6 },
};

/** Undefined where the C library has another name (musl) or foreign calls are not allowed. */
function kernelClock(): (() => number) | undefined {
  const choice = KERNEL_CLOCKS[process.platform];
  if (choice === undefined) return undefined;
  const signature = { clock_gettime: { args: ["i32", "ptr"], returns: "i32" } } as const;
  let library: { symbols: { clock_gettime: (clock: number, timespec: BigInt64Array) => number } };
  try {
    const ffi: typeof import("bun:ffi") = require("bun:ffi");
    library = ffi.dlopen(choice.library, signature);
  } catch {
    return undefined;
  }
  const timespec = new BigInt64Array(2);
  const read = () => {
    if (library.symbols.clock_gettime(choice.clock, timespec) !== 0) return Number.NaN;
    return Number(timespec[0]) * 1000 + Math.floor(Number(timespec[1]) / 1_000_000);
  };
  return Number.isNaN(read()) ? undefined : read;
}

function uptimeClock(): () => number {
  if (process.platform !== "linux") {
    const os: typeof import("node:os") = require("node:os");
    return () => Math.floor(os.uptime() * 1000);
  }
  const fs: typeof import("node:fs") = require("node:fs");
  return () => Math.round(Number.parseFloat(fs.readFileSync("/proc/uptime", "utf8")) * 1000);
}

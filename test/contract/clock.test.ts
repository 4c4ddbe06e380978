/** What every clock promises, asked of the real one and of the virtual one; then what only the virtual one can do. */
import { describe, expect, test } from "bun:test";
import { type Clock, systemClock } from "#sys/clock.ts";
import { type VirtualClock, virtualClock } from "#sys/virtual-clock.ts";

interface Subject {
  readonly name: string;
  readonly clock: Clock;
  /** Lets at least `ms` pass on that clock. */
  readonly pass: (ms: number) => Promise<void>;
}

const virtual = virtualClock({ now: 1_700_000_000_000, monotonic: 5_000 });
const subjects: Subject[] = [
  { name: "system", clock: systemClock(), pass: (ms) => Bun.sleep(ms) },
  { name: "virtual", clock: virtual, pass: (ms) => virtual.advance(ms) },
];

describe.each(subjects)("clock: $name", ({ clock, pass }) => {
  test("both readings are whole milliseconds", () => {
    expect(Number.isSafeInteger(clock.now())).toBe(true);
    expect(Number.isSafeInteger(clock.monotonic())).toBe(true);
    expect(clock.monotonic()).toBeGreaterThan(0);
  });

  test("the boot clock never goes back and moves with time", async () => {
    const before = clock.monotonic();
    await pass(30);
    const after = clock.monotonic();
    expect(after - before).toBeGreaterThanOrEqual(20);
    expect(clock.monotonic()).toBeGreaterThanOrEqual(after);
  });

  test("a sleeper wakes after its time, not before", async () => {
    const before = clock.monotonic();
    const sleeper = clock.sleep(40).then(() => clock.monotonic() - before);
    await pass(50);
    // Where the boot clock is read from /proc/uptime it ticks in hundredths of a second.
    expect(await sleeper).toBeGreaterThanOrEqual(30);
  });

  test("sleeping for no time, or less, ends by itself", async () => {
    const sleepers = Promise.all([clock.sleep(0), clock.sleep(-5)]);
    await pass(1);
    expect(await sleepers).toHaveLength(2);
  });

  test("an aborted sleep resolves at once", async () => {
    const abort = new AbortController();
    const sleeper = clock.sleep(3_600_000, abort.signal);
    abort.abort();
    expect(await sleeper).toBeUndefined();
    expect(await clock.sleep(3_600_000, abort.signal)).toBeUndefined();
  });

  test("a sleep longer than a timer can count does not end early", async () => {
    const abort = new AbortController();
    let awake = false;
    const sleeper = clock.sleep(2 ** 33, abort.signal).then(() => {
      awake = true;
    });
    await pass(40);
    expect(awake).toBe(false);
    abort.abort();
    await sleeper;
  });
});

describe("the system's boot clock", () => {
  test("EDGE-10: is the same in another process, which just started", async () => {
    const clock = systemClock();
    const module = new URL("../../src/sys/clock.ts", import.meta.url).pathname;
    const code = `import { systemClock } from ${JSON.stringify(module)}; console.log(systemClock().monotonic())`;
    const before = clock.monotonic();
    const child = Bun.spawnSync([process.execPath, "-e", code]);
    const theirs = Number(child.stdout.toString());
    expect(theirs).toBeGreaterThanOrEqual(before);
    expect(theirs).toBeLessThanOrEqual(clock.monotonic());
  });

  test.skipIf(process.platform !== "linux")("is what the kernel says in /proc/uptime", async () => {
    const clock = systemClock();
    const before = clock.monotonic();
    const uptime = Number.parseFloat(await Bun.file("/proc/uptime").text()) * 1000;
    // The file has hundredths of a second.
    expect(uptime).toBeGreaterThanOrEqual(before - 10);
    expect(uptime).toBeLessThanOrEqual(clock.monotonic() + 10);
  });
});

describe("the virtual clock", () => {
  test("sleepers wake in the order of their due times, each seeing its own time", async () => {
    const clock = virtualClock();
    const woken: [string, number][] = [];
    const sleepers = [30, 10, 20, 10].map((ms, index) =>
      clock.sleep(ms).then(() => woken.push([`${ms}/${index}`, clock.monotonic()])),
    );
    await clock.advance(100);
    await Promise.all(sleepers);
    expect(woken).toEqual([
      ["10/1", 10],
      ["10/3", 10],
      ["20/2", 20],
      ["30/0", 30],
    ]);
    expect(clock.monotonic()).toBe(100);
    expect(clock.sleepers()).toBe(0);
  });

  test("a loop that sleeps again runs as often as its period fits", async () => {
    const clock = virtualClock();
    const beats = await beatsDuring(clock, (each) => each.advance(100));
    expect(beats).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  });

  test("EDGE-10: setting the wall clock, either way, moves neither the boot clock nor any sleeper", async () => {
    const clock = virtualClock({ now: 1_000_000, monotonic: 500 });
    let woken = false;
    const sleeper = clock.sleep(50).then(() => {
      woken = true;
    });
    clock.jump(86_400_000);
    clock.jump(-2 * 86_400_000);
    await clock.advance(49);
    expect([clock.now(), clock.monotonic(), woken]).toEqual([1_000_000 - 86_400_000 + 49, 549, false]);
    await clock.advance(1);
    await sleeper;
    expect(woken).toBe(true);
  });

  test("EDGE-10: after a suspension a loop sees one long gap, not many beats", async () => {
    const clock = virtualClock();
    const beats = await beatsDuring(clock, (each) => each.suspend(100));
    expect(beats).toEqual([100]);
  });
});

/** When a loop with a period of 10 ms beat, while `passing` happened. */
async function beatsDuring(clock: VirtualClock, passing: (clock: VirtualClock) => Promise<void>): Promise<number[]> {
  const beats: number[] = [];
  const stop = new AbortController();
  const loop = (async () => {
    for (;;) {
      await clock.sleep(10, stop.signal);
      if (stop.signal.aborted) return;
      beats.push(clock.monotonic());
    }
  })();
  await passing(clock);
  stop.abort();
  await loop;
  return beats;
}

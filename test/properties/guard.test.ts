/** The guard itself, over a daemon that fails in every way at any time: it may lose heart, but never its head. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { OverseerError } from "#errors.ts";
import type { GuardEnd } from "#guard/guard.ts";
import { runFiles } from "#sys/run-files.ts";
import { scaled } from "../support/scale.ts";
import { tempDir } from "../support/temp.ts";
import { LIMITS, VirtualGuard } from "../support/virtual-guard.ts";

const MINUTE = 60_000;

const FAULTS = {
  dies: (world: VirtualGuard) => world.endDaemon(),
  hangs: (world: VirtualGuard) => change(world, { beats: false }),
  "stops ticking": (world: VirtualGuard) => change(world, { ticks: false }),
  stalls: (world: VirtualGuard) => change(world, { open: true, moves: false }),
  "says it is broken": (world: VirtualGuard) => world.logFault("daemon.fault", { problem: "It broke." }),
  "ends by itself": (world: VirtualGuard) =>
    world.endDaemon({ failure: { code: "POOL_FAILED", problem: "The pool failed." } }),
  "ends for want of room": (world: VirtualGuard) => {
    world.free = 0;
    world.endDaemon({ failure: { code: "DISK_FULL", problem: "The disk is full." } });
    world.after(5 * MINUTE, () => {
      world.free = 1e12;
    });
  },
  "is replaced without a word": (world: VirtualGuard) => {
    world.endDaemon();
    world.startDaemon();
  },
  "loses its registration": (world: VirtualGuard) => rmSync(runFiles(world.state).registration, { force: true }),
  "is stopped by a person, who starts it again": (world: VirtualGuard) => {
    world.intend("down");
    world.endDaemon({ reason: "down" });
    world.after(2 * MINUTE, () => {
      if (world.daemon) return;
      world.startDaemon();
      world.intend("up");
    });
  },
} as const;

function change(world: VirtualGuard, to: { beats?: boolean; ticks?: boolean; open?: boolean; moves?: boolean }): void {
  if (world.daemon) Object.assign(world.daemon, to);
}

const story = fc.record({
  faults: fc.array(
    fc.record({
      kind: fc.constantFrom(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[])),
      at: fc.integer({ min: 1_000, max: 20 * MINUTE }),
    }),
    { maxLength: 12 },
  ),
  /** Faults come in bursts too. */
  burst: fc.integer({ min: 1, max: 20 }),
  remedies: fc.array(fc.constantFrom("fixed", "failed", "hangs", "manual"), { maxLength: 12 }),
  refusals: fc.array(fc.boolean(), { maxLength: 12 }),
  guardDies: fc.array(fc.integer({ min: 10_000, max: 20 * MINUTE }), { maxLength: 3 }),
});

test("GUARD-5: whatever fails whenever, the guard never remediates twice within a cooldown, never goes on for ever, and ends or is well", async () => {
  const property = fc.asyncProperty(story, async ({ faults, burst, remedies, refusals, guardDies }) => {
    const remedy = remedies.values();
    const refusal = refusals.values();
    const directory = tempDir("guard-");
    const answers = {
      remediate: () => remedy.next().value ?? "fixed",
      refuseStart: () => (refusal.next().value === true ? "CONFIG_INVALID" : undefined),
    };
    const world = new VirtualGuard(directory, answers, { checkEvery: 10_000 });
    for (const { kind, at } of faults) world.after(at / burst, () => FAULTS[kind](world));
    const end = await live(world, guardDies).catch((error: unknown) => {
      if (error instanceof OverseerError && error.code === "MANUAL_INTERVENTION") return undefined;
      throw error;
    });
    if (end) expectSense(world, end, faults.length + guardDies.length);
    rmSync(directory, { recursive: true });
  });
  await fc.assert(property, { numRuns: scaled(50) });
});

/** Through several guards, each of which is killed and started anew, until one gives up or a quiet hour has passed. */
async function live(world: VirtualGuard, guardDies: readonly number[]): Promise<GuardEnd> {
  const until = world.time + 90 * MINUTE;
  for (const ms of guardDies.toSorted((one, other) => one - other)) {
    const end = await world.watch(ms / 10);
    if (end.kind !== "left") return end;
  }
  return world.watch(until - world.time);
}

function expectSense(world: VirtualGuard, end: GuardEnd, faults: number): void {
  const said = world.printed.join("\n");
  const remediations = world.calls.filter(({ word }) => word === "remediate").map(({ at }) => at);
  for (const [index, at] of remediations.entries()) {
    const before = remediations[index - 1];
    // Between two of them a daemon has run for the whole cooldown.
    if (before !== undefined) {
      const ran = world.daemons.filter(({ upAt }) => upAt >= before && at - upAt >= LIMITS.cooldown);
      expect(ran.length, said).toBeGreaterThan(0);
    }
  }
  // A start for each fault, one more that was refused, and the restarts of one stall.
  expect(world.count("up"), said).toBeLessThanOrEqual(2 * faults + LIMITS.stallRestarts + 4);
  const ours = new Set([...world.daemons.map(({ pid, start }) => join(String(pid), start))]);
  for (const { to } of world.processes.delivered) expect(ours.has(join(String(to.pid), to.start))).toBe(true);
  if (end.kind === "gave-up") {
    expect(world.file(), said).toMatchObject({ phase: "terminated", gaveUp: { code: end.code } });
    expect(end.why.length).toBeGreaterThan(10);
    return;
  }
  expect(end, said).toEqual({ kind: "left" });
  const { daemon } = world;
  const isWell = daemon !== undefined && world.processes.alive(daemon) && daemon.beats && daemon.ticks;
  expect(isWell, said).toBe(true);
}

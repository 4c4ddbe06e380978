/** What the watcher sees of processes, and what the tick makes of it. */
import { expect, test } from "bun:test";
import { decide } from "#domain/tick/decide.ts";
import { virtualProcesses } from "#sim/virtual-processes.ts";
import { memoryStore } from "#store/memory.ts";
import { attemptWith, MINUTE, NOW, pulseWith, recoveryWith, silentFor, working } from "../../test/support/snapshots.ts";
import { worldOn } from "../../test/support/world.ts";
import { machineObserver } from "./observe.ts";

test.each([
  ["a turn whose process is gone under a runner that hangs is a zombie", 40, true, ["stop"]],
  ["not before it was silent for so long", 20, true, []],
  ["between turns its process may be gone", 40, false, []],
])("VALID-7, WATCH-1: %s", async (_what, minutes, inTurn, kinds) => {
  const processes = virtualProcesses();
  const runner = processes.spawn();
  const process = processes.spawn();
  processes.exit(process.pid);
  const base = worldOn(memoryStore());
  const world = { ...base, processes, clock: { ...base.clock, now: () => NOW } };
  const attempt = attemptWith({ runner, process });
  const pulse = inTurn ? silentFor(minutes * MINUTE) : pulseWith({ ...silentFor(minutes * MINUTE), inTurn: false });
  const seen = await machineObserver(world, { periodMs: null }).evidence([attempt], new Map([[1, pulse]]));
  const doubt = { key: "agent!", since: NOW - 10 * MINUTE };
  const recoveries = [recoveryWith({ doubt, lastStepAt: NOW, backoffUntil: NOW + MINUTE })];
  const { actions } = decide(working({ attempt, pulse, evidence: seen.get(1) ?? [] }, { recoveries }));
  expect(actions.map(({ kind }): string => kind)).toEqual([...kinds]);
});

test("WATCH-1: a glance says how long one is quiet as the next look does, and changes nothing about what that says", () => {
  const base = worldOn(memoryStore());
  const clock = { ...base.clock, ms: 0, monotonic: () => clock.ms, now: () => NOW + clock.ms };
  const observer = machineObserver({ ...base, clock }, { periodMs: MINUTE });
  const still = new Map([[1, pulseWith({ acts: 1, lastActAt: NOW })]]);
  const moved = new Map([[1, pulseWith({ acts: 2, lastActAt: NOW })]]);
  const both = (pulses: typeof still) => [observer.glance([], pulses).quiet.get(1), observer.quiet(pulses).get(1)];
  expect(both(still)).toEqual([undefined, undefined]);
  clock.ms += MINUTE;
  expect(both(still)).toEqual([MINUTE, MINUTE]);
  clock.ms += MINUTE;
  expect(both(moved)).toEqual([0, 0]);
  // It stood still itself: then nobody was quiet, whoever notices it first.
  clock.ms += 60 * MINUTE;
  expect(observer.glance([], moved).quiet.get(1)).toBe(0);
  expect(observer.measureSkippedMs()).toBe(0);
});

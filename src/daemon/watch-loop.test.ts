/** The loop around the watch: what it tells, when it falls back to thresholds, and that nothing stops it for good. */
import { expect, test } from "bun:test";
import type { NewEvent } from "#domain/model/event.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { healthOfAgent } from "../../test/contract/health-log.suite.ts";
import { Loops } from "./loops.ts";
import { WatchLoop } from "./watch-loop.ts";

const MINUTE = 60_000;

function loopWith(state: { readonly sees?: boolean; readonly thresholdsWork?: boolean } = {}) {
  const clock = virtualClock({ now: 1_000 });
  const world = {
    sees: true,
    thresholdsWork: true,
    recordWorks: true,
    tickProblem: undefined as string | undefined,
    enabled: true,
    unjudged: [] as { readonly attempt: number; readonly agent: string }[],
    only: undefined as ReadonlySet<number> | undefined,
    looks: 0,
    blind: 0,
    retries: 0,
    woken: [] as string[],
    told: [] as string[],
    recorded: [] as NewEvent[],
    ...state,
  };
  const loop = new WatchLoop({
    ...{ clock, log: { record: () => {} } },
    settings: () => ({ enabled: world.enabled, every: 30_000 }),
    look: async () => {
      world.looks += 1;
      if (!world.sees) throw new Error("A pulse has no calls.");
      return { agents: 1, changed: [healthOfAgent(4)], causes: ["builder-1 no-activity"], unjudged: world.unjudged };
    },
    lookBlindly: async (only) => {
      world.blind += 1;
      world.only = only;
      if (!world.thresholdsWork) throw new Error("The store is away.");
      return { agents: 1, stepped: ["builder-1"], problems: [] };
    },
    tickProblem: () => world.tickProblem,
    retryTick: () => {
      world.retries += 1;
    },
    wakeTick: (cause) => void world.woken.push(cause),
    tell: ({ agent }) => void world.told.push(agent),
    record: async (event) => {
      if (!world.recordWorks) throw new Error("The store is busy.");
      world.recorded.push(event);
    },
  });
  const loops = new Loops({ clock, onFailure: () => {} });
  loops.start(loop.asLoop((work) => work()));
  return { world, loop, loops, clock };
}

const types = (events: readonly NewEvent[]) => events.map(({ type, because }) => `${type} ${because}`);

test("WATCH-1: it acts on nobody: it tells whoever listens and has the tick look where something is due", async () => {
  const { world, loops, clock } = loopWith();
  await clock.advance(MINUTE);
  expect([world.looks, world.blind]).toEqual([3, 0]);
  expect(new Set(world.woken)).toEqual(new Set(["watch: builder-1 no-activity"]));
  expect(world.told[0]).toBe("agent-4");
  world.enabled = false;
  await clock.advance(MINUTE);
  expect(world.looks).toBe(3);
  void loops.stop();
});

test("DEGR-1: judging that throws is replaced by thresholds, said once, and left as soon as it works", async () => {
  const { world, loop, loops, clock } = loopWith({ sees: false });
  await clock.advance(2 * MINUTE);
  expect(types(world.recorded)).toEqual(["watch.degraded judging-failed"]);
  expect(world.blind).toBeGreaterThan(1);
  expect(loop.degradedSince).toBe(1_000);
  world.sees = true;
  await clock.advance(MINUTE);
  expect(types(world.recorded)).toEqual(["watch.degraded judging-failed", "watch.restored judged-in-full"]);
  expect(loop.degradedSince).toBeNull();
  void loops.stop();
});

test("DEGR-1: what could not be written down is said by the next turn", async () => {
  const { world, loop, loops, clock } = loopWith({ sees: false });
  world.recordWorks = false;
  await clock.advance(MINUTE);
  expect([world.recorded.length, world.blind, loop.degradedSince]).toEqual([0, 0, null]);
  world.recordWorks = true;
  await clock.advance(2 * MINUTE);
  expect(types(world.recorded)).toEqual(["watch.degraded judging-failed"]);
  void loops.stop();
});

test("DEGR-1: ticks that fail again and again are no less blind; the tick is tried again while everybody can be judged", async () => {
  const { world, loop, loops, clock } = loopWith();
  world.tickProblem = "decide threw";
  await clock.advance(MINUTE);
  expect(types(world.recorded)).toEqual(["watch.degraded ticks-fail"]);
  expect([world.blind, world.retries]).toEqual([3, 3]);
  world.tickProblem = undefined;
  await clock.advance(MINUTE);
  expect([world.recorded.at(-1)?.type, loop.degradedSince]).toEqual(["watch.restored", null]);
  void loops.stop();
});

test("DEGR-1: one whose pulse is spoiled is named, and thresholds are for it alone", async () => {
  const { world, loop, loops, clock } = loopWith();
  world.unjudged = [{ attempt: 7, agent: "busy" }];
  await clock.advance(MINUTE);
  expect(types(world.recorded)).toEqual(["watch.degraded pulse-unusable"]);
  expect(world.recorded[0]?.data).toEqual({
    problem: "What is kept of busy#7 is spoiled; everybody else is judged in full.",
  });
  expect([world.only, world.retries, loop.degradedSince]).toEqual([new Set([7]), 0, 31_000]);
  world.unjudged = [];
  await clock.advance(MINUTE);
  expect([world.recorded.at(-1)?.type, loop.degradedSince]).toEqual(["watch.restored", null]);
  void loops.stop();
});

test("LOOP-1, EDGE-6: a loop that throws is tried again with backoff, and what it counted can be read", async () => {
  const { world, loops, clock } = loopWith({ sees: false, thresholdsWork: false });
  await clock.advance(10 * MINUTE);
  const failed = loops.rings(["watch", "nobody"]);
  expect(failed).toEqual([{ ring: "watch", cycles: 0, failures: world.looks, lastAt: null }]);
  expect(world.looks).toBeGreaterThan(5);
  expect(loops.troubleOf("watch")?.problem).toBe("The store is away.");
  world.thresholdsWork = true;
  world.sees = true;
  await clock.advance(2 * MINUTE);
  expect(loops.troubleOf("watch")).toBeUndefined();
  expect(loops.rings(["watch"])[0]?.cycles).toBeGreaterThan(0);
  void loops.stop();
});

test("DEGR-1: a condition that an earlier life left is not said again, and ends", async () => {
  const { world, loop, loops, clock } = loopWith();
  loop.resume(5);
  await clock.advance(MINUTE);
  expect(types(world.recorded)).toEqual(["watch.restored judged-in-full"]);
  void loops.stop();
});

import { expect, test } from "bun:test";
import { virtualClock } from "#sys/virtual-clock.ts";
import { type Loop, Loops, loopBackoffMs } from "./loops.ts";

/** Loops over a virtual clock; every turn is noted with its time and its causes. */
function stage(loop: Partial<Loop> & { fail?: (turn: number) => boolean }) {
  const clock = virtualClock();
  const turns: { at: number; causes: readonly string[] }[] = [];
  const failures: number[] = [];
  const loops = new Loops({ clock, onFailure: (_loop, _error, count) => failures.push(count) });
  const spec: Loop = {
    name: "tick",
    everyMs: () => 1_000,
    async run({ causes }) {
      turns.push({ at: clock.now(), causes });
      if (loop.fail?.(turns.length)) throw new Error("no disk");
      await loop.run?.({ causes });
    },
    ...(loop.everyMs && { everyMs: loop.everyMs }),
    ...(loop.spacingMs !== undefined && { spacingMs: loop.spacingMs }),
    ...(loop.atOnce !== undefined && { atOnce: loop.atOnce }),
  };
  loops.start(spec);
  return { clock, loops, turns, failures, times: () => turns.map(({ at }) => at) };
}

test("TICK-4: a loop runs at once and then every period", async () => {
  const { clock, loops, times } = stage({});
  await clock.advance(3_500);
  expect(times()).toEqual([0, 1_000, 2_000, 3_000]);
  await loops.stop();
});

test("TICK-4: a wake brings the next turn forward, with its causes, each once", async () => {
  const { clock, loops, turns } = stage({});
  await clock.advance(400);
  loops.wake("tick", "goal.created");
  loops.wake("tick", "goal.created");
  loops.wake("tick", "runner-gone #4");
  await clock.advance(100);
  expect(turns[1]).toEqual({ at: 400, causes: ["goal.created", "runner-gone #4"] });
  await loops.stop();
});

test("TICK-4: those that fail try again at once when what they lacked is back, and the others are left alone", async () => {
  let full = true;
  const { clock, loops, times } = stage({ fail: () => full });
  await clock.advance(100_000);
  const before = times().length;
  full = false;
  loops.retry();
  await clock.advance(1);
  expect(times().length).toBe(before + 1);
  loops.retry();
  await clock.advance(1);
  expect(times().length).toBe(before + 1);
  await loops.stop();
});

test("TICK-4: wakes during a turn become one turn after it, never a second beside it", async () => {
  let running = 0;
  let most = 0;
  const clock = virtualClock();
  const loops = new Loops({ clock, onFailure: () => {} });
  const causes: (readonly string[])[] = [];
  loops.start({
    name: "tick",
    everyMs: () => 60_000,
    async run(turn) {
      causes.push(turn.causes);
      running += 1;
      most = Math.max(most, running);
      await clock.sleep(500);
      running -= 1;
    },
  });
  await clock.advance(100);
  for (const cause of ["a", "b", "a"]) loops.wake("tick", cause);
  await clock.advance(2_000);
  expect({ most, causes }).toEqual({ most: 1, causes: [[], ["a", "b"]] });
  const over = loops.stop();
  await clock.advance(1_000);
  await over;
});

test("a storm of wakes is taken at its spacing", async () => {
  const { clock, loops, times } = stage({ spacingMs: 250 });
  for (let at = 0; at < 1_000; at += 10) {
    loops.wake("tick", `event ${at}`);
    await clock.advance(10);
  }
  expect(times()).toEqual([0, 250, 500, 750, 1_000].slice(0, times().length));
  expect(times().length).toBeGreaterThanOrEqual(4);
  await loops.stop();
});

test("LOOP-1: a loop that throws continues by itself, after ever longer rests, and a wake does not cut them short", async () => {
  const { clock, loops, failures, times } = stage({ fail: (turn) => turn <= 3 });
  await clock.advance(500);
  loops.wake("tick", "impatient");
  expect(loops.troubles()).toEqual([{ loop: "tick", failures: 1, problem: "no disk" }]);
  await clock.advance(7_500);
  expect(times().slice(0, 4)).toEqual([0, 1_000, 3_000, 7_000]);
  expect(failures).toEqual([1, 2, 3]);
  expect(loops.troubles()).toEqual([]);
  await loops.stop();
});

test("what a failed turn was woken for is told to the next one", async () => {
  const { clock, loops, turns } = stage({ fail: (turn) => turn === 2 });
  await clock.advance(100);
  loops.wake("tick", "runner-gone #4");
  await clock.advance(1_500);
  expect(turns.slice(1, 3).map(({ causes }) => causes)).toEqual([["runner-gone #4"], ["runner-gone #4"]]);
  await loops.stop();
});

test("LOOP-1, EDGE-6: one loop's trouble is not another's", async () => {
  const { clock, loops, times } = stage({});
  loops.start({ name: "broken", everyMs: () => 10, run: () => Promise.reject(new Error("always")) });
  await clock.advance(2_500);
  expect(times()).toEqual([0, 1_000, 2_000]);
  expect(loops.troubles().map(({ loop }) => loop)).toEqual(["broken"]);
  await loops.stop();
});

test("stopping ends sleeps at once and waits for turns under way", async () => {
  const { clock, loops, turns } = stage({});
  await clock.advance(10);
  await loops.stop();
  await clock.advance(10_000);
  expect(turns).toHaveLength(1);
});

test("backoff never shrinks and stays capped", () => {
  let before = 0;
  for (let failures = 1; failures < 200; failures += 1) {
    const now = loopBackoffMs(failures);
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(60_000);
    before = now;
  }
});

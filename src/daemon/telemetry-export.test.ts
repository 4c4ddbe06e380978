/** The daemon's care for its exporter, in virtual time: one that dies at once is begun ever more seldom, and told of. */
import { expect, test } from "bun:test";
import { memoryStore } from "#store/memory.ts";
import { worldOn } from "../../test/support/world.ts";
import { TelemetryExport } from "./telemetry-export.ts";

const SECOND = 1_000;

async function scene() {
  const world = worldOn(memoryStore());
  const { telemetry, project } = await world.config();
  const settings = (endpoint: string) => ({ project, telemetry: { ...telemetry, otel: { enabled: true, endpoint } } });
  const state = { starts: 0, livesMs: 0 };
  const { clock } = world;
  const care = new TelemetryExport({
    log: { record: () => {} },
    start: () => {
      state.starts += 1;
      const until = clock.monotonic() + state.livesMs;
      return { pid: state.starts, exitCode: () => (clock.monotonic() >= until ? 1 : null), end: () => {} };
    },
    onEnd: () => {},
  });
  const pass = async (seconds: number, endpoint = "http://c") => {
    const before = state.starts;
    for (let second = 0; second < seconds; second += 1) {
      care.follow(world, settings(endpoint));
      await clock.advance(SECOND);
    }
    return state.starts - before;
  };
  return { care, state, pass };
}

test("OTEL-1: an exporter that dies at once is started ever more seldom, until it has lived a while", async () => {
  const { care, state, pass } = await scene();
  expect(await pass(600)).toBeLessThan(20);
  expect(care.troubles()).toMatchObject([{ loop: "telemetry", problem: expect.stringContaining("ended with 1") }]);
  expect(await pass(600)).toBeLessThan(12);
  // Under other settings it may live.
  state.livesMs = 3_600 * SECOND;
  expect(await pass(2, "http://d")).toBe(1);
  await pass(120, "http://d");
  expect(care.troubles()).toEqual([]);
});

test("OTEL-1: one that lived for long is begun again soon", async () => {
  const { state, pass } = await scene();
  await pass(300);
  state.livesMs = 100 * SECOND;
  await pass(70);
  expect(await pass(1_020)).toBeGreaterThanOrEqual(9);
});

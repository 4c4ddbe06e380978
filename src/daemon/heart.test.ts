import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { parseHeartbeat } from "#domain/health/daemon-life.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { tempDir } from "../../test/support/temp.ts";
import { Heart } from "./heart.ts";

function beating() {
  const clock = virtualClock({ now: 1_000_000, monotonic: 5_000 });
  const directory = tempDir("heart-");
  const path = `${directory}/auto.heartbeat`;
  const lost: number[] = [];
  let ticks = 0;
  const heart = new Heart({
    clock,
    path,
    everyMs: () => 5_000,
    state: () => ({
      instance: "d_1",
      ticks: ++ticks,
      tickedAt: 0,
      tickProblem: null,
      troubles: [],
      rings: [],
      configProblem: null,
      hold: null,
      work: null,
      auto: null,
    }),
    onTimeLost: (ms) => lost.push(ms),
    onFailure: (error) => {
      throw error;
    },
    onRecovery: () => {
      throw new Error("It never failed.");
    },
  });
  heart.start();
  return { clock, directory, heart, lost, read: () => parseHeartbeat(readFileSync(path, "utf8")) };
}

test("DEAD-1, AUTO-4: the heartbeat is replaced every period, whole, with the times of both clocks", async () => {
  const { clock, directory, heart, read, lost } = beating();
  expect(read()).toMatchObject({ instance: "d_1", at: 1_000_000, bootMs: 5_000, ticks: 1 });
  await clock.advance(15_000);
  expect(read()).toMatchObject({ at: 1_015_000, bootMs: 20_000, ticks: 4 });
  expect(readdirSync(directory)).toEqual(["auto.heartbeat"]);
  heart.stop();
  await clock.advance(60_000);
  expect(read()).toMatchObject({ at: 1_015_000 });
  expect(lost).toEqual([]);
});

test("a machine asleep for eight hours is lost time, told once; a wall clock that is set is not", async () => {
  const { clock, heart, lost } = beating();
  await clock.advance(2_000);
  await clock.suspend(8 * 3_600_000);
  await clock.advance(20_000);
  clock.jump(3_600_000);
  await clock.advance(20_000);
  expect(lost).toEqual([8 * 3_600_000 + 2_000]);
  heart.stop();
});

test("a delay of up to three periods is no lost time", async () => {
  const { clock, heart, lost } = beating();
  await clock.suspend(15_000);
  expect(lost).toEqual([]);
  heart.stop();
});

test("DEAD-1: a heartbeat that can be written again is told of, once", async () => {
  const { clock, directory, heart } = beating();
  heart.stop();
  const said: string[] = [];
  const path = `${directory}/gone/auto.heartbeat`;
  const again = new Heart({
    ...{ clock, path, everyMs: () => 5_000, onTimeLost: () => {} },
    state: () => ({
      ...{
        instance: "d_1",
        ticks: 0,
        tickedAt: 0,
        tickProblem: null,
        troubles: [],
        rings: [],
        configProblem: null,
        hold: null,
        work: null,
        auto: null,
      },
    }),
    onFailure: () => said.push("failed"),
    onRecovery: () => said.push("works"),
  });
  again.beat();
  again.beat();
  mkdirSync(`${directory}/gone`);
  again.beat();
  again.beat();
  expect(said).toEqual(["failed", "failed", "works"]);
});

import { expect, test } from "bun:test";
import { defaultConfig } from "#config/schema.ts";
import type { TickReason } from "#engine/tick-contract.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { DaemonLog } from "./log.ts";
import { Ticker, type TickOutcome } from "./tick-loop.ts";

const FINE = { ok: true, didWork: false, halted: [] };

function tickerOf(run: (reason: TickReason) => Promise<TickOutcome>) {
  const clock = virtualClock({ now: 1_000 });
  const files = memoryFiles();
  const log = new DaemonLog({ files, clock, path: "/daemon.ndjson" }, defaultConfig().logs);
  const ticker = new Ticker({ clock, log, prepare: async () => {}, run, onTickEnd: () => {} });
  return { clock, ticker, files, log };
}

test("DEAD-1: the heartbeat learns how many ticks ended and when, and a failed one does not count", async () => {
  let fail = false;
  const { clock, ticker } = tickerOf(async () => {
    if (fail) throw new Error("no disk");
    return FINE;
  });
  clock.jump(500);
  await ticker.turn({ causes: [] });
  expect({ ticks: ticker.ticks, at: ticker.tickedAt, problem: ticker.problem }).toEqual({
    ticks: 1,
    at: 1_500,
    problem: null,
  });
  fail = true;
  clock.jump(500);
  await expect(ticker.turn({ causes: [] })).rejects.toThrow("no disk");
  expect({ ticks: ticker.ticks, at: ticker.tickedAt, problem: ticker.problem }).toEqual({
    ticks: 1,
    at: 1_500,
    problem: "no disk",
  });
});

test("time that was lost is handed to the next tick that ends, once", async () => {
  const seen: number[] = [];
  const { ticker } = tickerOf(async ({ skippedMs }) => {
    seen.push(skippedMs);
    if (seen.length === 1) throw new Error("not yet");
    return FINE;
  });
  ticker.addLostTime(8 * 3_600_000);
  await ticker.turn({ causes: [] }).catch(() => undefined);
  await ticker.turn({ causes: [] });
  await ticker.turn({ causes: [] });
  expect(seen).toEqual([8 * 3_600_000, 8 * 3_600_000, 0]);
});

test("DEAD-1: time that is lost while a tick runs is handed to the next one", async () => {
  const seen: number[] = [];
  const made = tickerOf(async ({ skippedMs }) => {
    seen.push(skippedMs);
    if (seen.length === 1) made.ticker.addLostTime(5_000); // stopped in the middle of it
    return FINE;
  });
  made.ticker.addLostTime(1_000);
  for (let turns = 0; turns < 3; turns += 1) await made.ticker.turn({ causes: [] });
  expect(seen).toEqual([1_000, 5_000, 0]);
});

test("TICK-4: what is due later brings the next tick forward, until it was seen to", async () => {
  const dues = [5_000, null];
  const { clock, ticker } = tickerOf(async () => ({ ...FINE, nextDueAt: dues.shift() ?? null }));
  expect(ticker.nextDueInMs()).toBe(Number.POSITIVE_INFINITY);
  await ticker.turn({ causes: [] });
  expect(ticker.nextDueInMs()).toBe(4_000);
  clock.jump(10_000);
  expect(ticker.nextDueInMs()).toBe(0);
  await ticker.turn({ causes: [] });
  expect(ticker.nextDueInMs()).toBe(Number.POSITIVE_INFINITY);
});

test("TICK-4: whoever asks for a tick hears of one that began after the question", async () => {
  let ended = 0;
  const { ticker } = tickerOf(async () => {
    ended += 1;
    return FINE;
  });
  const running = ticker.turn({ causes: [] });
  const answer = ticker.next().then(() => ended);
  await running;
  await ticker.turn({ causes: ["asked"] });
  expect(await answer).toBe(2);
});

test("LOG-2: each tick has a record of its start, with its causes, and of its end, with what it did", async () => {
  const { ticker, files, log } = tickerOf(async () => ({ ...FINE, didWork: true }));
  await ticker.turn({ causes: ["goal.created"] });
  await log.flush();
  const records = ((await files.read("/daemon.ndjson")) ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(records).toMatchObject([
    { level: "info", event: "tick.started", data: { causes: ["goal.created"] } },
    { level: "info", event: "tick.ended", data: { ok: true, didWork: true, tick: 1 } },
  ]);
});

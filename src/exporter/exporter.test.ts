/** The exporter over a store in memory, in virtual time: what is tried again, what is given up, and what is never told twice. */
import { expect, test } from "bun:test";
import { accept } from "#domain/model/decision.ts";
import type { TraceSpan } from "#domain/trace/span.ts";
import { memoryFiles } from "#sim/virtual-files.ts";
import { memoryStore } from "#store/memory.ts";
import type { Store } from "#store/store.ts";
import { virtualClock } from "#sys/virtual-clock.ts";
import { addGoal, T0 } from "../../test/support/samples.ts";
import { parseExportFile } from "./export-file.ts";
import { Exporter } from "./exporter.ts";
import type { ExportOutcome, Sink } from "./sink.ts";

const HOUR = 3_600_000;
const PATH = "/run/exporter.json";

function scene() {
  const [clock, files, store] = [virtualClock({ now: T0 }), memoryFiles(), memoryStore()];
  const taken: TraceSpan[] = [];
  let outcome: ExportOutcome = { kind: "sent" };
  let tries = 0;
  const sink: Sink = {
    async send(spans) {
      tries += 1;
      if (outcome.kind === "sent") taken.push(...spans);
      return outcome;
    },
    record: () => undefined,
    close: async () => undefined,
  };
  const begin = async () => {
    await files.makeDir("/run");
    const stop = new AbortController();
    const exporter = new Exporter({
      ...{ store, database: "/nowhere", clock, files, sink, path: PATH, endpoint: "http://c", providerOf: String },
      self: { pid: 1, start: "1" },
    });
    const ended = exporter.run(stop.signal);
    return {
      async end() {
        stop.abort();
        await ended;
      },
    };
  };
  const file = async () => parseExportFile(await files.read(PATH));
  return {
    ...{ clock, store, taken, begin, file },
    set: (next: ExportOutcome) => {
      outcome = next;
    },
    tries: () => tries,
  };
}

async function completeGoal(store: Store, goalId: string, at: number): Promise<void> {
  await addGoal(store, goalId, at);
  const event = { type: "goal.cancelled", actor: "overseer", because: "test", goalId, data: { reason: null } } as const;
  await store.commit({ at, reads: {}, decide: () => accept([event], null) });
}

test("OTEL-1: what does not get through is tried again, ever more seldom, and arrives once", async () => {
  const { clock, store, taken, begin, file, set, tries } = scene();
  const exporter = await begin();
  await clock.advance(1_000);
  set({ kind: "failed", problem: "away" });
  await completeGoal(store, "goal_A", T0);
  await clock.advance(HOUR);
  expect(tries()).toBeLessThan(70);
  expect(await file()).toMatchObject({ sent: 0, dropped: 0, failing: { problem: "away" } });
  set({ kind: "sent" });
  await clock.advance(2 * 60_000);
  expect(taken.map(({ name }) => name)).toEqual(["invoke_workflow Parse dates"]);
  expect(await file()).toMatchObject({ sent: 1, failing: null });
  await exporter.end();
  const again = await begin();
  await clock.advance(5_000);
  await again.end();
  expect(taken.length).toBe(1);
});

test("OTEL-1: only what a target has missed for more than a day is given up, and counted", async () => {
  const { clock, store, taken, begin, file, set } = scene();
  const exporter = await begin();
  await clock.advance(1_000);
  set({ kind: "failed", problem: "away" });
  await completeGoal(store, "goal_A", T0);
  await clock.advance(23 * HOUR);
  await completeGoal(store, "goal_B", clock.now());
  await clock.advance(2 * HOUR);
  expect(await file()).toMatchObject({ sent: 0, dropped: 1 });
  set({ kind: "sent" });
  await clock.advance(2 * 60_000);
  expect(taken.map(({ attributes }) => attributes["overseer.goal.id"])).toEqual(["goal_B"]);
  await exporter.end();
});

test("OTEL-1: what began in one of its lives and ends in another is whole", async () => {
  const { clock, store, taken, begin } = scene();
  const first = await begin();
  await clock.advance(1_000);
  await addGoal(store, "goal_A", T0);
  await clock.advance(5_000);
  await first.end();
  const event = { type: "goal.cancelled", actor: "overseer", because: "test", data: { reason: null } } as const;
  const decide = () => accept([{ ...event, goalId: "goal_A" }], null);
  await store.commit({ at: clock.now(), reads: {}, decide });
  const second = await begin();
  await clock.advance(1_000);
  await second.end();
  expect(taken.map(({ startAt, endAt }) => [startAt, endAt])).toEqual([[T0, T0 + 6_000]]);
});

test("OTEL-1: it begins with what happens from then on, and knows what was open", async () => {
  const { clock, store, taken, begin } = scene();
  await completeGoal(store, "goal_old", T0);
  await addGoal(store, "goal_open", T0);
  const exporter = await begin();
  await clock.advance(HOUR);
  const event = { type: "goal.completed", actor: "overseer", because: "test", data: { reason: null } } as const;
  const decide = () => accept([{ ...event, goalId: "goal_open" }], null);
  await store.commit({ at: clock.now(), reads: {}, decide });
  await clock.advance(2_000);
  await exporter.end();
  expect(taken.map(({ startAt, endAt }) => [startAt, endAt])).toEqual([[T0, T0 + HOUR]]);
});

test("OTEL-1: what is refused for good is given up, and why is told also by the next life, until something is taken", async () => {
  const { clock, store, begin, file, set } = scene();
  const exporter = await begin();
  await clock.advance(1_000);
  set({ kind: "refused", problem: "it answered 401" });
  await completeGoal(store, "goal_A", T0);
  await clock.advance(5_000);
  await exporter.end();
  const again = await begin();
  await clock.advance(5_000);
  expect(await file()).toMatchObject({ dropped: 1, failing: null, refused: { problem: "it answered 401" } });
  set({ kind: "sent" });
  await completeGoal(store, "goal_B", clock.now());
  await clock.advance(5_000);
  expect(await file()).toMatchObject({ sent: 1, dropped: 1, refused: null });
  await again.end();
});

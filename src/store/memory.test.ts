/** What agents are seen to do, in the memory store: the promises of the signal log (telemetry.ts) hold here too. */
import { expect, test } from "bun:test";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { addRunning } from "../../test/support/attempts.ts";
import { ADA } from "../../test/support/samples.ts";
import { attemptByNumber } from "./attempts.ts";
import { memoryStore } from "./memory.ts";
import { pulseOf, pulsesOfLiving, signalsOf } from "./telemetry.ts";

const said: Signal = { kind: "said", source: "s1", phase: "said", at: ADA.now, data: { text: "hello" } };

test("FENCE-1: a signal counts once, and none of an attempt that has ended", async () => {
  const store = memoryStore();
  const [number = 0] = await addRunning(store, 1, { pid: 7, start: "7" });
  expect(store.signals.record(number, "agent-0", [said, said])?.beats).toBe(1);
  expect(store.signals.record(99, "nobody", [said])).toBeUndefined();
  const { pulse, living, signals } = await store.read({
    pulse: pulseOf(number),
    living: pulsesOfLiving(),
    signals: signalsOf(number, 10),
  });
  expect([pulse?.lastText, living.length, signals.length]).toEqual(["hello", 1, 1]);
  const end = { cause: "died", detail: "It died.", exitCode: null, signal: null, usage: NO_USAGE, wip: null } as const;
  const around = { node: undefined, assignment: undefined, waiting: [], parent: undefined };
  await store.commit({
    at: ADA.now,
    reads: { now: attemptByNumber(number) },
    decide: ({ now }) => endAttempt(now, around, end, ADA),
  });
  expect(store.signals.record(number, "agent-0", [{ ...said, source: "s2" }])).toBeUndefined();
  expect((await store.read({ living: pulsesOfLiving() })).living).toEqual([]);
});

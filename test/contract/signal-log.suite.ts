/**
 * What every signal log keeps to, with the queries that read what it wrote. Memory and SQLite run it; another one joins by
 * adding a line to signal-log.test.ts.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { endAttempt } from "#domain/agents/attempt-end.ts";
import { NO_USAGE } from "#domain/model/attempt.ts";
import type { Pulse } from "#domain/signals/pulse.ts";
import type { Steering } from "#domain/signals/reflex.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { agentsAtWork } from "#store/agent-rows.ts";
import { attemptByNumber } from "#store/attempts.ts";
import type { SignalLog } from "#store/signal-log.ts";
import { DEFAULT_SIGNAL_CAPS } from "#store/signal-log.ts";
import { contextWindows, lastSignals, pulseOf, pulsesOfLiving, signalsAfter, signalsOf } from "#store/signals.ts";
import type { Store } from "#store/store.ts";
import { addRunning } from "../support/attempts.ts";
import { ADA } from "../support/samples.ts";
import { PLANTED_SECRETS } from "../support/secrets.ts";

const said = (source: string, text = "hello"): Signal => ({
  kind: "said",
  source,
  phase: "said",
  at: ADA.now,
  data: { text },
});

const HINT: Steering = {
  anomaly: "slow",
  fact: "It reads on.",
  step: 1,
  text: "Begin to write.",
} as unknown as Steering;

export interface OpenedLog {
  readonly store: Store;
  readonly signals: SignalLog;
}

export function signalLogSuite(name: string, open: () => Promise<OpenedLog>): void {
  describe(`signal log contract: ${name}`, () => {
    const opened: OpenedLog[] = [];
    const fresh = async () => {
      const log = await open();
      opened.push(log);
      const [attempt = 0] = await addRunning(log.store, 1, { pid: 7, start: "7" });
      return { ...log, attempt };
    };
    afterEach(async () => {
      for (const { store, signals } of opened.splice(0)) {
        signals.close();
        await store.close();
      }
    });

    test("a signal counts once, however often and by whomever it is told", async () => {
      const { store, signals, attempt } = await fresh();
      expect((await signals.record(attempt, "agent-0", [said("a"), said("a")]))?.beats).toBe(1);
      expect((await signals.record(attempt, "agent-0", [said("a"), said("b")]))?.beats).toBe(2);
      const { kept } = await store.read({ kept: signalsOf(attempt, 10) });
      expect(kept.map(({ source }) => source)).toEqual(["a", "b"]);
    });

    test("FENCE-1: nothing is kept of an attempt that has ended, or that nobody knows", async () => {
      const { store, signals, attempt } = await fresh();
      await signals.record(attempt, "agent-0", [said("a")]);
      await endIt(store, attempt);
      expect(await signals.record(attempt, "agent-0", [said("b")])).toBeUndefined();
      expect(await signals.record(99, "nobody", [said("c")])).toBeUndefined();
      expect(await signals.steer(attempt, ADA.now, () => HINT)).toBeUndefined();
      const seen = await store.read({ living: pulsesOfLiving(), of: signalsOf(attempt, 9), nobody: pulseOf(99) });
      expect([seen.living, seen.of.length, seen.nobody]).toEqual([[], 1, undefined]);
    });

    test("what is kept holds no secret and is cut where its caps say", async () => {
      const { store, signals, attempt } = await fresh();
      const [planted] = PLANTED_SECRETS;
      await signals.record(attempt, "agent-0", [said("a", `${planted?.text} ${"x".repeat(9_000)}`)]);
      const { pulse, kept } = await store.read({ pulse: pulseOf(attempt), kept: signalsOf(attempt, 1) });
      expect(JSON.stringify([pulse, kept])).not.toContain(planted?.secret ?? "");
      expect(pulse?.lastText.length).toBeLessThanOrEqual(DEFAULT_SIGNAL_CAPS.saidBytes);
    });

    test("REFLEX-1: of several that ask at once one speaks, and the pulse remembers it", async () => {
      const { store, signals, attempt } = await fresh();
      await signals.record(attempt, "agent-0", [said("a")]);
      const judge = (pulse: Pulse) => (pulse.course?.lastSteering ? undefined : HINT);
      const answers = await Promise.all([1, 2, 3].map(() => signals.steer(attempt, ADA.now, judge)));
      expect(answers.filter((one) => one !== undefined)).toEqual([HINT]);
      expect(await signals.steer(attempt, ADA.now, () => undefined)).toBeUndefined();
      const { pulse } = await store.read({ pulse: pulseOf(attempt) });
      expect(pulse?.beats).toBe(1);
    });

    test("STORE-6: what is old is compacted into milestones, and the pulse still knows what it added up to", async () => {
      const { store, signals, attempt } = await fresh();
      const at = (source: string, when: number): Signal => ({ ...said(source), at: ADA.now + when });
      const turn: Signal = { kind: "turn.started", source: "t", phase: "", at: ADA.now, data: { by: "overseer" } };
      await signals.record(attempt, "agent-0", [at("a", 0), turn, at("b", 1), at("c", 2), at("d", 9), at("e", 9)]);
      expect(await signals.compact(ADA.now + 5, 1)).toBe(1);
      expect(await signals.compact(ADA.now + 5, 10)).toBe(1);
      expect(await signals.compact(ADA.now + 5, 10)).toBe(0);
      const { left, pulse } = await store.read({ left: signalsOf(attempt, 10), pulse: pulseOf(attempt) });
      expect(left.map(({ source }) => source)).toEqual(["a", "t", "d", "e"]);
      expect(pulse?.beats).toBe(6);
    });

    test("queries answer in the order of recording, by kind, place and number", async () => {
      const { store, signals, attempt } = await fresh();
      const turn: Signal = { kind: "turn.started", source: "t", phase: "", at: ADA.now + 5, data: { by: "overseer" } };
      await signals.record(attempt, "agent-0", [said("a"), turn, said("b")]);
      const { all, words, after, rows, windows } = await store.read({
        all: signalsOf(attempt, 2),
        words: lastSignals(attempt, ["said"], 5),
        after: signalsAfter(attempt, 0, 10),
        rows: agentsAtWork(),
        windows: contextWindows(),
      });
      expect(all.map(({ source }) => source)).toEqual(["t", "b"]);
      expect(words.map(({ source }) => source)).toEqual(["a", "b"]);
      const later = await store.read({ after: signalsAfter(attempt, after[0]?.place ?? 0, 10) });
      expect(later.after.map(({ signal }) => signal.source)).toEqual(["t", "b"]);
      expect(rows.map((row) => [row.inTurn, row.lastAt])).toEqual([[true, ADA.now + 5]]);
      expect(windows).toEqual({});
    });
  });
}

async function endIt(store: Store, attempt: number): Promise<void> {
  const end = { cause: "died", detail: "It died.", exitCode: null, signal: null, usage: NO_USAGE, wip: null } as const;
  const around = { node: undefined, assignment: undefined, waiting: [], parent: undefined };
  await store.commit({
    at: ADA.now,
    reads: { now: attemptByNumber(attempt) },
    decide: ({ now }) => endAttempt(now, around, end, ADA),
  });
}

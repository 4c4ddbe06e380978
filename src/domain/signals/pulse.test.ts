/** The pulse after signals, one row each; then what holds for any stream of them. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NO_USAGE } from "#domain/model/attempt.ts";
import { scaled } from "../../../test/support/scale.ts";
import { beat, newPulse, type Pulse, RECENT_CALLS } from "./pulse.ts";
import type { Signal, SignalData, SignalKind } from "./signal.ts";

const fresh = newPulse(1, "a");
let counter = 0;
function signal<K extends SignalKind>(
  kind: K,
  data: SignalData[K],
  parts: { source?: string; at?: number } = {},
): Signal {
  counter += 1;
  return { kind, source: parts.source ?? `s${counter}`, phase: kind, at: parts.at ?? 1000, data } as Signal;
}
const after = (...signals: Signal[]): Pulse => signals.reduce(beat, fresh);

const started = (id: string) =>
  signal("tool.started", { tool: "Bash", argsHash: "h", args: "{}", sub: null }, { source: id });
const ended = (id: string, ok = true) =>
  signal(
    "tool.ended",
    { tool: "Bash", ok, errorClass: ok ? null : "exit-1", ms: 5, result: "" },
    { source: id, at: 2000 },
  );
const turn = (ok: boolean, costUsd: number | null = 0.5) =>
  signal("turn.ended", { ok, reason: "completed", text: "Done.", costUsd }, { at: 3000 });
const usage = signal("usage", {
  inputTokens: 10,
  outputTokens: 4,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  contextTokens: 19,
  contextWindow: 200,
});
const quota = signal("api.failed", { cause: "quota", detail: "", resetsAt: 9000 });

const committed = (at: number, madeAt?: number) =>
  signal(
    "committed",
    { from: "a", to: "b", count: 1, commits: [], ...(madeAt === undefined ? {} : { madeAt }) },
    { at },
  );

const rows: [why: string, signals: Signal[], pulse: Partial<Pulse>][] = [
  [
    "a beat is counted and dated",
    [signal("said", { text: "hi" }, { at: 7 })],
    { beats: 1, firstAt: 7, lastAt: 7, lastText: "hi" },
  ],
  [
    "a late signal does not turn time back",
    [signal("said", { text: "a" }, { at: 9 }), signal("said", { text: "b" }, { at: 5 })],
    { lastAt: 9 },
  ],
  ["the model is remembered", [signal("session.started", { session: "x", model: "m", version: null })], { model: "m" }],
  ["a turn begins", [signal("turn.started", { by: "message" })], { inTurn: true, turns: 0 }],
  [
    "a turn ends",
    [signal("turn.started", { by: "message" }), turn(true)],
    { inTurn: false, turns: 1, lastProgressAt: 3000 },
  ],
  ["a failed turn is a failure and no progress", [turn(false)], { failures: 1, lastProgressAt: null }],
  [
    "a call runs",
    [started("t")],
    { calls: [{ tool: "Bash", argsHash: "h", ok: null, errorClass: null, ms: null, id: "t" }] },
  ],
  ["a call ended", [started("t"), ended("t")], { failures: 0, lastProgressAt: 2000 }],
  ["failures in a row add up", [started("t"), ended("t", false), started("u"), ended("u", false)], { failures: 2 }],
  ["one success ends the row", [started("t"), ended("t", false), started("u"), ended("u")], { failures: 0 }],
  [
    "costs of turns add up",
    [turn(true), turn(true), turn(true, null)],
    { usage: { ...NO_USAGE, turns: 3, costUsd: 1 } },
  ],
  [
    "tokens add up, context is the last",
    [usage, usage],
    {
      contextTokens: 19,
      contextWindow: 200,
      usage: { ...NO_USAGE, inputTokens: 20, outputTokens: 8, cacheReadTokens: 6, cacheWriteTokens: 4 },
    },
  ],
  ["a quota is known until its reset", [quota], { quotaUntil: 9000 }],
  ["a failed turn leaves the quota as it was", [quota, turn(false)], { quotaUntil: 9000 }],
  ["a turn that worked proves that the quota is back", [quota, turn(true)], { quotaUntil: null }],
  [
    "another failure says nothing about the quota",
    [quota, signal("api.failed", { cause: "auth", detail: "", resetsAt: null })],
    { quotaUntil: 9000 },
  ],
  [
    "the end of the process ends the turn",
    [signal("turn.started", { by: "x" }), signal("process.exited", { code: 0, signal: null, asked: true })],
    { inTurn: false },
  ],
  ["a commit is progress", [committed(5000)], { lastProgressAt: 5000, lastCommitAt: 5000 }],
  [
    "LIVE-1: a commit counts from when it was made, not from when the turn was interrupted and it was found",
    [ended("t"), committed(9000, 2500)],
    { lastProgressAt: 2500, lastCommitAt: 2500 },
  ],
  ["it turns no time back", [turn(true), committed(9000, 2500)], { lastProgressAt: 3000, lastCommitAt: 2500 }],
  ["a clock that is ahead is not believed", [committed(5000, 9000)], { lastCommitAt: 5000 }],
  ["noise is counted and is no progress", [signal("noise", { text: "x" })], { noise: 1, lastProgressAt: null }],
];
test.each(rows)("%s", (_why, signals, pulse) => {
  expect(after(...signals)).toMatchObject(pulse);
});

describe("any stream of signals", () => {
  const any: fc.Arbitrary<Signal> = fc
    .tuple(fc.nat(30), fc.nat(10_000), fc.boolean(), fc.string({ maxLength: 2_000 }), fc.nat(9))
    .map(([id, at, ok, text, pick]) => {
      const make: (() => Signal)[] = [
        () => ({ ...started(`t${id}`), at }),
        () => ({ ...ended(`t${id}`, ok), at }),
        () => ({ ...turn(ok), at }),
        () => signal("said", { text }, { at }),
        () => ({ ...usage, at }),
        () => signal("noise", { text }, { at }),
        () => signal("turn.started", { by: "x" }, { at }),
        () => ({ ...quota, at }),
        () => signal("message.taken", { handedAs: "m" }, { at }),
        () => signal("process.exited", { code: 0, signal: null, asked: ok }, { at }),
      ];
      return (make[pick] ?? make[0] ?? (() => usage))();
    });

  test("leaves a small pulse that counts every one and never goes back in time", () => {
    fc.assert(
      fc.property(fc.array(any, { maxLength: 200 }), (signals) => {
        let before = fresh;
        for (const one of signals) {
          const now = beat(before, one);
          expect(now.beats).toBe(before.beats + 1);
          expect(now.lastAt ?? 0).toBeGreaterThanOrEqual(before.lastAt ?? 0);
          expect(now.usage.costUsd).toBeGreaterThanOrEqual(before.usage.costUsd);
          expect(now.calls.length).toBeLessThanOrEqual(RECENT_CALLS);
          before = now;
        }
        expect(JSON.stringify(before).length).toBeLessThan(10_000);
      }),
      { numRuns: scaled(60) },
    );
  });

  test("sums do not depend on the order, and the same signals give the same pulse", () => {
    fc.assert(
      fc.property(fc.array(any, { maxLength: 60 }), (signals) => {
        const sums = ({ usage: spent, beats, turns, noise }: Pulse) => ({ ...spent, beats, turns, noise });
        expect(after(...signals)).toEqual(after(...signals));
        expect(sums(after(...signals.toReversed()))).toEqual(sums(after(...signals)));
      }),
      { numRuns: scaled(60) },
    );
  });
});

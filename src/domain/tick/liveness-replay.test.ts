/** REPLAY-1: how recorded signals are judged over time, and that another limit is another judgement, at another time. */
import { expect, test } from "bun:test";
import type { Signal, SignalData, SignalKind } from "#domain/signals/signal.ts";
import { attemptWith, LIMITS, MINUTE } from "../../../test/support/snapshots.ts";
import { assignmentWith } from "../../../test/support/tree.ts";
import { LivenessReplay, listStandstills } from "./liveness-replay.ts";

const BEGIN = 1_800_000_000_000;
const attempt = attemptWith({ createdAt: BEGIN, startedAt: BEGIN });
const limits = (idleMinutes: number) => ({ ...LIMITS, idleAfterMs: idleMinutes * MINUTE, graceMs: MINUTE });
const signal = <K extends SignalKind>(kind: K, minute: number, data: SignalData[K]): Signal =>
  ({ kind, source: `${kind}${minute}`, phase: kind, at: BEGIN + minute * MINUTE, data }) as Signal;
const said = (minute: number, text: string) => signal("said", minute, { text });

function changesUnder(idleMinutes: number, signals: readonly Signal[], until: number) {
  const replay = new LivenessReplay(attempt, assignmentWith(), limits(idleMinutes));
  for (const one of signals) replay.take(one);
  return replay
    .finish(BEGIN + until * MINUTE)
    .map(({ at, state, because }) => `${(at - BEGIN) / MINUTE} ${state} ${because}`);
}

const work = [signal("turn.started", 0, { by: "message" }), said(1, "I begin"), said(22, "I continue")];

test("REPLAY-1: silence is judged when the limit passes, not when the next signal comes", () => {
  expect(changesUnder(10, work, 25)).toEqual([
    ...["0 starting has-not-spoken", "1 working turn-in-flight", "11 silent no-activity", "22 working turn-in-flight"],
  ]);
});

test("REPLAY-1: under another limit it is judged at another time, or never", () => {
  expect(changesUnder(15, work, 25)).toContain("16 silent no-activity");
  expect(changesUnder(30, work, 25).filter((one) => one.includes("silent"))).toEqual([]);
});

test("LIVE-1: whoever says that something slow runs has more time", () => {
  const slow = [signal("turn.started", 0, { by: "message" }), said(1, "The tests are still running.")];
  expect(changesUnder(10, slow, 60).slice(-2)).toEqual([
    "11 working waits-for-something-slow",
    "31 silent no-activity",
  ]);
});

test("only what calls the ladder is a standstill", () => {
  const change = { at: 1, because: "x" };
  const all = (["working", "silent", "looping", "idle"] as const).map((state) => ({ ...change, state }));
  expect(listStandstills(all).map(({ state }) => state)).toEqual(["silent", "looping"]);
});

import { describe, expect, test } from "bun:test";
import type { DaemonEnding, Heartbeat, Intent, Registration } from "#domain/health/daemon-life.ts";
import { type DaemonSeen, type Expected, judgeHealth } from "./health.ts";

const LIMITS = { heartbeatTimeoutMs: 30_000, tickTimeoutMs: 360_000, stallAfterMs: 3_600_000 };
const registration: Registration = {
  ...{ pid: 7, start: "s", instance: "d_1", version: "1", socket: "/s", log: "/l", since: 1, supervision: true },
  ...{ auto: false, flags: {} },
};
const other: Registration = { ...registration, pid: 8, instance: "d_2" };
const beat = (open: boolean): Heartbeat => ({
  ...{
    instance: "d_1",
    at: 1,
    bootMs: 1,
    ticks: 1,
    tickedAt: 1,
    tickProblem: null,
    troubles: [],
    rings: [],
    configProblem: null,
  },
  ...{ hold: null, auto: null, work: { open, progressAt: 1 } },
});
const intent = (want: Intent["want"], at = 1): Intent => ({ want, at, by: "human:ada", reason: "a release" });
const ending = (change: Partial<DaemonEnding>): DaemonEnding => ({
  ...{ instance: "d_1", at: 2, reason: "asked to by SIGTERM", done: false, failure: null },
  ...change,
});
const WELL: DaemonSeen = {
  ...{ registration, alive: true, heartbeat: beat(true), ending: undefined, intent: intent("up"), faults: [] },
  ...{ still: { beatMs: 1, tickMs: 1, progressMs: 1 }, isDiskFull: false, strangeMs: 0 },
};
const EXPECTED: Expected = { registration, intentAt: 1 };
const still = (change: Partial<DaemonSeen["still"]>) => ({ still: { ...WELL.still, ...change } });
const fault = (event: string, failures = 0) => ({ faults: [{ event, detail: "it broke", failures }] });

describe("GUARD-1: how the daemon is, seen from outside", () => {
  const rows: readonly [string, Partial<DaemonSeen>, Expected | null, string][] = [
    ["it is well", {}, EXPECTED, "well"],
    ["none is there yet", { registration: undefined, alive: false }, null, "absent"],
    ["one is there before the guard", {}, null, "adopt"],
    ["somebody said down", { registration: undefined, alive: false, intent: intent("down") }, EXPECTED, "unwanted"],
    [
      "somebody says down, and it is on its way",
      { intent: intent("down"), ...still({ beatMs: 99_999 }) },
      EXPECTED,
      "well",
    ],
    ["FAIL-17: it is gone without a word", { alive: false }, EXPECTED, "vanished"],
    ["FAIL-17: gone with its registration", { registration: undefined, alive: false }, EXPECTED, "vanished"],
    ["FAIL-17: somebody ended it by a signal", { alive: false, ending: ending({}) }, EXPECTED, "vanished"],
    [
      "a word of an earlier life says nothing",
      { alive: false, ending: ending({ instance: "d_0", done: true }) },
      EXPECTED,
      "vanished",
    ],
    ["it is done", { alive: false, ending: ending({ done: true }) }, EXPECTED, "done"],
    [
      "FAIL-1: it ended by itself",
      { alive: false, ending: ending({ failure: { code: "POOL_FAILED", problem: "x" } }) },
      EXPECTED,
      "hard-failure POOL_FAILED",
    ],
    [
      "FAIL-27: another is there that nobody asked for",
      { registration: other, strangeMs: 3_000 },
      EXPECTED,
      "other-daemon",
    ],
    ["another is there, and its word may still come", { registration: other, strangeMs: 2_999 }, EXPECTED, "well"],
    ["a person has started another", { registration: other, intent: intent("up", 2) }, EXPECTED, "adopt"],
    ["FAIL-2: its heart stands still", still({ beatMs: 30_001 }), EXPECTED, "not-beating"],
    ["its heart is as old as it may be", still({ beatMs: 30_000 }), EXPECTED, "well"],
    ["DEAD-1: it beats and does not tick", still({ tickMs: 360_001 }), EXPECTED, "not-ticking"],
    [
      "FAIL-16: on a full disk neither means anything",
      { isDiskFull: true, ...still({ beatMs: 99_999, tickMs: 999_999 }) },
      EXPECTED,
      "well",
    ],
    ["FAIL-20: it repairs its store by itself", fault("store.damaged"), EXPECTED, "well"],
    ["FAIL-1: it is about to end, and says why itself", fault("auto.failed"), EXPECTED, "well"],
    ["it says that it is broken", fault("daemon.fault"), EXPECTED, "faults"],
    ["a loop that fails once tries again by itself", fault("loop.failed", 2), EXPECTED, "well"],
    ["a loop that keeps failing is broken", fault("loop.failed", 3), EXPECTED, "faults"],
    [
      "FAIL-16: what fails on a full disk is the disk",
      { isDiskFull: true, ...fault("heartbeat.failed") },
      EXPECTED,
      "well",
    ],
    ["GUARD-9: work, and nothing moves", still({ progressMs: 3_600_001 }), EXPECTED, "stalled"],
    [
      "GUARD-9: no stall while nothing is open",
      { heartbeat: beat(false), ...still({ progressMs: 9_999_999 }) },
      EXPECTED,
      "well",
    ],
    [
      "GUARD-9: nor while it is frozen",
      { intent: intent("frozen"), ...still({ progressMs: 9_999_999 }) },
      EXPECTED,
      "well",
    ],
  ];
  test.each(rows)("%s", (_name, change, expected, said) => {
    const health = judgeHealth({ ...WELL, ...change }, expected, LIMITS);
    const { state } = health;
    expect(state === "failed" ? `${health.failure.kind} ${health.failure.code ?? ""}`.trim() : state).toBe(said);
  });
});

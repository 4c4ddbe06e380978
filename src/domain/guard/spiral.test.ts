import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { scaled } from "../../../test/support/scale.ts";
import type { DaemonFailure, FailureKind } from "./health.ts";
import { decideAfterFailure, type FailureMemory, NO_FAILURES, noteHealthy } from "./spiral.ts";

const LIMITS = { cooldownMs: 60_000, stallRestarts: 3 };
const failure = (kind: FailureKind, code: string | null = null): DaemonFailure => ({ kind, code, detail: "It broke." });
const REMEDIATED: FailureMemory = { ...NO_FAILURES, remediated: true };

describe("GUARD-5: what is done about a failure", () => {
  const rows: readonly [string, FailureMemory, DaemonFailure, number, string][] = [
    ["the first is remediated, however fast", NO_FAILURES, failure("not-beating"), 0, "remediate"],
    ["again within the cooldown after one", REMEDIATED, failure("faults"), 59_999, "GUARD_SPIRAL"],
    ["after a healthy run it is the first again", REMEDIATED, failure("faults"), 60_000, "remediate"],
    ["a pool that fails is remediated", NO_FAILURES, failure("hard-failure", "POOL_FAILED"), 5, "remediate"],
    ["FAIL-21: a start that is refused too", NO_FAILURES, failure("not-started", "CONFIG_INVALID"), 0, "remediate"],
    [
      "FAIL-25: and again after a remediation is a spiral",
      REMEDIATED,
      failure("not-started", "CONFIG_INVALID"),
      0,
      "GUARD_SPIRAL",
    ],
    ["FAIL-17: one that vanished is restarted", NO_FAILURES, failure("vanished"), 0, "restart"],
    [
      "FAIL-17: twice within the cooldown is a spiral",
      { ...NO_FAILURES, vanished: 1 },
      failure("vanished"),
      10,
      "GUARD_SPIRAL",
    ],
    [
      "FAIL-17: twice with a healthy run between is not",
      { ...NO_FAILURES, vanished: 1 },
      failure("vanished"),
      60_000,
      "restart",
    ],
    ["GUARD-3: a stall is restarted, also after a remediation", REMEDIATED, failure("stalled"), 10, "restart"],
    [
      "GUARD-9: three in a row were enough",
      { ...NO_FAILURES, stalls: 3 },
      failure("stalled"),
      3_600_000,
      "GUARD_STALLED",
    ],
    [
      "FAIL-16: a full disk is waited out, and never a spiral",
      REMEDIATED,
      failure("hard-failure", "DISK_FULL"),
      0,
      "wait-for-room",
    ],
    [
      "FAIL-20: a damaged store comes up in safe mode",
      NO_FAILURES,
      failure("hard-failure", "STATE_CORRUPT"),
      0,
      "restart",
    ],
    [
      "where there is nothing to work on nobody can help",
      NO_FAILURES,
      failure("not-started", "NO_SOURCE_OF_WORK"),
      0,
      "NO_SOURCE_OF_WORK",
    ],
    ["FAIL-27: another daemon is remediated", NO_FAILURES, failure("other-daemon"), 0, "remediate"],
  ];
  test.each(rows)("%s", (_name, memory, failed, ranMs, expected) => {
    const verdict = decideAfterFailure(memory, failed, ranMs, LIMITS);
    expect(verdict.act === "give-up" ? verdict.code : verdict.act).toBe(expected);
  });

  test("GUARD-5: a healthy run resets; progress alone ends a row of stalls", () => {
    const bad: FailureMemory = { remediated: true, vanished: 1, stalls: 2 };
    expect(noteHealthy(bad, { ranMs: 59_999, progressed: false }, LIMITS)).toEqual(bad);
    expect(noteHealthy(bad, { ranMs: 59_999, progressed: true }, LIMITS)).toEqual({ ...bad, stalls: 0 });
    expect(noteHealthy(bad, { ranMs: 60_000, progressed: false }, LIMITS)).toEqual({ ...NO_FAILURES, stalls: 2 });
  });
});

const KINDS: readonly FailureKind[] = [
  "vanished",
  "hard-failure",
  "not-started",
  "not-beating",
  "not-ticking",
  "faults",
  "other-daemon",
  "stalled",
];

test("GUARD-5: over any course of failures, a spiral never comes before a remediation or a restart, and the row of tries is bounded", () => {
  const course = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 120_000 }), fc.boolean()), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(course, (failures) => {
      let memory = NO_FAILURES;
      let triedSinceHealthy = 0;
      for (const [kind, ranMs, progressed] of failures) {
        memory = noteHealthy(memory, { ranMs, progressed }, LIMITS);
        if (ranMs >= LIMITS.cooldownMs) triedSinceHealthy = 0;
        const verdict = decideAfterFailure(memory, failure(kind), ranMs, LIMITS);
        if (verdict.act === "give-up") {
          // The invariant of the seed: something was tried first.
          if (verdict.code === "GUARD_SPIRAL") expect(triedSinceHealthy).toBeGreaterThan(0);
          return;
        }
        if (kind !== "stalled" && kind !== "vanished") expect(verdict.act).toBe("remediate");
        triedSinceHealthy += kind === "stalled" ? 0 : 1;
        expect(triedSinceHealthy).toBeLessThanOrEqual(2);
        memory = "memory" in verdict ? verdict.memory : memory;
      }
    }),
    { numRuns: scaled(500) },
  );
});

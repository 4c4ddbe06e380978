import { describe, expect, test } from "bun:test";
import { judgeFleet } from "#domain/tick/judge.ts";
import { barsFor } from "#domain/tick/ladder.ts";
import type { Snapshot } from "#domain/tick/snapshot.ts";
import {
  attemptWith,
  LIMITS,
  MINUTE,
  NOW,
  pulseWith,
  recoveryWith,
  silentFor,
  working,
} from "../../../test/support/snapshots.ts";
import { assignmentWith } from "../../../test/support/tree.ts";
import type { Freshness } from "./freshness.ts";
import type { AgentHealth } from "./health.ts";
import { evaluateHealth, findCauseForTick, hasChanged, isSameHealth, noteChange } from "./health.ts";

function healthIn(
  snapshot: Snapshot,
  parts: { freshness?: Freshness; budgetSpent?: boolean; before?: AgentHealth } = {},
): AgentHealth {
  const { scene, judged } = judgeFleet(snapshot);
  const [seen] = scene.agents;
  const judgement = seen && judged.get(seen.attempt.attempt);
  if (!seen || !judgement) throw new Error("Nobody is there.");
  const about = {
    ...{ seen, judgement, quiet: null, freshness: "fresh" as const, budgetSpent: false, before: undefined },
    assignment: scene.assignment(seen.attempt.assignmentId),
    recovery: scene.findRecovery(seen.attempt),
    ...parts,
  };
  const { patienceMs } = scene.limitsFor(seen.attempt);
  return evaluateHealth(about, snapshot.now, { ladder: LIMITS.ladder, patienceMs, bars: barsFor(scene, seen) });
}

const GONE = { source: "process", says: "gone", at: NOW, reliability: "proof" } as const;
const stuck = (steps: Partial<ReturnType<typeof recoveryWith>["steps"]>, more = {}) =>
  working(
    { pulse: silentFor(60 * MINUTE) },
    { recoveries: [recoveryWith({ steps: { ...recoveryWith().steps, ...steps }, level: 1, ...more })] },
  );
const CALLS = [1, 2, 3].map((id) => ({
  ...{ tool: "Bash", argsHash: "a", ok: false, errorClass: "e", ms: 5, id: `${id}`, result: "r" },
}));

describe("HEALTH-2, WATCH-1: our word, the older one beside it, and what follows", () => {
  test.each([
    ["in a turn", working({ pulse: pulseWith({ inTurn: true }) }), "working", "working", "continue"],
    ["being started", working({ attempt: attemptWith({ status: "starting" }) }), "starting", "booting", "continue"],
    ["silent for an hour", working({ pulse: silentFor(60 * MINUTE) }), "silent", "stalled", "nudge"],
    ["in a circle", working({ pulse: pulseWith({ inTurn: true, calls: CALLS }) }), "looping", "stalled", "nudge"],
    ["dead by proof", working({ evidence: [GONE] }), "dead", "zombie", "escalate"],
    ["paused", working({ attempt: attemptWith({ status: "paused" }) }), "waiting", "working", "continue"],
  ] as const)("%s", (_what, snapshot, status, phase, recommendation) => {
    expect(healthIn(snapshot)).toMatchObject({ status, phase, recommendation });
  });

  test("the sentence is plain, and says what is next where it is stuck", () => {
    expect(healthIn(working({ pulse: pulseWith({ inTurn: true }) })).diagnosis).toBe("It is in a turn.");
    expect(healthIn(working({ pulse: silentFor(60 * MINUTE) })).diagnosis).toBe(
      "It is in a turn and has done nothing for longer than it may be silent; a hint is next.",
    );
    expect(healthIn(working({ evidence: [GONE] })).diagnosis).toContain("It is dead: its process is gone");
  });

  test("STATUS-1: one that has moved again says that its task is still stalled, as status does, and what would be next", () => {
    const moved = { attempt: attemptWith(), pulse: pulseWith({ inTurn: true }) };
    const stalled = { assignments: [assignmentWith({ status: "stalled", statusReason: "no-activity" })] };
    const hinted = { recoveries: [recoveryWith({ steps: { ...recoveryWith().steps, hint: 1 }, level: 1 })] };
    expect(healthIn(working(moved, { ...stalled, ...hinted })).diagnosis).toBe(
      "It is in a turn. Its task counts as stalled until the next tick; a warning is next if it falls silent again.",
    );
    const before = healthIn(working(moved, { ...stalled, ...hinted }));
    expect(isSameHealth(before, healthIn(working(moved, hinted), { before }))).toBe(false);
  });

  test("proof is certain, weak signs are not, and what is stale is less sure than what is fresh", () => {
    const turn = working({ pulse: pulseWith({ inTurn: true }) });
    const sure = (freshness: Freshness) => healthIn(turn, { freshness }).confidence;
    expect(healthIn(working({ evidence: [GONE] })).confidence).toBe(1);
    expect(sure("fresh")).toBeGreaterThan(sure("stale"));
    expect(sure("stale")).toBeGreaterThan(sure("very-stale"));
    for (const freshness of ["fresh", "stale", "very-stale", "unknown"] as const) {
      expect(sure(freshness)).toBeGreaterThan(0);
      expect(sure(freshness)).toBeLessThanOrEqual(1);
    }
  });

  test("NUDGE-1: a hint, two warnings, two last warnings; five in all, then the next rung, and progress begins anew", () => {
    const severities = [
      healthIn(stuck({})),
      healthIn(stuck({ hint: 1 })),
      healthIn(stuck({ hint: 1, warning: 1 })),
      healthIn(stuck({ hint: 1, warning: 2 })),
      healthIn(stuck({ hint: 1, warning: 2, critical: 1 })),
    ];
    expect(severities.map(({ nextNudge, nudges }) => [nudges, nextNudge])).toEqual([
      [0, "hint"],
      [1, "warning"],
      [2, "warning"],
      [3, "critical"],
      [4, "critical"],
    ]);
    const after = healthIn(stuck({ hint: 1, warning: 2, critical: 2 }));
    expect([after.nudges, after.nextNudge, after.next]).toEqual([5, null, "resend"]);
    const spent = { hint: 1, warning: 2, critical: 2, resend: 9, replan: 9, reassign: 9 };
    expect(healthIn(stuck(spent))).toMatchObject({ next: "pause", recommendation: "pause" });
    expect(healthIn(stuck({}, { level: 0 }))).toMatchObject({ nudges: 0, nextNudge: "hint" });
  });

  test("abort only after an ignored pause and a spent budget", () => {
    const all = { hint: 9, warning: 9, critical: 9, resend: 9, replan: 9, reassign: 9, pause: 9 };
    expect(healthIn(stuck(all)).recommendation).toBe("escalate");
    expect(healthIn(stuck({ ...all, pause: 0 }), { budgetSpent: true }).recommendation).toBe("pause");
    expect(healthIn(stuck(all), { budgetSpent: true }).recommendation).toBe("abort");
  });

  test("the tick is called for where the ladder may act now, and not before the last step has had its time", () => {
    const ready = stuck({});
    const waiting = stuck({ hint: 1 }, { lastStepAt: NOW, backoffUntil: NOW + MINUTE, cause: "no-activity" });
    const called = (snapshot: Snapshot) => {
      const health = healthIn(snapshot);
      const judgement = [...judgeFleet(snapshot).judged.values()][0];
      return judgement && findCauseForTick(health, null, judgement);
    };
    expect(called(ready)).toBe("no-activity");
    expect(called(waiting)).toBeUndefined();
    expect(healthIn(waiting).nextAt).toBeGreaterThan(NOW);
    expect(called(working({ evidence: [GONE] }))).toBe("proven-by-process");
    expect(called(working({ pulse: pulseWith({ inTurn: true }) }))).toBeUndefined();
  });

  test("what says the same as before is no change, and keeps since when", () => {
    const before = healthIn(working({ pulse: pulseWith({ inTurn: true }) }));
    const later = healthIn({ ...working({ pulse: pulseWith({ inTurn: true }) }), now: NOW + 1_000 }, { before });
    expect([hasChanged(before, later), isSameHealth(before, later), later.since]).toEqual([false, true, before.since]);
    const dead = healthIn({ ...working({ evidence: [GONE] }), now: NOW + 2_000 }, { before });
    expect([hasChanged(before, dead), isSameHealth(before, dead), dead.since]).toEqual([true, false, NOW + 2_000]);
    expect(noteChange(dead, before)).toMatchObject({ was: "working", status: "dead", at: NOW + 2_000 });
    const stale = healthIn(
      { ...working({ pulse: pulseWith({ inTurn: true }) }), now: NOW + 1_000 },
      { before, freshness: "stale" },
    );
    expect([hasChanged(before, stale), isSameHealth(before, stale)]).toEqual([false, false]);
  });

  test("WATCH-1: going from one call to the next is kept, and is no line of the history", () => {
    const before = healthIn(working({ pulse: pulseWith({ inTurn: true }) }));
    const calls = [{ tool: "Bash", argsHash: "a", ok: null, errorClass: null, ms: null, id: "t" }];
    const inTool = { ...working({ pulse: pulseWith({ inTurn: true, calls }) }), now: NOW + 1_000 };
    const later = healthIn(inTool, { before });
    expect([later.status, hasChanged(before, later), isSameHealth(before, later)]).toEqual([
      "tool-running",
      false,
      false,
    ]);
  });
});

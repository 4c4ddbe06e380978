/** What holds for the watch on any fleet: it says what the tick says, and blind it touches nobody who waits. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { decide } from "#domain/tick/decide.ts";
import { judgeFleet } from "#domain/tick/judge.ts";
import { decideByThreshold } from "#domain/watch/degraded.ts";
import { scaled } from "../support/scale.ts";
import { MINUTE } from "../support/snapshots.ts";
import { anyFleet } from "./fleets.ts";

const RUNS = { numRuns: scaled(300) };
const LIMITS = { staleAfterMs: 2 * MINUTE, veryStaleAfterMs: 5 * MINUTE };

test("WATCH-1, HEALTH-2: the watch judges as the tick does, but for whom the tick has only just asked for something", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      const { judged, actions } = decide(fleet);
      const watched = judgeFleet(fleet).judged;
      const nodesAskedFor = new Set(actions.map(({ goalId, nodeId }) => `${goalId}/${nodeId}`));
      for (const { attempt } of fleet.agents) {
        const byTick = judged.get(attempt.attempt);
        const isAskedFor =
          actions.some((action) => action.attempt === attempt.attempt) ||
          nodesAskedFor.has(`${attempt.goalId}/${attempt.workNodeId}`);
        if (byTick && !isAskedFor && fleet.actions.length === 0) expect(watched.get(attempt.attempt)).toEqual(byTick);
      }
    }),
    RUNS,
  );
});

test("DEGR-1: blind, it gives hints and pauses and nothing else, and touches nobody who waits, is paused or is exempt", () => {
  fc.assert(
    fc.property(anyFleet, fc.integer({ min: 0, max: 100 * MINUTE }), (fleet, quietMs) => {
      const { judged } = judgeFleet(fleet);
      for (const { attempt } of fleet.agents) {
        const bare = { attempt: attempt.attempt, quietMs, inFlight: false, fingerprint: undefined };
        const events = decideByThreshold(fleet, bare, LIMITS);
        if (events.length === 0) continue;
        expect(attempt.status).toBe("running");
        expect(attempt.exempt?.supervision).toBeUndefined();
        expect(judged.get(attempt.attempt)?.because).not.toBe("question-open");
        const types = events.map((event) => event.type);
        expect(["assignment.nudged", "assignment.parked"]).toContain(types[0] ?? "");
        expect(types.slice(1)).toEqual(["action.decided"]);
        expect(quietMs).toBeGreaterThanOrEqual(LIMITS.staleAfterMs);
      }
    }),
    RUNS,
  );
});

/** What holds for the tick's decision on any fleet. A failure prints its seed and the smallest fleet that shows it. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { takesPlace } from "#domain/agents/places.ts";
import { backoffMs } from "#domain/core/backoff.ts";
import { isDispatch } from "#domain/model/ladder-state.ts";
import { nodeKey } from "#domain/model/work.ts";
import { decide } from "#domain/tick/decide.ts";
import { judgeLiveness } from "#domain/tick/liveness.ts";
import type { Snapshot } from "#domain/tick/snapshot.ts";
import { scaled } from "../support/scale.ts";
import { applied, LIMITS, MINUTE, NOW, recoveryWith, seenWith, silentFor, working } from "../support/snapshots.ts";
import { assignmentWith } from "../support/tree.ts";
import { anyEvidence, anyFleet } from "./fleets.ts";

const RUNS = { numRuns: scaled(300) };

test("TICK-1: the same snapshot leads to the same events and actions, and never to an error", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      expect(decide(fleet)).toEqual(decide(structuredClone(fleet)));
    }),
    RUNS,
  );
});

test("TICK-1: it does not matter in which order the fleet was gathered", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      expect(decide(reversed(fleet)).events).toEqual(decide(fleet).events);
    }),
    RUNS,
  );
});

function reversed(fleet: Snapshot): Snapshot {
  return {
    ...fleet,
    goals: fleet.goals.toReversed(),
    nodes: fleet.nodes.toReversed(),
    assignments: fleet.assignments.toReversed(),
    agents: fleet.agents.toReversed().map((seen) => ({ ...seen, evidence: seen.evidence.toReversed() })),
    ended: fleet.ended.toReversed(),
    recoveries: fleet.recoveries.toReversed(),
    conditions: fleet.conditions.toReversed(),
    actions: fleet.actions.toReversed(),
    questions: fleet.questions.toReversed(),
    claims: fleet.claims.toReversed(),
    news: fleet.news.toReversed(),
  };
}

test("TICK-3: deciding again on the world that follows asks for nothing new", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      const first = decide(fleet);
      const second = decide({ ...applied(fleet, first), skippedMs: 0 });
      if (fleet.skippedMs > 0 && !fleet.frozen) return;
      expect(second.events.filter((event) => event.type !== "overseer.tick")).toEqual([]);
      expect(second.actions).toEqual([]);
    }),
    RUNS,
  );
});

test("TICK-1: every event and every action says because of what", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      const { events, actions } = decide(fleet);
      for (const { because } of [...events, ...actions]) expect(because).toMatch(/^\S/);
      expect(new Set(actions.map((action) => action.actionId)).size).toBe(actions.length);
    }),
    RUNS,
  );
});

test("GOAL-3, GOAL-5: nothing is dispatched for a goal that is not active, nor beyond the caps", () => {
  fc.assert(
    fc.property(anyFleet, (fleet) => {
      const active = new Set(fleet.goals.filter((goal) => goal.status === "active").map((goal) => goal.goalId));
      const given = decide(fleet).actions.filter((action) => isDispatch(action.kind));
      for (const { goalId } of given) expect(active).toContain(goalId ?? "");
      const starts = given.filter((action) => action.kind !== "reassign");
      const nodes = new Map(fleet.nodes.map((node) => [nodeKey(node.goalId, node.workNodeId), node]));
      const atWork = fleet.agents.filter(({ attempt, pulse }) => {
        const node = nodes.get(nodeKey(attempt.goalId, attempt.workNodeId));
        return takesPlace({ attempt, node, cutOff: (pulse?.quotaAt ?? null) !== null });
      });
      const room = Math.max(0, fleet.limits.fleet.maxConcurrent - atWork.length);
      expect(starts.length).toBeLessThanOrEqual(room);
    }),
    RUNS,
  );
});

test("FREEZE-1, CONF-3: a frozen fleet, safe mode and a switched-off tick only record that they looked", () => {
  fc.assert(
    fc.property(anyFleet, fc.constantFrom("frozen", "safeMode", "off"), (fleet, how) => {
      const limits = { ...fleet.limits, enabled: how !== "off" };
      const { events } = decide({ ...fleet, limits, frozen: how === "frozen", safeMode: how === "safeMode" });
      expect(events.map((event) => event.type)).toEqual(["overseer.tick"]);
    }),
    RUNS,
  );
});

test("LIVE-1: nothing is ended on one weak sign, whatever else is true", () => {
  fc.assert(
    fc.property(anyFleet, anyEvidence, (fleet, sign) => {
      const weak = { ...sign, says: "gone" as const, reliability: "weak" as const };
      const agents = fleet.agents.map((seen) => ({ ...seen, quietMs: 0, evidence: [weak] }));
      const { judged } = decide({ ...fleet, agents });
      expect([...judged.values()].map((one) => one.state)).not.toContain("dead");
    }),
    RUNS,
  );
});

test("LIVE-1: doubt is bounded: unchanged signs are believed or set aside", () => {
  fc.assert(
    fc.property(fc.array(anyEvidence, { maxLength: 5 }), (evidence) => {
      const about = {
        seen: seenWith({ evidence, pulse: silentFor(MINUTE) }),
        assignment: assignmentWith(),
        asking: false,
        quotaUntil: null,
        providerFails: false,
        sharesSilence: false,
        claimed: false,
        expecting: false,
        answeredAt: null,
        doubt: null,
        rebasedAt: 0,
      };
      const limits = { ...LIMITS, graceMs: LIMITS.ladder.patienceMs };
      const first = judgeLiveness(about, NOW, limits);
      if (first.state !== "detecting") return;
      const later = NOW + limits.graceMs;
      expect(judgeLiveness({ ...about, doubt: { key: first.key, since: NOW } }, later, limits).state).not.toBe(
        "detecting",
      );
    }),
    RUNS,
  );
});

test("LADDER-2: the wait never shrinks and stays under its limit", () => {
  fc.assert(
    fc.property(fc.nat({ max: 100 }), fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }), (n, a, b) => {
      const backoff = { baseMs: Math.min(a, b), maxMs: Math.max(a, b) };
      expect(backoffMs(n + 1, backoff)).toBeGreaterThanOrEqual(backoffMs(n, backoff));
      expect(backoffMs(n, backoff)).toBeLessThanOrEqual(backoff.maxMs);
    }),
    RUNS,
  );
});

test("LADDER-1, LADDER-2, NUDGE-1, FAIL-7: an agent that never reacts is nudged five times and no more, ever more seldom, and then a person is asked", () => {
  let world = working({ pulse: silentFor(60 * MINUTE) });
  const steps: { type: string; at: number; until: number }[] = [];
  for (let now = NOW; now < NOW + 48 * 60 * MINUTE; now += MINUTE) {
    const at = { ...world, now };
    const decided = decide(at);
    for (const event of decided.events) {
      if (!("backoffUntil" in event.data) || event.data.backoffUntil === null) continue;
      const type = event.type === "assignment.nudged" ? event.data.severity : event.type.slice("assignment.".length);
      steps.push({ type, at: now, until: event.data.backoffUntil });
    }
    world = carriedOut(applied(at, decided, now), decided.actions, now);
    if (world.questions.length > 0) break;
  }
  expect(steps.map((step) => step.type)).toEqual([
    ...["hint", "warning", "warning", "critical", "critical", "resent", "resent"],
    ...["reassigning", "reassigning", "parked", "parked", "escalated"],
  ]);
  const waits = steps.map((step) => step.until - step.at);
  expect(waits.toSorted((a, b) => a - b)).toEqual(waits);
  expect(Math.max(...waits)).toBe(30 * MINUTE);
});

/** An outbox that does everything at once, and an agent to whom none of it matters. */
function carriedOut(world: Snapshot, actions: ReturnType<typeof decide>["actions"], now: number): Snapshot {
  let { agents } = world;
  const questions = [...world.questions];
  for (const action of actions) {
    if (action.kind === "pause") agents = agents.map((seen) => paused(seen, "recovery", now));
    if (action.kind === "resume") agents = agents.map((seen) => paused(seen, null, now));
    if (action.kind === "ask") {
      const { questionId, text, options } = action.payload;
      const ids = { questionId, goalId: "goal_A", workNodeId: "T1", assignmentId: "A_1" };
      questions.push({
        ...ids,
        text,
        options,
        status: "open",
        answer: null,
        askedBy: "overseer",
        askedAt: now,
        notices: [],
        round: 0,
        roundAt: 0,
        acknowledgedBy: null,
        acknowledgedAt: null,
        endedAt: null,
      });
    }
  }
  return { ...world, agents, questions, actions: [], lately: actions.map((action) => action.actionId) };
}

function paused(seen: Snapshot["agents"][number], because: string | null, now: number): Snapshot["agents"][number] {
  const status = because ? "paused" : "running";
  return { ...seen, attempt: { ...seen.attempt, status, pausedBecause: because, updatedAt: now } };
}

test("LADDER-1, NUDGE-1: budgets come back with evidence of progress, and with nothing else", () => {
  const recovery = recoveryWith({
    level: 3,
    total: 3,
    lastStepAt: NOW - 60 * MINUTE,
    backoffUntil: NOW - 30 * MINUTE,
    steps: { hint: 1, warning: 2, critical: 0, resend: 0, replan: 0, reassign: 0, pause: 0, ask: 0 },
  });
  const talk = { source: "agent", says: "active", at: NOW - 1_000, reliability: "strong" } as const;
  const commit = { source: "commit", says: "progress", at: NOW - 1_000, reliability: "strong" } as const;
  for (const [evidence, back] of [
    [talk, false],
    [commit, true],
  ] as const) {
    const world = working({ evidence: [evidence] }, { recoveries: [recovery] });
    const after = applied(world, decide(world)).recoveries[0];
    expect(after?.level).toBe(back ? 0 : 3);
    expect(after?.steps.warning).toBe(back ? 0 : 2);
  }
});

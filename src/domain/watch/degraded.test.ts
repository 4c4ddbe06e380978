import { describe, expect, test } from "bun:test";
import type { Attempt } from "#domain/model/attempt.ts";
import { NO_MESSAGES, type Snapshot } from "#domain/tick/snapshot.ts";
import { attemptWith, MINUTE, NOW, recoveryWith, working } from "../../../test/support/snapshots.ts";
import { assignmentWith } from "../../../test/support/tree.ts";
import { decideByThreshold, judgeByThreshold } from "./degraded.ts";

const LIMITS = { staleAfterMs: 2 * MINUTE, veryStaleAfterMs: 5 * MINUTE };
const QUIET = { inFlight: false, fingerprint: undefined };

describe("DEGR-1: thresholds only", () => {
  test.each([
    ["nothing is known of it", { ...QUIET, quietMs: null }, undefined],
    ["it is fresh", { ...QUIET, quietMs: MINUTE }, undefined],
    ["it is stale", { ...QUIET, quietMs: 3 * MINUTE }, "hint"],
    ["it is silent for longer than it may", { ...QUIET, quietMs: 10 * MINUTE }, "pause"],
    ["the same, and it is the one nobody can see", { ...QUIET, quietMs: 10 * MINUTE, isPulseUnusable: true }, "hint"],
    ["something of it is in flight", { ...QUIET, quietMs: 60 * MINUTE, inFlight: true }, undefined],
    [
      "its last words ask a person",
      { ...QUIET, quietMs: 60 * MINUTE, fingerprint: { class: "waiting-on-human", words: "Which?" } as const },
      undefined,
    ],
  ] as const)("%s", (_what, about, expected) => {
    expect(judgeByThreshold(about, 10 * MINUTE, LIMITS)).toBe(expected);
  });

  const decided = (snapshot: Snapshot, quietMs: number) =>
    decideByThreshold(snapshot, { attempt: 1, quietMs, ...QUIET }, LIMITS).map(({ type }) => type);
  const of = (attempt: Partial<Attempt>, more: Partial<Snapshot> = {}) =>
    working({ attempt: attemptWith(attempt), pulse: null }, more);

  test("through the ladder's own events: a hint, then a pause", () => {
    expect(decided(of({}), 3 * MINUTE)).toEqual(["assignment.nudged", "action.decided"]);
    expect(decided(of({}), 60 * MINUTE)).toEqual(["assignment.parked", "action.decided"]);
  });

  test("within the ladder's budgets, and not before its last step has had its time", () => {
    const hinted = { recoveries: [recoveryWith({ steps: { ...recoveryWith().steps, hint: 1 } })] };
    expect(decided(of({}, hinted), 3 * MINUTE)).toEqual([]);
    const justNow = { recoveries: [recoveryWith({ lastStepAt: NOW, backoffUntil: NOW + MINUTE })] };
    expect(decided(of({}, justNow), 60 * MINUTE)).toEqual([]);
  });

  const waiting = (since: number) => ({ queued: 1, handed: 0, unseen: [], since });
  test.each([
    ["was answered just now", of({}), waiting(NOW - MINUTE), []],
    ["was answered long ago", of({}), waiting(NOW - 30 * MINUTE), ["assignment.parked", "action.decided"]],
    ["went on just now after a pause", of({ resumedAt: NOW - MINUTE }), undefined, []],
    ["went on a while ago", of({ resumedAt: NOW - 3 * MINUTE }), undefined, ["assignment.nudged", "action.decided"]],
    ["went on long ago", of({ resumedAt: NOW - 30 * MINUTE }), undefined, ["assignment.parked", "action.decided"]],
  ] as const)("the silence of one that %s counts from then", (_what, snapshot, inbox, expected) => {
    const agents = snapshot.agents.map((seen) => (inbox ? { ...seen, waiting: inbox } : seen));
    expect(decided({ ...snapshot, agents }, 60 * MINUTE)).toEqual([...expected]);
  });

  const blocked = assignmentWith({ status: "blocked" });
  const open = { questionId: "q_1", goalId: "goal_A", workNodeId: "T1", status: "open" };
  const questions = [open] as unknown as Snapshot["questions"];
  const deliver = { actionId: "deliver:1", kind: "deliver", attempt: 1, status: "pending" };
  const actions = [deliver] as unknown as Snapshot["actions"];
  test.each([
    ["is paused", of({ status: "paused" })],
    ["is told to stop", of({ stopRequested: { at: NOW, reason: null } as unknown as Attempt["stopRequested"] })],
    ["is at a person's screen", of({ interactive: true })],
    ["is younger than it is judged from", of({ startedAt: NOW - 1_000 })],
    ["waits for a person", of({}, { assignments: [blocked] })],
    ["has a question open", of({}, { questions })],
    ["is about to be told something", of({}, { actions })],
    ["is exempt from supervision", of({ exempt: { supervision: "sling" } })],
    ["met what only a person can solve", of({ blocker: { what: "signing", fact: "gpg failed", at: NOW - MINUTE } })],
    ["goes on only since a minute", of({ resumedAt: NOW - MINUTE })],
    ["was answered a minute ago", of({}, { recoveries: [recoveryWith({ answeredAt: NOW - MINUTE })] })],
    ["has a minute-old message to read", working({ pulse: null, waiting: { ...NO_MESSAGES, since: NOW - MINUTE } })],
  ])("nobody touches one that %s", (_what, snapshot) => {
    expect(decided(snapshot, 60 * MINUTE)).toEqual([]);
  });

  test("what is to come by a clock that was set back explains no silence", () => {
    expect(decided(of({ resumedAt: NOW + 60 * MINUTE }), 60 * MINUTE)).toEqual(["assignment.parked", "action.decided"]);
  });

  test("nothing is said to one that is spared; it is paused like everybody", () => {
    const spared = of({ exempt: { nudges: "role" } });
    expect(decided(spared, 3 * MINUTE)).toEqual([]);
    expect(decided(spared, 60 * MINUTE)).toEqual(["assignment.parked", "action.decided"]);
  });
});

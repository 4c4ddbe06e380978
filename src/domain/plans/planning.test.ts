/** PLAN-1, GOAL-2: from the wish for a plan to the proposal, as the log tells it. */
import { describe, expect, test } from "bun:test";
import type { EventOf, NewEvent } from "#domain/model/event.ts";
import { applyToGoal, type Goal, type Proposal } from "#domain/model/goal.ts";
import { goalOf } from "../../../test/support/tree.ts";
import { dropPlan, failPlan, findOutdated, holdPlan, proposePlan, requestPlan, waitAfterNoAnswer } from "./planning.ts";

const moment = { now: 1_000, actor: "human:ada" } as const;
const WANTED = { remark: null, scout: false, accept: "person" } as const;
const PROPOSAL: Proposal = {
  source: "model",
  model: "opus",
  promptId: "plan-goal",
  promptHash: "abc",
  rejected: ["It is not one JSON object."],
  change: "first plan",
  nodeCount: 2,
  raw: "{}",
  base: 0,
};

function fold(goal: Goal, ...events: readonly NewEvent[]): Goal {
  return events.reduce(
    (state, event, index) =>
      applyToGoal(state, { ...event, seq: index + 1, at: moment.now + index, v: 1 } as EventOf) ?? state,
    goal,
  );
}

function want(goal: Goal): Goal {
  const decided = requestPlan(goal, WANTED, moment);
  if (!decided.ok) throw new Error(decided.refusal.message);
  return fold(goal, ...decided.events);
}

describe("PLAN-1: a plan that a model is asked for", () => {
  test("a wish is numbered, and is one action", () => {
    const decided = requestPlan(goalOf(), WANTED, moment);
    if (!decided.ok) throw new Error(decided.refusal.message);
    expect(decided.events.map(({ type }) => type)).toEqual(["plan.wanted", "action.decided"]);
    expect(decided.events[1]?.data).toMatchObject({ kind: "plan", payload: { number: 1 } });
    expect(want(goalOf()).planning).toMatchObject({ number: 1, status: "wanted", proposal: null });
  });

  test("no second one while the first is under way; a new one after it failed, was proposed or dropped", () => {
    const wanted = want(goalOf());
    const waits = fold(wanted, holdPlan(wanted.goalId, 1, { detail: "no quota", until: 9_000 }, moment));
    for (const goal of [wanted, waits]) {
      expect(requestPlan(goal, WANTED, moment)).toMatchObject({ ok: false, refusal: { code: "PLANNING_UNDER_WAY" } });
    }
    const failure = { problems: ["it has a cycle"], rejected: [], logPath: "/log" };
    const ended = [
      fold(wanted, failPlan(wanted.goalId, 1, failure, moment)),
      fold(wanted, proposePlan(wanted.goalId, 1, PROPOSAL, moment)),
      fold(wanted, ...eventsOf(dropPlan(wanted, null, moment))),
    ];
    expect(ended.map((goal) => want(goal).planning?.number)).toEqual([2, 2, 2]);
  });

  test("what waits says until when, and since when it waits at all", () => {
    const wanted = want(goalOf());
    const first = fold(wanted, holdPlan(wanted.goalId, 1, { detail: "no quota", until: 9_000 }, moment));
    const again = fold(
      first,
      holdPlan(wanted.goalId, 1, { detail: "no quota", until: 19_000 }, { ...moment, now: 9_000 }),
    );
    expect(again.planning).toMatchObject({ status: "waits", detail: "no quota", until: 19_000, since: 1_000 });
  });

  test("an answer to another asking changes nothing", () => {
    const wanted = want(goalOf());
    expect(fold(wanted, proposePlan(wanted.goalId, 7, PROPOSAL, moment)).planning).toEqual(wanted.planning ?? null);
  });

  test("the next asking has the last proposal, as the person left it, until one is accepted", () => {
    const wanted = want(goalOf());
    const proposed = fold(wanted, proposePlan(wanted.goalId, 1, { ...PROPOSAL, raw: "edited" }, moment));
    const again = want(proposed);
    expect(again.planning).toMatchObject({ number: 2, proposal: null, last: "edited" });
    const failure = { problems: ["it has a cycle"], rejected: [], logPath: "/log" };
    expect(want(fold(again, failPlan(wanted.goalId, 2, failure, moment))).planning?.last).toBe("edited");
  });

  test("GOAL-2: a proposal keeps where it came from, and ends with the accepted revision", () => {
    const wanted = want(goalOf());
    const proposed = fold(wanted, proposePlan(wanted.goalId, 1, PROPOSAL, moment));
    expect(proposed.planning?.proposal).toEqual(PROPOSAL);
    const { base: _base, ...revision } = PROPOSAL;
    const data = { ...revision, revision: 1 };
    const accepted = { type: "plan.accepted", actor: "human:ada", goalId: wanted.goalId, because: "planned", data };
    expect(fold(proposed, accepted as NewEvent).planning).toBeNull();
  });

  test.each<[string, (goal: Goal) => Goal | undefined, number, number, RegExp | undefined]>([
    ["as it was asked for", (goal) => goal, 1, 0, undefined],
    ["the goal is gone", () => undefined, 1, 0, /gone/],
    ["the goal was cancelled", (goal) => ({ ...goal, status: "cancelled" }), 1, 0, /cancelled/],
    ["another was asked for", (goal) => goal, 2, 0, /another plan/],
    ["it was dropped", (goal) => ({ ...goal, planning: null }), 1, 0, /dropped/],
    [
      "made on an older revision",
      (goal) => ({ ...goal, plan: [{ ...PROPOSAL, revision: 1, at: 0 }] }),
      1,
      0,
      /revision 1/,
    ],
    [
      "failed already",
      (goal) => fold(goal, failPlan(goal.goalId, 1, { problems: [], rejected: [], logPath: "" }, moment)),
      1,
      0,
      /failed/,
    ],
    ["proposed already", (goal) => fold(goal, proposePlan(goal.goalId, 1, PROPOSAL, moment)), 1, 0, /already/],
  ])("whether it still fits: %s", (_name, change, number, base, why) => {
    const found = findOutdated(change(want(goalOf())), number, base);
    if (why === undefined) expect(found).toBeUndefined();
    else expect(found).toMatch(why);
  });

  test("the end of an older asking does not end a newer one", () => {
    const wanted = want(goalOf());
    const dropped = { type: "plan.dropped", actor: "overseer", goalId: wanted.goalId, because: "x" };
    const event = { ...dropped, data: { number: 7, reason: null } } as NewEvent;
    expect(fold(wanted, event).planning).toEqual(wanted.planning ?? null);
  });

  test.each([
    ["unreached", 0, 30_000],
    ["unreached", 3, 240_000],
    ["unreached", 99, 1_800_000],
    ["too-slow", 0, 30_000],
    ["too-slow", 1, 60_000],
    ["too-slow", 2, undefined],
  ] as const)("nobody answered (%s, %d times before): asked again after %p", (how, before, waits) => {
    expect(waitAfterNoAnswer(how, before)).toBe(waits);
  });

  test("an ended goal wants no plan, and without a proposal there is nothing to drop", () => {
    const ended = { ...goalOf(), status: "completed" as const };
    expect(requestPlan(ended, WANTED, moment)).toMatchObject({ ok: false, refusal: { code: "GOAL_ENDED" } });
    expect(dropPlan(goalOf(), null, moment)).toMatchObject({ ok: false, refusal: { code: "NO_PROPOSAL" } });
  });
});

function eventsOf(decided: ReturnType<typeof dropPlan>): readonly NewEvent[] {
  return decided.ok ? decided.events : [];
}

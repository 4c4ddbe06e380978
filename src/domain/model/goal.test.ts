import { describe, expect, test } from "bun:test";
import { ADA, newGoal, T0 } from "../../../test/support/samples.ts";
import { allowed, goalOf, placed, refused } from "../../../test/support/tree.ts";
import type { NewEvent } from "./event.ts";
import {
  applyToGoal,
  BLANK_DEFINITION,
  createGoal,
  GOAL_MOVES,
  GOAL_STATUSES,
  type GoalDefinition,
  type GoalStatus,
  moveGoal,
  updateGoal,
} from "./goal.ts";

const PAIRS = GOAL_STATUSES.flatMap((from) =>
  GOAL_STATUSES.map((to): [GoalStatus, GoalStatus, "allowed" | "forbidden"] => [
    from,
    to,
    GOAL_MOVES[from].includes(to) ? "allowed" : "forbidden",
  ]),
);

describe("GOAL-1: every pair of states", () => {
  test.each(PAIRS)("a goal that is %s becoming %s is %s", (from, to, verdict) => {
    const decision = moveGoal(goalOf({ status: from }), "goal_A", to, ADA, "because I say so");
    expect(decision.ok ? "allowed" : "forbidden").toBe(verdict);
    if (decision.ok) {
      const [event] = decision.events;
      const moved = event && applyToGoal(goalOf({ status: from }), placed(event, T0 + 5));
      expect(moved).toMatchObject({ status: to, statusReason: "because I say so", updatedAt: T0 + 5 });
    } else {
      expect(decision.refusal).toMatchObject({ kind: "conflict", code: "GOAL_MOVE_FORBIDDEN" });
      expect(decision.refusal.message).toBe(`Goal goal_A is ${from}; it cannot become ${to}.`);
      expect(decision.refusal.hint).toMatch(/\.$/);
    }
  });

  test("the moves are those of the specification, no more and no less", () => {
    expect(GOAL_MOVES).toEqual({
      active: ["paused", "completed", "cancelled"],
      paused: ["active", "cancelled"],
      completed: ["archived"],
      cancelled: ["archived"],
      archived: [],
    });
  });
});

const HINTS: [why: string, from: GoalStatus, to: GoalStatus, hint: string][] = [
  ["asking for what is so already", "paused", "paused", "There is nothing to do."],
  ["archiving what still runs", "active", "archived", "Finish it or run 'overseer goal cancel goal_A' first."],
  ["waking an ended goal", "completed", "active", "From completed it can become archived."],
  [
    "waking an archived goal",
    "archived",
    "active",
    "An archived goal stays as it is; create a new one with 'overseer goal create'.",
  ],
];
test.each(HINTS)("GOAL-3: %s names the next step", (_why, from, to, hint) => {
  expect(refused(moveGoal(goalOf({ status: from }), "goal_A", to, ADA)).hint).toBe(hint);
});

const TITLES: [why: string, title: string, problem: string | undefined][] = [
  ["one line is fine", "Parse dates in every locale", undefined],
  ["200 characters are fine", "x".repeat(200), undefined],
  ["201 are too many", "x".repeat(201), "The title has 201 characters; 200 is the limit."],
  ["nothing is no title", "", "The title is empty."],
  ["blanks are no title", "  \t ", "The title is empty."],
  ["a line break is not one line", "a\nb", "The title holds a line break or another control character."],
  ["an escape sequence is no text", "\u001b[31mred", "The title holds a line break or another control character."],
];
test.each(TITLES)("GOAL-1: a title: %s", (_why, title, problem) => {
  const created = createGoal(undefined, newGoal("goal_A", title), ADA);
  const updated = updateGoal(goalOf(), "goal_A", { title }, ADA);
  for (const decision of [created, updated]) {
    expect(decision.ok).toBe(problem === undefined);
    if (problem) expect(refused(decision)).toMatchObject({ kind: "usage", code: "TITLE_INVALID", message: problem });
  }
});

describe("GOAL-1: what a goal keeps", () => {
  const definition: GoalDefinition = {
    title: "Parse dates",
    priority: "urgent",
    tags: ["parser"],
    problemStatement: "Imports fail.",
    successCriteria: ["all samples parse"],
    nonGoals: ["time zones"],
    constraints: ["no new dependency"],
    assumptions: ["UTF-8"],
    risks: [{ risk: "slow", impact: "late imports", mitigation: "bench" }],
    owner: "ada",
    stakeholders: ["grace"],
  };
  const origin = { kind: "session", session: "scout-1", deliveryContext: { session: "scout-1" } };
  const repo = { branch: "main", commit: "abc" };
  const created = allowed(createGoal(undefined, { goalId: "goal_A", definition, origin, repo }, ADA));

  test("GOAL-4: identity, definition, origin, repository and times are all in the entity", () => {
    const [event] = created;
    expect(event && applyToGoal(undefined, placed(event))).toEqual({
      goalId: "goal_A",
      ...definition,
      origin,
      repo,
      status: "active",
      statusReason: null,
      plan: [],
      createdAt: T0,
      updatedAt: T0,
      endedAt: null,
    });
  });

  test("an id is never re-used", () => {
    expect(refused(createGoal(goalOf(), newGoal("goal_A"), ADA))).toMatchObject({
      kind: "conflict",
      code: "GOAL_EXISTS",
    });
  });

  test("GOAL-2: each accepted plan is kept with what changed and why", () => {
    const revision = { ...BLANK_REVISION, revision: 1, change: "first plan", rejected: ["no phases"] };
    const event: NewEvent = {
      type: "plan.accepted",
      actor: "human:ada",
      goalId: "goal_A",
      because: "planned",
      data: revision,
    };
    const once = applyToGoal(goalOf(), placed(event, T0 + 1));
    const twice = applyToGoal(
      once,
      placed({ ...event, data: { ...revision, revision: 2, change: "split T1" } }, T0 + 2),
    );
    expect(twice?.plan.map(({ revision: number, change, at }) => [number, change, at])).toEqual([
      [1, "first plan", T0 + 1],
      [2, "split T1", T0 + 2],
    ]);
    expect(once?.plan[0]).toMatchObject({ model: "m", promptId: "plan", promptHash: "h", rejected: ["no phases"] });
  });
});

const BLANK_REVISION = {
  source: "model" as const,
  model: "m",
  promptId: "plan",
  promptHash: "h",
  inputs: { title: "x" },
  nodeCount: 1,
  raw: "{}",
};

const UPDATES: [why: string, status: GoalStatus, changes: Partial<GoalDefinition>, code: string | undefined][] = [
  ["a paused goal can be reworded", "paused", { title: "Better" }, undefined],
  ["a completed goal can still be tagged", "completed", { tags: ["later"] }, undefined],
  ["an archived goal no longer changes", "archived", { title: "Better" }, "GOAL_ARCHIVED"],
  ["no change is no update", "active", {}, "NOTHING_TO_CHANGE"],
];
test.each(UPDATES)("GOAL-3: update: %s", (_why, status, changes, code) => {
  const decision = updateGoal(goalOf({ status }), "goal_A", changes, ADA);
  if (code) expect(refused(decision).code).toBe(code);
  else {
    const [event] = allowed(decision);
    expect(event && applyToGoal(goalOf({ status }), placed(event))).toMatchObject({ ...changes, status });
  }
});

test("GOAL-3: a goal that does not exist is not-found for every verb", () => {
  for (const decision of [
    moveGoal(undefined, "goal_X", "paused", ADA),
    updateGoal(undefined, "goal_X", { title: "x" }, ADA),
  ]) {
    expect(refused(decision)).toMatchObject({ kind: "not-found", code: "GOAL_UNKNOWN" });
  }
});

test("an end is dated once: archiving keeps when the goal was completed", () => {
  const [completed] = allowed(moveGoal(goalOf(), "goal_A", "completed", ADA));
  const done = completed && applyToGoal(goalOf(), placed(completed, T0 + 1));
  const [archived] = allowed(moveGoal(done, "goal_A", "archived", ADA));
  expect(archived && applyToGoal(done, placed(archived, T0 + 9))).toMatchObject({ endedAt: T0 + 1, updatedAt: T0 + 9 });
});

test("an event about something else leaves the goal as it is, and one about an unknown goal makes none", () => {
  const goal = goalOf();
  const other = placed({
    type: "work.queued",
    actor: "overseer",
    goalId: "goal_A",
    nodeId: "T1",
    because: "dependencies-met",
    data: { reason: null },
  });
  expect(applyToGoal(goal, other)).toBe(goal);
  expect(applyToGoal(undefined, other)).toBeUndefined();
  expect(BLANK_DEFINITION.priority).toBe("normal");
});

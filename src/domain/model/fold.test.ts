import { describe, expect, test } from "bun:test";
import { assignmentWith, goalOf, nodeWith, placed } from "../../../test/support/tree.ts";
import type { NewEvent } from "./event.ts";
import { EVENT_TYPES } from "./event.ts";
import { apply, type Entity, type EntityKind, illegalMove, listTouched } from "./fold.ts";

const event = (type: NewEvent["type"], more: object): ReturnType<typeof placed> =>
  placed({ type, actor: "overseer", because: "test", data: {}, ...more } as unknown as NewEvent);

const TOUCHES: [why: string, event: ReturnType<typeof placed>, refs: string[]][] = [
  ["a goal's event its goal", event("goal.paused", { goalId: "goal_A" }), ["goal goal_A"]],
  ["a plan its goal", event("plan.accepted", { goalId: "goal_A" }), ["goal goal_A"]],
  ["work its node, not the goal", event("work.queued", { goalId: "goal_A", nodeId: "T1" }), ["node goal_A/T1"]],
  [
    "an assignment itself, not the node",
    event("assignment.active", { goalId: "goal_A", nodeId: "T1", assignmentId: "A_1" }),
    ["assignment A_1"],
  ],
  [
    "a handoff itself and its node",
    event("crystallization.recorded", { goalId: "goal_A", nodeId: "T1", data: { crystallizationId: "C_1" } }),
    ["crystallization C_1", "node goal_A/T1"],
  ],
  [
    "a goal's handoff no node",
    event("crystallization.recorded", { goalId: "goal_A", data: { crystallizationId: "C_1" } }),
    ["crystallization C_1"],
  ],
  [
    "a question itself",
    event("question.answered", { goalId: "goal_A", data: { questionId: "q_1" } }),
    ["question q_1"],
  ],
  ["Overseer's own news nothing", event("overseer.store.corrupt", {}), []],
  ["an event without its id nothing", event("work.queued", { goalId: "goal_A" }), []],
];
test.each(TOUCHES)("STORE-1: touches %s", (_why, one, refs) => {
  expect(listTouched(one).map(({ kind, id }) => `${kind} ${id}`)).toEqual(refs);
});

const MOVES: [why: string, kind: EntityKind, before: Entity | undefined, after: Entity, says: string | undefined][] = [
  ["a first state is no move", "node", undefined, nodeWith("todo"), undefined],
  ["staying is no move", "node", nodeWith("done"), nodeWith("done", { name: "x" }), undefined],
  ["a legal move", "node", nodeWith("todo"), nodeWith("queued"), undefined],
  ["a jump", "node", nodeWith("todo"), nodeWith("done"), "a node cannot go from todo to done"],
  [
    "an archived goal does not wake",
    "goal",
    goalOf({ status: "archived" }),
    goalOf(),
    "a goal cannot go from archived to active",
  ],
  [
    "an ended assignment does not continue",
    "assignment",
    assignmentWith({ status: "cancelled" }),
    assignmentWith(),
    "an assignment cannot go from cancelled to active",
  ],
];
test.each(MOVES)("WORK-2: the door of the store: %s", (_why, kind, before, after, says) => {
  expect(illegalMove(kind, before, after)).toBe(says as string);
});

describe("folding is total", () => {
  const entities: [EntityKind, Entity][] = [
    ["goal", goalOf()],
    ["node", nodeWith("queued")],
    ["assignment", assignmentWith()],
  ];
  test.each(entities)("an event about something else leaves a %s as it is, and makes none", (kind, entity) => {
    for (const type of EVENT_TYPES.filter((one) => one.startsWith("overseer.") || one.startsWith("question."))) {
      const other = event(type, { goalId: "goal_A", data: { questionId: "q_1" } });
      expect(apply(kind, entity as never, other) as unknown).toBe(entity);
      expect(apply(kind, undefined, other)).toBeUndefined();
    }
  });
});

import { describe, expect, test } from "bun:test";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, assignmentWith, nodeWith, placed, refused, typesOf } from "../../../test/support/tree.ts";
import {
  ASSIGNMENT_MOVES,
  ASSIGNMENT_STATUSES,
  type Assignment,
  type AssignmentStatus,
  applyToAssignment,
  assign,
  blockAssignment,
  isLive,
  moveAssignment,
  reassign,
} from "./assignment.ts";
import type { NewEvent } from "./event.ts";
import { illegalMove } from "./fold.ts";

const TARGET = {
  agentId: "builder-1",
  sessionKey: "s1",
  deliveryContext: { channel: "slack", thread: "7" },
  spawnedBy: "lead-1",
};
const NEW = { assignmentId: "A_2", target: TARGET, recoveryPolicy: "resend_last" as const, idleAfterMs: 900_000 };

test("ASG-1: the moves are the seed's, plus dispatched → stalled, blocked → active, any open → cancelled", () => {
  expect(ASSIGNMENT_MOVES).toEqual({
    queued: ["dispatched", "cancelled"],
    dispatched: ["active", "stalled", "cancelled"],
    active: ["stalled", "blocked", "done", "cancelled"],
    stalled: ["active", "blocked", "done", "cancelled"],
    blocked: ["active", "done", "cancelled"],
    done: [],
    cancelled: [],
  });
});

const dispatch = (dispatchId: string, instruction = "build it"): NewEvent => ({
  type: "assignment.dispatched",
  actor: "overseer",
  assignmentId: "A_1",
  because: "first-dispatch",
  data: { dispatchId, mode: "spawn", instruction, instructionHash: "h", expectedNextUpdateAt: T0 + 900_000 },
});

describe("ASG-1: every pair of states", () => {
  const pairs = ASSIGNMENT_STATUSES.flatMap((from) =>
    ASSIGNMENT_STATUSES.filter((to) => to !== from && to !== "queued").map(
      (to): [AssignmentStatus, AssignmentStatus, string] => [
        from,
        to,
        ASSIGNMENT_MOVES[from].includes(to) ? "allowed" : "forbidden",
      ],
    ),
  );
  test.each(pairs)("an assignment that is %s becoming %s is %s", (from, to, verdict) => {
    const assignment = assignmentWith({ status: from });
    if (to === "dispatched") {
      // A later dispatch (nudge, resend) is kept without moving; only a queued assignment becomes dispatched by it.
      const after = applyToAssignment(assignment, placed(dispatch("D_1")));
      expect(after?.status === "dispatched" ? "allowed" : "forbidden").toBe(verdict);
      return;
    }
    const decision =
      to === "blocked"
        ? blockAssignment(assignment, { on: "human", detail: "which format?" }, ADA)
        : moveAssignment(assignment, to as "active", "test", "a reason", ADA);
    expect(decision.ok ? "allowed" : "forbidden").toBe(verdict);
    if (!decision.ok) {
      expect(decision.refusal).toMatchObject({ kind: "conflict", code: "ASSIGNMENT_MOVE_FORBIDDEN" });
      expect(decision.refusal.message).toBe(`Assignment A_1 is ${from}; it cannot become ${to}.`);
      return;
    }
    const [event] = decision.events;
    const after = event && applyToAssignment(assignment, placed(event));
    expect(after?.status).toBe(to);
    expect(illegalMove("assignment", assignment, after)).toBeUndefined();
  });
});

test("ASG-1: a blocked assignment keeps on whom it waits and for what, until it continues", () => {
  const blocked = { on: "human" as const, detail: "which format?" };
  const [stop] = allowed(blockAssignment(assignmentWith(), blocked, ADA));
  const waiting = stop && applyToAssignment(assignmentWith(), placed(stop));
  expect(waiting).toMatchObject({ status: "blocked", blockedReason: blocked, statusReason: "which format?" });
  const [go] = allowed(moveAssignment(waiting as Assignment, "active", "answered", null, ADA));
  expect(go && applyToAssignment(waiting, placed(go))).toMatchObject({ status: "active", blockedReason: null });
});

describe("ASG-1: giving work out", () => {
  test("makes the assignment and starts the node, in one decision", () => {
    const node = nodeWith("queued");
    const decision = assign(node, [], NEW, ADA);
    expect(typesOf(decision)).toEqual(["assignment.created", "work.started"]);
    const [event] = allowed(decision);
    expect(event && applyToAssignment(undefined, placed(event))).toMatchObject({
      assignmentId: "A_2",
      goalId: "goal_A",
      workNodeId: "T1",
      target: TARGET,
      status: "queued",
      recoveryPolicy: "resend_last",
      idleAfterMs: 900_000,
      retryCount: 0,
      dispatches: [],
      createdAt: T0,
      endedAt: null,
    });
  });

  const HOLDERS: [AssignmentStatus, taken: boolean][] = ASSIGNMENT_STATUSES.map((status) => [
    status,
    status !== "done" && status !== "cancelled",
  ]);
  test.each(HOLDERS)("a node whose assignment is %s is taken: %p", (status, taken) => {
    const holder = assignmentWith({ status });
    expect(isLive(holder)).toBe(taken);
    const decision = assign(nodeWith("queued"), [holder], NEW, ADA);
    expect(decision.ok ? undefined : decision.refusal.code).toBe(taken ? "NODE_TAKEN" : undefined);
  });
});

describe("ASG-2: giving work to another", () => {
  const node = nodeWith("in_progress");
  const decision = reassign(node, [assignmentWith()], NEW, "builder-1 is lost", ADA);

  test("ends the old assignment, keeps it, and makes a new one", () => {
    expect(allowed(decision).map((event) => [event.type, event.assignmentId])).toEqual([
      ["assignment.cancelled", "A_1"],
      ["work.requeued", undefined],
      ["assignment.created", "A_2"],
      ["work.started", "A_2"],
    ]);
    const [ended] = allowed(decision);
    expect(ended && applyToAssignment(assignmentWith(), placed(ended, T0 + 9))).toMatchObject({
      assignmentId: "A_1",
      status: "cancelled",
      statusReason: "builder-1 is lost",
      endedAt: T0 + 9,
    });
  });

  test("never touches the plan", () => {
    const types = typesOf(decision);
    expect(
      types.filter((type) => type.startsWith("plan.") || type === "work.redefined" || type === "work.added"),
    ).toEqual([]);
  });

  test("needs somebody who has it", () => {
    const ended = [assignmentWith({ status: "done" })];
    expect(refused(reassign(node, ended, NEW, "x", ADA)).code).toBe("NOTHING_TO_REASSIGN");
  });
});

describe("ASG-1, DISP-2: dispatches", () => {
  const queued = assignmentWith({ status: "queued", target: TARGET });
  const once = applyToAssignment(queued, placed(dispatch("D_1"), T0 + 1));

  test("the first one makes it dispatched and keeps instruction, hash and when to expect news", () => {
    expect(once).toMatchObject({
      status: "dispatched",
      lastInstruction: "build it",
      instructionHash: "h",
      lastDispatchAt: T0 + 1,
      expectedNextUpdateAt: T0 + 900_000,
      dispatches: [{ dispatchId: "D_1", mode: "spawn", target: "s1", result: null }],
    });
  });

  test("the same one again (a resend after a crash) adds no entry", () => {
    expect(applyToAssignment(once, placed(dispatch("D_1"), T0 + 2))?.dispatches).toHaveLength(1);
  });

  test("its result finds the right entry and brings the run", () => {
    const twice = applyToAssignment(once, placed(dispatch("D_2", "go on"), T0 + 2));
    const delivered: NewEvent = {
      type: "assignment.delivered",
      actor: "overseer",
      assignmentId: "A_1",
      because: "acknowledged",
      data: { dispatchId: "D_2", result: "ok", runId: "run-1", notes: "seen" },
    };
    const after = applyToAssignment(twice, placed(delivered));
    expect(after?.dispatches.map(({ dispatchId, result }) => [dispatchId, result])).toEqual([
      ["D_1", null],
      ["D_2", "ok"],
    ]);
    expect(after).toMatchObject({ runId: "run-1", status: "dispatched", lastInstruction: "go on" });
  });
});

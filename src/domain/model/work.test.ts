import { describe, expect, test } from "bun:test";
import { ADA, planned, SMALL_PLAN, T0 } from "../../../test/support/samples.ts";
import {
  after,
  allowed,
  assignmentWith,
  finish,
  nodeIn,
  nodeWith,
  placed,
  refused,
  statuses,
  treeOf,
  typesOf,
} from "../../../test/support/tree.ts";
import { assign, reassign } from "./assignment.ts";
import { NO_EVIDENCE } from "./crystallization.ts";
import type { Decision } from "./decision.ts";
import type { NewEvent } from "./event.ts";
import { illegalMove } from "./fold.ts";
import {
  applyToNode,
  blockNode,
  cancelNode,
  type DoneByHand,
  finishByHand,
  NODE_ID,
  nodeEvent,
  unblockNode,
  WORK_MOVES,
  WORK_STATUSES,
  type WorkNode,
  type WorkStatus,
} from "./work.ts";

const DONE: DoneByHand = { summary: "it works", crystallizationId: "C_1" };
const TARGET = { agentId: "builder-1", sessionKey: null, deliveryContext: null, spawnedBy: null };
const NEW = { assignmentId: "A_2", target: TARGET, recoveryPolicy: "nudge" as const, idleAfterMs: 1000 };

test("WORK-2: the moves are the seed's, plus todo → cancelled and in_progress → queued", () => {
  expect(WORK_MOVES).toEqual({
    todo: ["queued", "cancelled"],
    queued: ["in_progress", "blocked", "cancelled"],
    in_progress: ["done", "blocked", "queued", "cancelled"],
    blocked: ["queued", "cancelled"],
    done: [],
    cancelled: [],
  });
});

describe("WORK-2: every pair of states, at the fold", () => {
  const eventTo = (node: WorkNode, to: WorkStatus): NewEvent | undefined => {
    const make = (type: NewEvent["type"], data: unknown) => nodeEvent(node, ADA, type, "test", data as never);
    switch (to) {
      case "todo":
        return undefined;
      case "queued":
        return make("work.queued", { reason: null });
      case "in_progress":
        return make("work.started", { reason: null });
      case "blocked":
        return make("work.blocked", { blocked: { kind: "human", detail: "x" } });
      case "done":
        return make("work.done", { summary: "x", evidence: NO_EVIDENCE, crystallizationId: null, unverified: false });
      case "cancelled":
        return make("work.cancelled", { reason: null });
    }
  };
  const pairs = WORK_STATUSES.flatMap((from) =>
    WORK_STATUSES.filter((to) => to !== from && to !== "todo").map((to): [WorkStatus, WorkStatus, string] => [
      from,
      to,
      WORK_MOVES[from].includes(to) ? "legal" : "illegal",
    ]),
  );
  test.each(pairs)("a node that is %s becoming %s is %s", (from, to, verdict) => {
    const node = nodeWith(from);
    const event = eventTo(node, to);
    const moved = event && applyToNode(node, placed(event));
    expect(moved?.status).toBe(to);
    expect(illegalMove("node", node, moved) === undefined ? "legal" : "illegal").toBe(verdict);
  });

  test("no event brings a node back to todo", () => {
    expect(eventTo(nodeWith("queued"), "todo")).toBeUndefined();
  });
});

/** Each verb, and the code with which it refuses in each status; ok means the node ends up where the verb says. */
const VERBS: [verb: string, act: (node: WorkNode) => Decision<unknown>, to: WorkStatus, Record<WorkStatus, string>][] =
  [
    [
      "done by hand",
      (node) => finishByHand(node, [node], DONE, ADA),
      "done",
      {
        todo: "NOT_READY",
        queued: "ok",
        in_progress: "ok",
        blocked: "NODE_BLOCKED",
        done: "NODE_ENDED",
        cancelled: "NODE_ENDED",
      },
    ],
    [
      "done by hand, insisting",
      (node) => finishByHand(node, [node], { ...DONE, overrideReason: "I checked it" }, ADA),
      "done",
      { todo: "ok", queued: "ok", in_progress: "ok", blocked: "ok", done: "NODE_ENDED", cancelled: "NODE_ENDED" },
    ],
    [
      "block",
      (node) => blockNode(node, { kind: "human", detail: "waits for Ada" }, ADA),
      "blocked",
      {
        todo: "WORK_MOVE_FORBIDDEN",
        queued: "ok",
        in_progress: "ok",
        blocked: "WORK_MOVE_FORBIDDEN",
        done: "NODE_ENDED",
        cancelled: "NODE_ENDED",
      },
    ],
    [
      "unblock",
      (node) => unblockNode(node, "Ada decided", ADA),
      "queued",
      {
        todo: "NODE_NOT_BLOCKED",
        queued: "NODE_NOT_BLOCKED",
        in_progress: "NODE_NOT_BLOCKED",
        blocked: "ok",
        done: "NODE_NOT_BLOCKED",
        cancelled: "NODE_NOT_BLOCKED",
      },
    ],
    [
      "cancel",
      (node) => cancelNode(node, [node], null, ADA),
      "cancelled",
      { todo: "ok", queued: "ok", in_progress: "ok", blocked: "ok", done: "NODE_ENDED", cancelled: "NODE_ENDED" },
    ],
    [
      "dispatch",
      (node) => assign(node, [], NEW, ADA),
      "in_progress",
      {
        todo: "NODE_NOT_READY",
        queued: "ok",
        in_progress: "NODE_NOT_READY",
        blocked: "NODE_NOT_READY",
        done: "NODE_NOT_READY",
        cancelled: "NODE_NOT_READY",
      },
    ],
    [
      "give to another",
      (node) => reassign(node, [assignmentWith()], NEW, "it was lost", ADA),
      "in_progress",
      {
        todo: "NOTHING_TO_REASSIGN",
        queued: "NOTHING_TO_REASSIGN",
        in_progress: "ok",
        blocked: "NOTHING_TO_REASSIGN",
        done: "NOTHING_TO_REASSIGN",
        cancelled: "NOTHING_TO_REASSIGN",
      },
    ],
  ];

describe.each(VERBS)("WORK-2: %s", (_verb, act, to, verdicts) => {
  test.each(Object.entries(verdicts) as [WorkStatus, string][])("on a node that is %s: %s", (from, verdict) => {
    const node = nodeWith(from);
    const decision = act(node);
    if (verdict !== "ok") {
      const { code, message, hint } = refused(decision);
      expect(code).toBe(verdict);
      expect(message).toContain("T1");
      expect(hint).not.toBe("");
      return;
    }
    let now: WorkNode = node;
    for (const event of allowed(decision).filter((one) => one.nodeId === "T1" && !one.type.startsWith("assignment"))) {
      const next = applyToNode(now, placed(event)) ?? now;
      expect(illegalMove("node", now, next)).toBeUndefined();
      now = next;
    }
    expect(now.status).toBe(to);
  });
});

const EVIDENCE: [why: string, done: Partial<DoneByHand>, code: string | undefined][] = [
  ["a summary is enough", { summary: "dates parse" }, undefined],
  ["nothing at all is not", { summary: "" }, "EVIDENCE_MISSING"],
  ["blanks are nothing", { summary: "  \n" }, "EVIDENCE_MISSING"],
  ["an empty list of evidence is nothing", { summary: "", evidence: NO_EVIDENCE }, "EVIDENCE_MISSING"],
  ["a commit is enough", { summary: "", evidence: { ...NO_EVIDENCE, commits: ["3f2a1c9"] } }, undefined],
  [
    "a test with its result is enough",
    { summary: "", evidence: { ...NO_EVIDENCE, testsRun: [{ name: "unit", result: "pass" }] } },
    undefined,
  ],
  ["an override with a reason is enough", { summary: "", overrideReason: "not needed any more" }, undefined],
  ["an override without a reason is none", { summary: "x", overrideReason: "  " }, "REASON_MISSING"],
];
test.each(EVIDENCE)("WORK-5: done needs evidence: %s", (_why, done, code) => {
  const node = nodeWith("queued");
  const decision = finishByHand(node, [node], { ...DONE, ...done }, ADA);
  expect(decision.ok ? undefined : decision.refusal.code).toBe(code);
});

test.each(["", "   ", "\n"])("WORK-5: a block needs a reason, %p is none", (detail) => {
  expect(refused(blockNode(nodeWith("queued"), { kind: "other", detail }, ADA))).toMatchObject({
    kind: "usage",
    code: "REASON_MISSING",
  });
});

test("WORK-5: a blocked node keeps what stands in the way and what would help, until it is unblocked", () => {
  const blocked = { kind: "credential" as const, detail: "no key", needs: "MAIL_API_KEY" };
  let tree = after(treeOf(), blockNode(nodeIn(treeOf(), "S1.1.1"), blocked, ADA));
  expect(nodeIn(tree, "S1.1.1")).toMatchObject({ status: "blocked", blockedReason: blocked });
  tree = after(tree, unblockNode(nodeIn(tree, "S1.1.1"), "the key is there", ADA));
  expect(nodeIn(tree, "S1.1.1")).toMatchObject({
    status: "queued",
    blockedReason: null,
    statusReason: "the key is there",
  });
});

describe("WORK-4: overriding", () => {
  test("a parent with open parts is refused, and the parts are named", () => {
    const tree = treeOf();
    const { code, message, hint } = refused(finishByHand(nodeIn(tree, "P1"), tree.nodes, DONE, ADA));
    expect(code).toBe("CHILDREN_OPEN");
    expect(message).toContain("T1.1, S1.1.1, S1.1.2, T1.2");
    expect(hint).toContain("--override");
  });

  test("insisting cancels what is open below, keeps what is done, and records who and why", () => {
    const tree = finish(finish(treeOf(), "S1.1.1"), "P1", "moved to the next release");
    expect(statuses(tree)).toEqual({
      P1: "done",
      "T1.1": "cancelled",
      "S1.1.1": "done",
      "S1.1.2": "cancelled",
      "T1.2": "cancelled",
      P2: "queued",
      "T2.1": "queued",
    });
    expect(nodeIn(tree, "P1").override).toEqual({ by: "human:ada", reason: "moved to the next release", at: T0 });
  });

  test("a node that waits can be declared done; its siblings keep waiting", () => {
    const plan = [
      planned("P1", { children: [planned("T1")] }),
      planned("P2", { deps: ["P1"], children: [planned("T2"), planned("T3")] }),
    ];
    const tree = finish(treeOf(plan), "T2", "done elsewhere");
    expect(statuses(tree)).toEqual({ P1: "queued", T1: "queued", P2: "in_progress", T2: "done", T3: "todo" });
  });
});

test("WORK-3: what is not ready names what it still waits for, and no more", () => {
  const plan = [
    planned("P1", { children: [planned("T1"), planned("T2"), planned("T3", { deps: ["T1", "T2"] })] }),
    planned("P2", { deps: ["P1"], children: [planned("T4")] }),
  ];
  const tree = finish(treeOf(plan), "T1");
  const why = (id: string) => refused(finishByHand(nodeIn(tree, id), tree.nodes, DONE, ADA)).message;
  expect(why("T3")).toBe("goal_A/T3 is todo: it waits for T2.");
  expect(why("T4")).toBe("goal_A/T4 is todo: it waits for P1.");
});

test("WORK-1: work done by hand records its start, its handoff and its end", () => {
  expect(typesOf(finishByHand(nodeWith("queued"), [], DONE, ADA))).toEqual([
    "work.started",
    "crystallization.recorded",
    "work.done",
  ]);
  const tree = finish(treeOf(), "S1.1.1");
  expect(nodeIn(tree, "S1.1.1")).toMatchObject({
    startedAt: T0,
    endedAt: T0,
    summary: "S1.1.1 works",
    crystallizationId: "C_S1.1.1",
    unverified: true,
  });
});

test("WORK-2: cancelling a parent cancels what is open below it and leaves finished work alone", () => {
  const before = finish(treeOf(), "S1.1.1");
  const tree = after(before, cancelNode(nodeIn(before, "T1.1"), before.nodes, "not needed", ADA));
  expect(statuses(tree)).toMatchObject({ "T1.1": "cancelled", "S1.1.1": "done", "S1.1.2": "cancelled" });
  expect(nodeIn(tree, "T1.2").status).toBe("todo");
});

const IDS: [id: string, good: boolean][] = [
  ["T1.1", true],
  ["a_b-c.D9", true],
  ["x".repeat(64), true],
  ["x".repeat(65), false],
  ["", false],
  [".hidden", false],
  ["a/b", false],
  ["a b", false],
  ["é", false],
  ["a\n", false],
];
test.each(IDS)("WORK-1: %p as an id: %p", (id, good) => expect(NODE_ID.test(id)).toBe(good));

test("WORK-1: a node knows its tier, parent, path and place, from the plan", () => {
  const tree = treeOf(SMALL_PLAN);
  expect(
    tree.nodes.map(({ workNodeId, kind, parentId, path, position, leaf }) => [
      workNodeId,
      kind,
      parentId,
      path,
      position,
      leaf,
    ]),
  ).toEqual([
    ["P1", "phase", null, "P1", 0, false],
    ["T1.1", "task", "P1", "P1/T1.1", 1, false],
    ["S1.1.1", "subtask", "T1.1", "P1/T1.1/S1.1.1", 2, true],
    ["S1.1.2", "subtask", "T1.1", "P1/T1.1/S1.1.2", 3, true],
    ["T1.2", "task", "P1", "P1/T1.2", 4, true],
    ["P2", "phase", null, "P2", 5, false],
    ["T2.1", "task", "P2", "P2/T2.1", 6, true],
  ]);
});

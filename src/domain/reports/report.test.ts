import { describe, expect, test } from "bun:test";
import { MOST_FOLLOW_UPS } from "#domain/briefing/update-request.ts";
import type { Moment } from "#domain/core/actor.ts";
import { applyToCrystallization, type Crystallization } from "#domain/model/crystallization.ts";
import type { NewEvent } from "#domain/model/event.ts";
import { applyToQuestion, type Question } from "#domain/model/question.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { attemptWith, BASE, COMMIT } from "../../../test/support/claims.ts";
import { ADA, planned, T0 } from "../../../test/support/samples.ts";
import { allowed, assignmentWith, placed, refused, treeOf } from "../../../test/support/tree.ts";
import { type ReportSeen, type ReportWay, recordRefusal, takeReport } from "./report.ts";
import type { AgentUpdate } from "./update.ts";

const AGENT: Moment = { now: T0, actor: "agent:builder-1#7" };
const WAY: ReportWay = {
  attempt: 7,
  via: "block",
  work: { kind: "commit", commit: COMMIT, base: BASE, branch: "overseer/builder-1/T1" },
  checks: ["tests"],
  crystallizationId: "C_new",
  questionId: "q_new",
};

const tree = treeOf([
  planned("P1", {
    children: [planned("T1", { children: [planned("S1"), planned("S2", { deps: ["S1"] })] }), planned("T2")],
  }),
]);

function withNode(id: string, parts: Partial<WorkNode>, nodes = tree.nodes): readonly WorkNode[] {
  return nodes.map((node) => (node.workNodeId === id ? { ...node, ...parts } : node));
}

const working: ReportSeen = {
  attempt: attemptWith(),
  goal: tree.goal,
  nodes: withNode("T1", { status: "in_progress" }),
  assignments: [assignmentWith()],
  questions: [],
  crystallizations: [],
};
const take = (update: AgentUpdate, seen: Partial<ReportSeen> = {}, way: Partial<ReportWay> = {}) =>
  takeReport({ ...working, ...seen }, update, { ...WAY, ...way }, AGENT);
const types = (events: readonly NewEvent[]) => events.map((event) => `${event.type} ${event.nodeId ?? ""}`);

const taken: [why: string, update: AgentUpdate, seen: Partial<ReportSeen>, events: string[]][] = [
  ["a summary is a handoff", { summary: "half" }, {}, ["crystallization.recorded T1", "update.taken T1"]],
  [
    "UPD-2: without ids it is about the one assignment",
    { status: "in_progress", summary: "half" },
    {},
    ["crystallization.recorded T1", "update.taken T1"],
  ],
  [
    "UPD-2: ids of its own are fine",
    { goalId: "goal_A", workNodeId: "goal_A/T1", summary: "half" },
    {},
    ["crystallization.recorded T1", "update.taken T1"],
  ],
  ["a part that begins", { workNodeId: "S1", status: "in_progress" }, {}, ["work.started S1", "update.taken S1"]],
  [
    "a stalled agent that reports is active",
    { status: "in_progress" },
    { assignments: [assignmentWith({ status: "stalled" })] },
    ["assignment.active T1", "update.taken T1"],
  ],
  ["nothing new is nothing", { status: "in_progress" }, {}, []],
  [
    "ESC-1: blocked is a block, on node and assignment, and a question",
    { status: "blocked", knownBlockers: ["no key"] },
    {},
    ["crystallization.recorded T1", "work.blocked T1", "assignment.blocked T1", "question.asked T1", "update.taken T1"],
  ],
  [
    "one that was never seen at work is active on the way",
    { status: "blocked", question: { text: "Which?", options: ["a"] } },
    { assignments: [assignmentWith({ status: "dispatched" })] },
    ["work.blocked T1", "assignment.active T1", "assignment.blocked T1", "question.asked T1", "update.taken T1"],
  ],
  [
    "a question without a block",
    { question: { text: "Which?", options: [] } },
    {},
    ["question.asked T1", "update.taken T1"],
  ],
  [
    "continuing lifts its own block",
    { status: "in_progress" },
    { nodes: withNode("T1", { status: "blocked" }), assignments: [assignmentWith({ status: "blocked" })] },
    ["work.unblocked T1", "work.started T1", "assignment.active T1", "update.taken T1"],
  ],
  [
    "DONE-1: done is a claim on a commit",
    { status: "done", summary: "all" },
    {},
    ["crystallization.recorded T1", "work.claimed T1", "update.taken T1"],
  ],
  [
    "a part that is done waits for its task",
    { workNodeId: "S1", status: "done", summary: "S1 works" },
    {},
    ["crystallization.recorded S1", "work.started S1", "update.taken S1"],
  ],
];
test.each(taken)("UPD-1: %s", (_why, update, seen, events) => {
  expect(types(allowed(take(update, seen)))).toEqual(events);
});

const refusals: [why: string, update: AgentUpdate, seen: Partial<ReportSeen>, code: string][] = [
  ["FENCE-1: a life that has ended", { summary: "x" }, { attempt: attemptWith({ status: "ended" }) }, "ATTEMPT_FENCED"],
  ["FENCE-1: a life that never was", { summary: "x" }, { attempt: undefined }, "ATTEMPT_FENCED"],
  ["UPD-2: another goal", { goalId: "goal_B", summary: "x" }, {}, "NOT_YOURS"],
  ["UPD-2: another goal in the node's name", { workNodeId: "goal_B/T1", summary: "x" }, {}, "NOT_YOURS"],
  ["UPD-2: another task", { workNodeId: "T2", summary: "x" }, {}, "NOT_YOURS"],
  ["UPD-2: the phase above", { workNodeId: "P1", status: "done", summary: "x" }, {}, "NOT_YOURS"],
  ["UPD-2: a node there is not", { workNodeId: "T9", summary: "x" }, {}, "NODE_UNKNOWN"],
  [
    "a part that another agent has",
    { workNodeId: "S1", summary: "x" },
    { assignments: [assignmentWith(), assignmentWith({ assignmentId: "A_2", workNodeId: "S1" })] },
    "NOT_YOURS",
  ],
  ["a node that has ended", { summary: "x" }, { nodes: withNode("T1", { status: "done" }) }, "NODE_ENDED"],
  ["a goal that has ended", { summary: "x" }, { goal: { ...tree.goal, status: "cancelled" } }, "GOAL_ENDED"],
  ["WORK-5: blocked without a reason", { status: "blocked", summary: "x" }, {}, "REASON_MISSING"],
  ["a part that waits for another", { workNodeId: "S2", status: "in_progress" }, {}, "NOT_READY"],
  [
    "POL-1: a block that a person made",
    { status: "in_progress" },
    { nodes: withNode("T1", { status: "blocked" }) },
    "NODE_BLOCKED",
  ],
];
test.each(refusals)("UPD-2: refused: %s", (_why, update, seen, code) => {
  expect(refused(take(update, seen)).code).toBe(code);
});

describe("DONE-1: a claim", () => {
  test("of a lie is refused: that commit is not on its branch", () => {
    const way = { work: { kind: "elsewhere", named: "0123456", branch: "b" } } as const;
    expect(refused(take({ status: "done", summary: "x" }, {}, way)).code).toBe("COMMIT_NOT_YOURS");
  });

  test("carries what was gathered before it", () => {
    const first = allowed(take({ summary: "half", evidence: { testsRun: [{ name: "t", result: "pass" }] } }));
    const known = recorded(first);
    const nodes = withNode("T1", { status: "in_progress", crystallizationId: known.crystallizationId });
    const claim = allowed(take({ status: "done" }, { nodes, crystallizations: [known] })).find(
      (event) => event.type === "work.claimed",
    );
    expect(claim?.data).toMatchObject({
      summary: "half",
      commit: COMMIT,
      evidence: { testsRun: [{ name: "t" }] },
      crystallizationId: "C_new",
    });
  });
});

function recorded(events: readonly NewEvent[]): Crystallization {
  const event = events.find((one) => one.type === "crystallization.recorded");
  const known = event && applyToCrystallization(undefined, placed(event));
  if (!known) throw new Error("nothing was recorded");
  return known;
}

test("CRYS-1: a handoff is stored once per change, and says where it was said", () => {
  const first = recorded(allowed(take({ summary: "half", nextActions: ["rest"] })));
  expect(first.transcripts).toEqual([{ sessionKey: "builder-1#7" }]);
  const seen = {
    nodes: withNode("T1", { status: "in_progress", crystallizationId: first.crystallizationId }),
    crystallizations: [first],
  };
  expect(allowed(take({ summary: "half" }, seen))).toEqual([]);
  expect(recorded(allowed(take({ summary: "more" }, seen)))).toMatchObject({ summary: "more", nextActions: ["rest"] });
});

test("ESC-1: saying again that it is blocked asks nobody a second time", () => {
  const first = allowed(take({ status: "blocked", knownBlockers: ["no key"] }));
  const asked = first.find((event) => event.type === "question.asked");
  const question = asked && applyToQuestion(undefined, placed(asked));
  const known = recorded(first);
  const seen: Partial<ReportSeen> = {
    questions: [question as Question],
    crystallizations: [known],
    nodes: withNode("T1", {
      status: "blocked",
      blockedReason: { kind: "other", detail: "no key" },
      crystallizationId: "C_new",
    }),
    assignments: [assignmentWith({ status: "blocked" })],
  };
  expect(allowed(take({ status: "blocked", knownBlockers: ["no key"] }, seen))).toEqual([]);
  const onward = types(allowed(take({ status: "in_progress", knownBlockers: [] }, seen)));
  expect(onward).toContain("question.withdrawn T1");
});

describe("UPD-2: a refusal", () => {
  const refusal = { code: "UPDATE_INVALID", message: "status is wrong.", hint: "" };
  const way = { attempt: 7, via: "block", refusedBefore: 0, messageId: "m_1" } as const;

  test("is written down and the agent is asked again", () => {
    const events = recordRefusal(attemptWith(), refusal, way, AGENT);
    expect(types(events)).toEqual(["update.refused T1", "message.queued T1"]);
    expect(JSON.stringify(events[1]?.data)).toContain("status is wrong.");
  });

  test("is told by the command itself where there was one", () => {
    expect(types(recordRefusal(attemptWith(), refusal, { ...way, via: "command" }, AGENT))).toEqual([
      "update.refused T1",
    ]);
  });

  test("stops asking after a few in a row", () => {
    const events = recordRefusal(attemptWith(), refusal, { ...way, refusedBefore: MOST_FOLLOW_UPS }, AGENT);
    expect(types(events)).toEqual(["update.refused T1"]);
  });

  test("FENCE-1: of a life that has ended is recorded as such", () => {
    const over = { code: "ATTEMPT_FENCED", message: "over", hint: "" };
    expect(types(recordRefusal(attemptWith({ status: "ended" }), over, way, AGENT))).toEqual(["agent.fenced T1"]);
    expect(recordRefusal(undefined, over, way, ADA)).toEqual([]);
  });
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isoTime } from "#domain/core/iso-time.ts";
import { EVENT_TYPES, type EventType, type NewEvent } from "#domain/model/event.ts";
import type { Question } from "#domain/model/question.ts";
import { blockNode, cancelNode, type WorkNode } from "#domain/model/work.ts";
import type { GoalTree } from "#domain/plans/settle.ts";
import { ADA, planned, T0 } from "../../../test/support/samples.ts";
import { after, assignmentWith, finish, goalOf, nodeIn, nodeWith, placed, treeOf } from "../../../test/support/tree.ts";
import { sentence, whyAssignment, whyGoal, whyNode, whyQuestion } from "./why.ts";

const node = { actor: "human:ada", goalId: "goal_A", nodeId: "T1" } as const;
const overseer = { actor: "overseer", goalId: "goal_A", nodeId: "T1" } as const;
const reason = (text: string | null) => ({ reason: text });

const SAID: [event: NewEvent, text: string | undefined][] = [
  [{ ...node, type: "goal.paused", because: "asked-for", data: reason("tea.") }, 'ada paused the goal, saying "tea".'],
  [{ ...node, type: "goal.resumed", because: "asked-for", data: reason(null) }, "ada resumed the goal."],
  [
    { ...node, type: "goal.updated", because: "asked-for", data: { changes: { title: "x", problemStatement: "y" } } },
    "ada changed title and problem statement of the goal.",
  ],
  [
    { ...overseer, type: "work.queued", because: "dependencies-met", data: reason(null) },
    "Overseer put it into the queue, because everything it waited for is done.",
  ],
  [{ ...node, type: "work.queued", because: "overridden-by-hand", data: reason(null) }, undefined],
  [{ ...node, type: "work.started", because: "finished-by-hand", data: reason(null) }, undefined],
  [
    { ...node, type: "work.blocked", because: "blocked-by-hand", data: { blocked: { kind: "human", detail: "Why?" } } },
    'ada blocked it, because it waits for a person: "Why?"',
  ],
  [
    { ...node, type: "work.cancelled", because: "left-out-of-the-plan", data: reason("revision 2") },
    "ada cancelled it, because revision 2 of the plan no longer has it.",
  ],
  [
    { ...node, type: "work.cancelled", because: "parent-cancelled", data: reason("too late...") },
    'ada cancelled it, because the node above it was cancelled, saying "too late".',
  ],
  [
    { ...node, actor: "overseer", type: "work.cancelled", because: "split", data: reason("split into T1.a, T1.b") },
    "Overseer split it into T1.a, T1.b.",
  ],
  [
    { ...overseer, type: "assignment.stalled", assignmentId: "A_1", because: "silent", data: reason("silent for 9 m") },
    "Overseer found the agent stalled (silent for 9 m).",
  ],
  [
    { ...overseer, type: "assignment.cancelled", assignmentId: "A_1", because: "reassigned", data: reason("lost") },
    "Overseer ended the assignment to give the work to another (lost).",
  ],
  [
    {
      actor: "agent:scout-1#4",
      goalId: "goal_A",
      type: "question.asked",
      because: "needs-a-person",
      data: { questionId: "q_1", text: "Which?", options: ["a", "b"] },
    },
    'agent scout-1#4 asked "Which?" (a / b).',
  ],
];
const MERGE = { mergeId: "M_1" };
const ASKED = {
  ...{ callId: "Q_1", purpose: "ai-resolve", prompt: "p", promptHash: "h", model: null, inputBytes: 1, costUsd: null },
  ...{ tries: 1, ok: true, problems: [], durationMs: 1, logPath: "" },
};
const C = "c".repeat(40);
const LANDING: [type: EventType, data: object, text: string][] = [
  [
    "landing.prepared",
    { target: "main", from: C, to: C, tree: C, strategy: "merge", tier: "author" },
    "Overseer merged it with main as cccccccccc, with its conflict resolved by its author; that is to become main.",
  ],
  [
    "landing.landed",
    { commit: C, target: "main", from: C, to: C, strategy: "merge", already: false },
    "Overseer landed commit cccccccccc on main as cccccccccc.",
  ],
  [
    "landing.refused",
    { commit: C, target: "main", detail: "your branch conflicts.", files: ["a", "b"] },
    "Overseer did not land commit cccccccccc on main: your branch conflicts (a, b).",
  ],
  [
    "landing.waiting",
    { commit: C, for: "model", detail: "it conflicts, and no model may be asked", files: [] },
    "Landing commit cccccccccc waits: it conflicts, and no model may be asked.",
  ],
  ["landing.approved", { commit: C, reason: null }, "Overseer let commit cccccccccc land."],
  [
    "landing.index_mended",
    { target: "main", to: C, files: ["a"] },
    "A git in the checkout of main wrote an index from before this landing back after it, which staged what had landed as taken out; Overseer put that right (a).",
  ],
  [
    "landing.undone",
    { target: "main", to: C, commit: C, files: ["a"] },
    "Commit cccccccccc, the next one on main, has files as they were before this landing (a). If nobody meant that: git revert cccccccccc.",
  ],
  [
    "merge.queued",
    { ...MERGE, target: "main", branch: "overseer/a/T1", commit: C, priority: "normal", since: T0 },
    "overseer/a/T1 went into the queue for main.",
  ],
  ["merge.testing", { ...MERGE, batch: "B_1", size: 3 }, "It is checked together with 2 more (B_1)."],
  [
    "merge.waiting",
    { ...MERGE, detail: "a.txt is changed.", notBefore: T0 },
    "In the queue it waits until 2026-01-05T09:00:00.000Z: a.txt is changed.",
  ],
  [
    "merge.parked",
    { ...MERGE, detail: "it changes ci" },
    "The queue continues without it until a person has decided: it changes ci.",
  ],
  [
    "merge.landed",
    { ...MERGE, from: C, to: C, tier: "ai-resolve" },
    "It came into the target with its conflict resolved by a model.",
  ],
  ["merge.ended", { ...MERGE, to: "refused", detail: "a gate" }, "It left the queue without landing: a gate."],
  [
    "merge.resolved",
    { path: "doc.md", base: C, ours: C, theirs: C, result: C, tier: "reimagine" },
    "How doc.md was resolved (reimagine) is remembered for the same conflict.",
  ],
  ["model.asked", ASKED, "A model was asked (ai-resolve), and its answer holds."],
  [
    "model.asked",
    { ...ASKED, ok: false, tries: 3, problems: ["It is not one JSON object."] },
    "A model was asked (ai-resolve, 3 times), and its answer was refused: It is not one JSON object.",
  ],
  [
    "model.asked",
    { ...ASKED, prompt: "plan-goal", ownPrompt: true },
    "A model was asked (ai-resolve) with your own prompt plan-goal (hash h), and its answer holds.",
  ],
  [
    "model.asked",
    { ...ASKED, ok: false, tries: 0, problems: ["Too long."] },
    "No model was asked (ai-resolve): Too long.",
  ],
];
test.each(LANDING)("WORK-6: %s %j reads as a sentence", (type, data, text) => {
  expect(sentence(placed({ ...overseer, type, because: "x", data } as NewEvent))).toBe(text);
});

test("WORK-6: nothing happens to a landing that why cannot tell", () => {
  const about = EVENT_TYPES.filter((type) => /^(landing|merge|model)\./.test(type));
  expect(about.filter((type) => !LANDING.some(([told]) => told === type))).toEqual([]);
});

test("WORK-6: what is written for the queue and for the work is told once", () => {
  const twice = (first: [EventType, object], second: [EventType, object]) => {
    const events = [first, second].map(([type, data]) => placed({ ...overseer, type, because: "x", data } as NewEvent));
    return whyNode(nodeWith("in_progress"), [], events).story.length;
  };
  const waiting = { commit: C, for: "checkout", detail: "dirty", files: [] };
  expect(twice(["landing.waiting", waiting], ["merge.waiting", { ...MERGE, detail: "dirty", notBefore: T0 }])).toBe(1);
  expect(twice(["landing.waiting", waiting], ["merge.waiting", { ...MERGE, detail: null, notBefore: T0 }])).toBe(2);
  const landed = { commit: C, target: "main", from: C, to: C, strategy: "merge", already: false };
  const merged = (tier: string): [EventType, object] => ["merge.landed", { ...MERGE, from: C, to: C, tier }];
  expect(twice(["landing.landed", landed], merged("clean-merge"))).toBe(1);
  expect(twice(["landing.landed", landed], merged("author"))).toBe(2);
});

const LEARNED: [type: EventType, because: string, data: object, text: string][] = [
  ["learning.found", "heard", { learningId: "L_1", text: "It wants DB." }, 'a#7 learned (L_1): "It wants DB."'],
  ["learning.confirmed", "found-too", { learningId: "L_1" }, "a#7 found the same as L_1."],
  ["learning.relayed", "x", { learningId: "L_1", to: [{ agent: "b", attempt: 8 }] }, "L_1 was passed on to b#8."],
  ["learning.relayed", "x", { learningId: "L_1", to: [{}, {}] }, "L_1 was passed on to 2 agents."],
  ["learning.offered", "x", { learningId: "L_1" }, "a#7 was shown L_1 with its context."],
  [
    "learning.judged",
    "seen",
    { learningId: "L_1", verdicts: [{ attempt: 8, outcome: "used" }] },
    "What came of L_1: #8 used.",
  ],
  [
    "learning.forgotten",
    "never-helped",
    { learningId: "L_1", reason: null },
    "L_1 was dropped: those who saw it had no use for it.",
  ],
  ["learning.forgotten", "asked-for", { learningId: "L_1", reason: "wrong" }, 'Overseer dropped L_1: "wrong".'],
];
test.each(LEARNED)("WORK-6, SYNC-3: %s because %s reads as a sentence", (type, because, data, text) => {
  expect(sentence(placed({ ...overseer, agent: "a", attempt: 7, type, because, data } as NewEvent))).toBe(text);
});

test.each(SAID)("%j reads as a sentence", (event, text) => {
  expect(sentence(placed(event))).toBe(text as string);
});

describe("what stands now, and what would change it", () => {
  const plan = [planned("P1", { children: [planned("T1"), planned("T2", { deps: ["T1"] })] })];
  const start = treeOf(plan);
  const NOW: [why: string, tree: GoalTree, id: string, now: string[]][] = [
    ["a node that waits names for what", start, "T2", ["It waits for T1 (queued)."]],
    ["a ready one waits for an agent", start, "T1", ["It is ready and waits to be dispatched."]],
    ["a ready phase is no work by itself", start, "P1", ["It is ready: work on its parts may begin."]],
    [
      "a phase under way says how far",
      finish(start, "T1"),
      "P1",
      ["It is being worked on.", "1 of 2 pieces of work below it are done."],
    ],
    [
      "one that waits for a cancelled node says that it waits in vain",
      after(start, cancelNode(nodeIn(start, "T1"), start.nodes, null, ADA)),
      "T2",
      [
        "It waits for T1 (cancelled).",
        "T1 was cancelled, so it will not become ready by itself: cancel it too, or override it.",
      ],
    ],
    [
      "a blocked one says what stands in the way, what would help and what to type",
      after(start, blockNode(nodeIn(start, "T1"), { kind: "human", detail: "no decision.", needs: "Grace" }, ADA)),
      "T1",
      [
        'It cannot continue: "no decision".',
        'What would help: "Grace".',
        "'overseer work unblock goal_A/T1' lets it continue.",
      ],
    ],
  ];
  test.each(NOW)("WORK-6: %s", (_why, tree, id, now) => {
    expect([...whyNode(nodeIn(tree, id), tree.nodes, []).now]).toEqual(now);
  });

  test("GOAL-3: a goal without a plan names the command that gives it one", () => {
    expect(whyGoal(goalOf(), [], []).now).toEqual([
      "It has no plan. 'overseer goal plan goal_A --file plan.yaml' gives it one, or --with-model.",
    ]);
  });

  test("ASG-1: an assignment to which nothing was sent says so; a question waits for a person", () => {
    expect(whyAssignment(assignmentWith(), []).now).toEqual(["Nothing was sent to the agent yet."]);
    const question = {
      questionId: "q_1",
      goalId: null,
      workNodeId: null,
      assignmentId: null,
      text: "Which?",
      options: [],
      status: "open" as const,
      answer: null,
      askedBy: "overseer",
      askedAt: T0,
      endedAt: null,
      notices: [],
      round: 0,
      roundAt: 0,
      acknowledgedBy: null,
      acknowledgedAt: null,
    };
    expect(whyQuestion(question, [])).toMatchObject({
      headline: 'Question q_1, "Which?", is open.',
      now: ["It waits for a person's answer: 'overseer answer q_1 <choice or text>'."],
    });
  });
});

test("WORK-6 REV-1: the short answer names the question and the commands of a review", () => {
  const question = { questionId: "q_1", text: "Which?", options: ["a", "b"], status: "open" } as unknown as Question;
  const blocked = { ...nodeWith("blocked"), blockedReason: { kind: "human", detail: "Which?" } } as WorkNode;
  expect(whyNode(blocked, [blocked], [], [question]).now).toContain(
    `q_1 asks "Which?" (1. a / 2. b): 'overseer answer q_1 <choice or text>' answers it.`,
  );
  const waiting = { for: "review", detail: "waiting for review", files: [], looks: 1, since: T0, lastAt: T0 };
  const claim = { agent: "ada", commit: "c0ffee", verdict: "pass", approvedBy: null, waiting };
  const due = { ...nodeWith("in_progress"), claim } as unknown as WorkNode;
  const label = `${due.goalId}/${due.workNodeId}`;
  expect(whyNode(due, [due], []).now[0]).toContain(
    `waits for your review: 'overseer review ${label}', then 'overseer accept ${label}' or 'overseer reject ${label}`,
  );
});

test("WORK-5, REV-1: work that no check has seen says who accepted it and when, where somebody did", () => {
  const done = { ...nodeWith("done"), unverified: true } as WorkNode;
  const said = { commit: C, reason: null };
  const approved = (actor: string, data: object = said) =>
    placed({ ...node, type: "landing.approved", actor, because: "x", data } as unknown as NewEvent);
  const claimed = placed({ ...node, type: "work.claimed", because: "x", data: { commit: C } } as unknown as NewEvent);
  const told = (...events: ReturnType<typeof approved>[]) => whyNode(done, [done], events).now[0];
  const nobody = "Nothing has checked it: only the report says so.";
  const ada = approved("human:ada");
  expect(told(claimed, ada)).toBe(`No check has seen it; ada accepted it at ${isoTime(ada.at)}.`);
  expect(told(claimed)).toBe(nobody);
  expect(told(ada, claimed)).toBe(nobody);
  expect(told(claimed, approved("overseer"))).toBe(nobody);
  expect(told(claimed, approved("human:ada", { ...said, takenBack: "own" }))).toBe(nobody);
});

test("whatever somebody says, a sentence ends once", () => {
  fc.assert(
    fc.property(fc.string(), (words) => {
      for (const event of [
        { ...node, type: "work.unblocked", because: "x", data: reason(words) },
        { ...node, type: "goal.cancelled", because: "x", data: reason(words) },
        { ...overseer, type: "assignment.stalled", assignmentId: "A_1", because: "x", data: reason(words) },
      ] as NewEvent[]) {
        expect(sentence(placed(event))).toMatch(/(^|[^.])\.$|[?!]"$/);
      }
    }),
  );
});

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ADA, planned, T0 } from "../../test/support/samples.ts";
import { after, assignmentWith, finish, goalOf, nodeIn, placed, treeOf } from "../../test/support/tree.ts";
import type { NewEvent } from "./event.ts";
import type { GoalTree } from "./settle.ts";
import { sentence, whyAssignment, whyGoal, whyNode, whyQuestion } from "./why.ts";
import { blockNode, cancelNode } from "./work.ts";

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
    { ...overseer, type: "assignment.stalled", assignmentId: "A_1", because: "silent", data: reason("silent for 9 m") },
    "Overseer found the worker stalled (silent for 9 m).",
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
test.each(SAID)("%j reads as a sentence", (event, text) => {
  expect(sentence(placed(event))).toBe(text as string);
});

describe("what stands now, and what would change it", () => {
  const plan = [planned("P1", { children: [planned("T1"), planned("T2", { deps: ["T1"] })] })];
  const start = treeOf(plan);
  const NOW: [why: string, tree: GoalTree, id: string, now: string[]][] = [
    ["a node that waits names for what", start, "T2", ["It waits for T1 (queued)."]],
    ["a ready one waits for a worker", start, "T1", ["It is ready and waits to be given to a worker."]],
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
        'It cannot go on: "no decision".',
        'What would help: "Grace".',
        "'overseer work unblock goal_A/T1' lets it go on.",
      ],
    ],
  ];
  test.each(NOW)("WORK-6: %s", (_why, tree, id, now) => {
    expect([...whyNode(nodeIn(tree, id), tree.nodes, []).now]).toEqual(now);
  });

  test("GOAL-3: a goal without a plan names the command that gives it one", () => {
    expect(whyGoal(goalOf(), [], []).now).toEqual([
      "It has no plan. 'overseer goal plan goal_A --file plan.yaml' gives it one.",
    ]);
  });

  test("ASG-1: an assignment to which nothing was sent says so; a question waits for a person", () => {
    expect(whyAssignment(assignmentWith(), []).now).toEqual(["Nothing was sent to the worker yet."]);
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
      now: ["It waits for a person's answer."],
    });
  });
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

import { describe, expect, test } from "bun:test";
import { ADA, T0 } from "../../../test/support/samples.ts";
import { allowed, placed, refused } from "../../../test/support/tree.ts";
import {
  applyToQuestion,
  askQuestion,
  endQuestion,
  QUESTION_STATUSES,
  type Question,
  type QuestionStatus,
} from "./question.ts";

const WANTED = { questionId: "q_1", goalId: "goal_A", nodeId: "T1", text: "Which format?", options: ["ISO", "both"] };

function asked(status: QuestionStatus = "open"): Question {
  const [event] = allowed(askQuestion(undefined, WANTED, { ...ADA, actor: "agent:scout-1#4" }));
  const question = event && applyToQuestion(undefined, placed(event));
  if (!question) throw new Error("no question");
  return { ...question, status };
}

test("a question keeps who asked what about which work", () => {
  expect(asked()).toEqual({
    questionId: "q_1",
    goalId: "goal_A",
    workNodeId: "T1",
    assignmentId: null,
    text: "Which format?",
    options: ["ISO", "both"],
    status: "open",
    answer: null,
    askedBy: "agent:scout-1#4",
    askedAt: T0,
    endedAt: null,
    notices: [],
    round: 0,
    roundAt: T0,
    acknowledgedBy: null,
    acknowledgedAt: null,
  });
});

describe("every pair of states", () => {
  const pairs: [QuestionStatus, "answered" | "withdrawn", "allowed" | "forbidden"][] = [
    ["open", "answered", "allowed"],
    ["open", "withdrawn", "allowed"],
    ["answered", "answered", "forbidden"],
    ["answered", "withdrawn", "forbidden"],
    ["withdrawn", "answered", "forbidden"],
    ["withdrawn", "withdrawn", "forbidden"],
  ];
  test("is in the table", () => {
    expect([...new Set(pairs.map(([from]) => from))]).toEqual([...QUESTION_STATUSES]);
  });
  test.each(pairs)("a question that is %s becoming %s is %s", (from, to, verdict) => {
    const end = to === "answered" ? { to, answer: "ISO" } : { to, reason: "found out" };
    const decision = endQuestion(asked(from), "q_1", end, ADA);
    expect(decision.ok ? "allowed" : "forbidden").toBe(verdict);
    if (!decision.ok) expect(decision.refusal.code).toBe("QUESTION_ENDED");
    else {
      const [event] = decision.events;
      expect(event && applyToQuestion(asked(from), placed(event, T0 + 3))).toMatchObject({
        status: to,
        answer: to === "answered" ? "ISO" : null,
        endedAt: T0 + 3,
      });
    }
  });
});

const REFUSED: [why: string, code: string, decision: Parameters<typeof refused>[0]][] = [
  ["asked twice under one id", "QUESTION_EXISTS", askQuestion(asked(), WANTED, ADA)],
  ["without words", "QUESTION_EMPTY", askQuestion(undefined, { ...WANTED, text: " " }, ADA)],
  ["that nobody asked", "QUESTION_UNKNOWN", endQuestion(undefined, "q_9", { to: "answered", answer: "x" }, ADA)],
];
test.each(REFUSED)("a question %s is refused with %s", (_why, code, decision) => {
  expect(refused(decision).code).toBe(code);
});

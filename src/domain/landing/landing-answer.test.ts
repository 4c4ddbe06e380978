import { expect, test } from "bun:test";
import { NOT_HOLDING_OPTIONS, OVERREACH_OPTIONS, TAKEN_BACK_OPTIONS } from "#domain/model/claim.ts";
import { applyToQuestion, askQuestion } from "#domain/model/question.ts";
import { applyToNode, type WorkNode } from "#domain/model/work.ts";
import { answerQuestion } from "#domain/reports/answer.ts";
import { attemptWith, claimWith } from "../../../test/support/claims.ts";
import { ADA } from "../../../test/support/samples.ts";
import { allowed, assignmentWith, nodeWith, placed } from "../../../test/support/tree.ts";
import { answerAboutLanding } from "./landing-answer.ts";

const blocked = nodeWith("blocked", { claim: claimWith({ verdict: "pass" }) });

const ANSWERS: [options: readonly string[], answer: string, events: string[] | undefined, ends: boolean][] = [
  [OVERREACH_OPTIONS, "land it", ["landing.approved"], false],
  [OVERREACH_OPTIONS, "send it back", ["work.returned"], false],
  [OVERREACH_OPTIONS, "let me think", undefined, false],
  [TAKEN_BACK_OPTIONS, "land only its own commits", ["landing.approved"], false],
  [TAKEN_BACK_OPTIONS, "land all of it", ["landing.approved"], false],
  [TAKEN_BACK_OPTIONS, "send it back", ["work.returned"], false],
  [TAKEN_BACK_OPTIONS, "land it", undefined, false],
  [NOT_HOLDING_OPTIONS, "cancel it", ["work.cancelled"], true],
  [NOT_HOLDING_OPTIONS, "try again", undefined, false],
  [["yes", "no"], "yes", undefined, false],
];
test.each(ANSWERS)("REV-1: of %p the answer %p means %p", (options, answer, events, ends) => {
  const meant = answerAboutLanding(blocked, [blocked], { options }, answer, ADA);
  expect(meant?.events.map(({ type }) => type)).toEqual(events as never);
  expect(meant?.ends ?? false).toBe(ends);
});

test("REV-1: without a claim there is nothing to land or to send back", () => {
  const node = nodeWith("blocked");
  expect(answerAboutLanding(node, [node], { options: OVERREACH_OPTIONS }, "land it", ADA)).toBe(undefined);
});

test("REV-1: answering lets the same commit land, sends it back to its agent, or ends the node", () => {
  const typesAfter = (options: readonly string[], words: string) => {
    const asked = askQuestion(
      undefined,
      { questionId: "q_1", goalId: "goal_A", nodeId: "T1", text: "?", options },
      ADA,
    );
    const [first] = allowed(asked);
    const question = first && applyToQuestion(undefined, placed(first));
    const seen = { question, node: blocked, nodes: [blocked], open: [], attempts: [attemptWith()], left: undefined };
    const ids = { messageId: "m_1", crystallizationId: "C_1" };
    const events = allowed(answerQuestion({ ...seen, assignments: [assignmentWith()] }, "q_1", words, ids, ADA));
    const node = events.reduce<WorkNode | undefined>((one, event) => applyToNode(one, placed(event)), blocked);
    return { status: node?.status, approved: node?.claim?.approvedBy, claimed: node?.claim !== undefined };
  };
  expect(typesAfter(OVERREACH_OPTIONS, "1")).toEqual({ status: "in_progress", approved: "human:ada", claimed: true });
  expect(typesAfter(OVERREACH_OPTIONS, "2")).toMatchObject({ status: "in_progress", claimed: false });
  expect(typesAfter(NOT_HOLDING_OPTIONS, "cancel it")).toMatchObject({ status: "cancelled", claimed: false });
});

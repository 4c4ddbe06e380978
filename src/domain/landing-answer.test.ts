import { expect, test } from "bun:test";
import { claimWith } from "../../test/support/claims.ts";
import { ADA } from "../../test/support/samples.ts";
import { nodeWith } from "../../test/support/tree.ts";
import { NOT_HOLDING_OPTIONS, OVERREACH_OPTIONS } from "./claim.ts";
import { answerAboutLanding } from "./landing-answer.ts";

const blocked = nodeWith("blocked", { claim: claimWith({ verdict: "pass" }) });

const ANSWERS: [options: readonly string[], answer: string, events: string[] | undefined, ends: boolean][] = [
  [OVERREACH_OPTIONS, "land it", ["landing.approved"], false],
  [OVERREACH_OPTIONS, "send it back", ["work.returned"], false],
  [OVERREACH_OPTIONS, "let me think", undefined, false],
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

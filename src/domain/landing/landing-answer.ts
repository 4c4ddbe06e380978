/**
 * What a person's answer to a question about a landing does beside ending it. The options are the ones in claim.ts that
 * the question was asked with, so neither can change without the other. Unblocking the node and telling the agent
 * is what every answer does (answer.ts); this adds what only these mean.
 */
import type { Moment } from "#domain/core/actor.ts";
import {
  NOT_HOLDING_OPTIONS,
  OVERREACH_OPTIONS,
  TAKEN_BACK_OPTIONS,
  type TakenBackConsent,
} from "#domain/model/claim.ts";
import type { NewEvent } from "#domain/model/event.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { cancelNode } from "#domain/model/work.ts";
import { claimEvent } from "./report-done.ts";

/** Answers that let it land, and how. */
const APPROVALS: Readonly<Record<string, { readonly takenBack?: TakenBackConsent }>> = {
  "land it": {},
  "land only its own commits": { takenBack: "own" },
  "land all of it": { takenBack: "all" },
};

export interface LandingAnswer {
  /** Before the node is unblocked; when one of them ends the node, nothing is left to unblock. */
  readonly events: readonly NewEvent[];
  readonly ends: boolean;
}

/** Undefined for an answer in other words, or to another question: it means no more than it says. */
export function answerAboutLanding(
  node: WorkNode,
  nodes: readonly WorkNode[],
  asked: { readonly options: readonly string[] },
  answer: string,
  moment: Moment,
): LandingAnswer | undefined {
  const is = (options: readonly string[]) => options.join() === asked.options.join() && options.includes(answer);
  const { claim } = node;
  if ((is(OVERREACH_OPTIONS) || is(TAKEN_BACK_OPTIONS)) && claim) {
    const { commit } = claim;
    const approval = APPROVALS[answer];
    const round = (node.rounds ?? 0) + 1;
    const reason = "a person sent it back";
    const event = approval
      ? claimEvent(node, claim, "landing.approved", "a-person-answered", { commit, reason: null, ...approval }, moment)
      : claimEvent(node, claim, "work.returned", "a-person-answered", { commit, round, reason }, moment);
    return { events: [event], ends: false };
  }
  if (is(NOT_HOLDING_OPTIONS) && answer === "cancel it") {
    const cancelled = cancelNode(node, nodes, "a person cancelled it when asked", moment);
    return cancelled.ok ? { events: cancelled.events, ends: true } : undefined;
  }
  return undefined;
}

/**
 * What an agent is told again when it has lost its thread: after its context was compacted, or because it asks with
 * `prime`. The assignment comes first and whole, then what waits for it, then what it did last. Texts of others stand
 * between fences, and the whole stays under a cap so that it cannot fill the context it is meant to rescue.
 */

import { inline, renderFenced } from "#domain/core/quote.ts";
import type { Crystallization } from "#domain/model/crystallization.ts";
import type { Message } from "#domain/model/message.ts";
import type { Signal } from "#domain/signals/signal.ts";
import { evidenceLines } from "./handoff.ts";
import type { OverlayInput } from "./overlay.ts";
import { OVERLAY_MIN_BYTES, renderOverlay } from "./overlay.ts";

/** Said before the page to a session that was compacted, and to nobody else. */
export const COMPACTED = "Your context was compacted.";

/** The page that is written when an attempt starts, and handed out by `prime` and after each compaction. */
export function renderPrime(input: OverlayInput): string {
  return [
    `You are ${inline(input.agent, 40)}, attempt #${input.attempt}, in the middle of the work below. What you have done so`,
    "far is in the worktree and in git log: look there, then continue. Your role's rules still hold.",
    "",
    renderOverlay(input, OVERLAY_MIN_BYTES),
  ].join("\n");
}

/** Messages named at once. */
const MOST_MESSAGES = 20;

type Named = Pick<Message, "messageId" | "kind" | "from" | "subject" | "body">;

/** What waits in the inbox, by name: the messages themselves are handed over once, with a receipt. */
export function renderWaiting(messages: readonly Named[]): string {
  return renderMessageList("Waiting messages", messages, "They are handed to you at your next boundary.");
}

/** Mail it has had, which may have been lost with its context. */
export function renderHad(messages: readonly Named[]): string {
  return renderMessageList("Mail you have had", messages, "'overseer mail read <id>' shows one again.");
}

function renderMessageList(title: string, messages: readonly Named[], how: string): string {
  if (messages.length === 0) return "";
  const shown = messages.slice(0, MOST_MESSAGES).map(({ messageId, kind, from, subject, body }) => {
    return `- ${messageId}, ${kind} from ${inline(from, 60)}: ${inline(subject || body, 120)}`;
  });
  const more = messages.length - shown.length;
  return [`## ${title}`, "", ...shown, ...(more > 0 ? [`- and ${more} more`] : []), "", how].join("\n");
}

/** Calls shown, the newest last. */
const MOST_CALLS = 12;

/** What it did last, as its signals tell it; empty when they tell nothing. */
export function renderActivity(signals: readonly Signal[]): string {
  const lines = signals.flatMap((signal) => {
    if (signal.kind === "tool.started") return [`- ${signal.data.tool} ${inline(signal.data.args, 160)}`];
    if (signal.kind === "tool.ended" && !signal.data.ok) return [`  failed: ${inline(signal.data.result, 160)}`];
    if (signal.kind === "compaction.ended") return ["- (context compacted)"];
    return [];
  });
  return lines.length === 0 ? "" : ["## What you did last", "", ...lines.slice(-MOST_CALLS)].join("\n");
}

/** What was last written down about the node, all of it: whoever continues from here does not havehing else. */
export function renderLeft(
  left: (Pick<Crystallization, "summary" | "nextActions"> & Partial<Crystallization>) | undefined,
): string {
  if (!left) return "";
  const text = [
    left.summary,
    ...(left.currentState ? [`now: ${left.currentState}`] : []),
    ...left.nextActions.map((action) => `next: ${action}`),
    ...(left.decisions ?? []).map(
      ({ decision, rationale }) => `decided: ${decision}${rationale ? ` (${rationale})` : ""}`,
    ),
    ...(left.knownBlockers ?? []).map((blocker) => `in the way: ${blocker}`),
    ...(left.openQuestions ?? []).map((question) => `open: ${question}`),
    ...(left.evidence ? evidenceLines(left.evidence) : []),
  ].join("\n");
  return ["## Last crystallization", "", renderFenced(text, 4_000) ?? ""].join("\n");
}

export interface FleetSummary {
  readonly goals: readonly {
    readonly goalId: string;
    readonly title: string;
    readonly status: string;
    readonly percent: number;
    readonly blocked: number;
  }[];
  readonly agents: readonly { readonly label: string; readonly seen: string; readonly work: string }[];
  readonly questions: readonly { readonly questionId: string; readonly text: string }[];
  /** Reported done, not landed. */
  readonly reviews: readonly { readonly agent: string; readonly node: string; readonly state: string }[];
}

/** For whoever leads: a person, or an agent outside any attempt. */
export function renderFleet(fleet: FleetSummary, compact: boolean): string {
  const most = compact ? 5 : 20;
  const section = (title: string, none: string, lines: readonly string[]) => {
    const more = lines.length - most;
    const shown = lines.length === 0 ? [none] : [...lines.slice(0, most), ...(more > 0 ? [`- and ${more} more`] : [])];
    return [`## ${title}`, "", ...shown].join("\n");
  };
  return [
    "# Where things stand",
    section(
      "Goals",
      "None open.",
      fleet.goals.map(
        (goal) =>
          `- ${goal.goalId} ${goal.status}, ${goal.percent} %${goal.blocked > 0 ? `, ${goal.blocked} blocked` : ""}: ${inline(goal.title, 120)}`,
      ),
    ),
    section(
      "Agents at work",
      "None.",
      fleet.agents.map((agent) => `- ${agent.label} ${agent.seen} on ${agent.work}`),
    ),
    section(
      "Open questions",
      "None.",
      fleet.questions.map((question) => `- ${question.questionId}: ${inline(question.text, 160)}`),
    ),
    section(
      "Reported done, not landed",
      "None.",
      fleet.reviews.map(({ agent, node, state }) => `- ${node} by ${agent}, ${state}`),
    ),
  ].join("\n\n");
}

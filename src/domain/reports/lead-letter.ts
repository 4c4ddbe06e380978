/**
 * What of the log is worth a letter to the session that leads (ORCH-1, TELL-1): how the work of agents ended, what they
 * ask, what waits for a decision, and alarms. A letter's id follows from its event, so none is written twice. Texts of
 * agents are quoted by whoever hands the letter over.
 */
import { deriveId } from "#domain/core/derived-id.ts";
import type { EventOf } from "#domain/model/event.ts";
import type { Letter } from "#domain/model/message.ts";
import { ORCHESTRATOR_ADDRESS } from "#domain/model/protocol.ts";
import type { WorkNode } from "#domain/model/work.ts";
import { nodeKey } from "#domain/model/work.ts";
import { NEWS_TYPES, newsOf } from "./news.ts";

/** Types of event that a letter may come of. */
export const LETTER_TYPES = [
  ...NEWS_TYPES,
  "question.asked",
  "agent.ended",
] as const satisfies readonly EventOf["type"][];

export interface LetterContext {
  /** The node the event is about, as it stands now. */
  readonly node: Pick<WorkNode, "kind" | "status" | "claim"> | undefined;
  /** How many tasks its goal has. */
  readonly tasks: number;
  /** The letter by which an agent asked the same; a question by mail is a letter already. */
  findMailed(text: string): string | undefined;
}

type Said = Required<Pick<Letter, "subject" | "body" | "type">> & Pick<Letter, "priority">;

/** Undefined where nobody has to be told. */
export function letterFor(event: EventOf, context: LetterContext): Letter | undefined {
  const said = tell(event, context);
  if (!said) return undefined;
  const messageId = deriveId("m_", "lead", event.seq);
  return { messageId, kind: "mail", from: "overseer", to: ORCHESTRATOR_ADDRESS, ...said };
}

function tell(event: EventOf, { node, tasks, findMailed }: LetterContext): Said | undefined {
  const key = nodeKey(event.goalId ?? "", event.nodeId ?? "");
  switch (event.type) {
    case "question.asked": {
      const { questionId, text, options } = event.data;
      const about = event.nodeId ? ` about ${key}` : "";
      const letter = findMailed(text);
      const choices = options.map((option, index) => `${index + 1}. ${option}`);
      const body = [
        letter === undefined ? text : `It is asked in ${letter}.`,
        ...(choices.length > 0 ? ["", ...choices] : []),
        "",
        `Answer it with the answer tool or 'overseer answer ${questionId} <choice or words>'; the work waits for it. Where it is the user's to decide, ask them.`,
      ].join("\n");
      return { subject: `Question ${questionId}${about}`, body, type: "question", priority: "high" };
    }
    case "work.done": {
      if (node?.kind !== "task") return undefined;
      return { subject: `${key} is done`, body: `${key} has landed: ${event.data.summary}`, type: "result" };
    }
    case "work.cancelled": {
      // With its goal, which is told of.
      if (node?.kind !== "task" || event.because === "goal-cancelled") return undefined;
      const why = event.data.reason ? `: ${event.data.reason}` : ".";
      return { subject: `${key} was cancelled`, body: `${key} was cancelled${why}`, type: "status" };
    }
    case "agent.ended": {
      const { cause, detail, wip } = event.data;
      // What it reported done stands without it, and who stopped it knows.
      if (cause === "stopped" || node?.claim || node?.status === "done" || node?.status === "cancelled")
        return undefined;
      const how = cause === "died" ? "died" : cause === "finished" ? "ended without reporting done" : "failed to start";
      const kept = wip ? ` What it had not committed is kept in ${wip}.` : "";
      const subject = `${event.agent} ${how}`;
      const type = cause === "finished" ? "status" : "error";
      return { subject, body: `${event.agent} on ${key} ${how}. ${detail}${kept}`, type };
    }
    case "landing.waiting": {
      if (event.data.for !== "review" || !node?.claim) return tellNews(event);
      const next = `Look at it with the review tool or 'overseer review ${key}', then accept it or reject it.`;
      const body = node.claim.summary === "" ? next : `${node.claim.summary}\n\n${next}`;
      return { subject: `${key} waits for review`, body, type: "result" };
    }
    case "goal.completed":
      // Of one task, that it is done says all.
      if (tasks <= 1) return undefined;
      return { subject: `Goal ${event.goalId} is reached`, body: `Goal ${event.goalId} is reached.`, type: "result" };
    default:
      return tellNews(event);
  }
}

function tellNews(event: EventOf): Said | undefined {
  const news = newsOf(event);
  // Plans are asked for by whoever waits for them.
  if (!news || news.ends || news.subject.startsWith("plan ")) return undefined;
  const type = news.topic === "review" ? "result" : "status";
  const subject = news.text.split("\n")[0]?.slice(0, 120) ?? news.subject;
  return { subject, body: news.text, type, ...(news.urgent ? { priority: "high" } : {}) };
}

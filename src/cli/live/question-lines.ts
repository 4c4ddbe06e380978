/** A question as a page to read before one answers it: who asks, about what, since when, all of it, and its choices. Pure. */
import { inert } from "#cli/text.ts";
import { nodeKey } from "#domain/model/work.ts";
import { ago, EMPTY_LINE, type Line, makeLine, toLines } from "./line.ts";
import { nameTask } from "./task-name.ts";
import type { View } from "./view.ts";

export function listQuestionLines(question: View["status"]["questions"][number], view: View): Line[] {
  const { questionId, goalId, workNodeId, text, options, askedAt } = question;
  const place = goalId !== null && workNodeId !== null ? nameTask(nodeKey(goalId, workNodeId), view) : goalId;
  const choices = options.flatMap((option, at) => toLines(`${at + 1}. ${option}`));
  const how = choices.length > 0 ? "a, or the number of a choice, begins an answer" : "a begins an answer";
  return [
    makeLine(inert(`${tellAsker(question, view)} asks${place === null ? "" : ` about ${place}`}`), "title"),
    makeLine(`${questionId}, asked ${ago(view.now - askedAt)} ago`, "faint"),
    EMPTY_LINE,
    ...toLines(text.trim()),
    EMPTY_LINE,
    ...(choices.length > 0 ? [makeLine("Choices", "title"), ...choices, EMPTY_LINE] : []),
    makeLine(`${how}; nothing is sent before you press Enter there.`, "faint"),
  ];
}

/** The agent where one asked: who wrote it into the log, else who is at that task. */
function tellAsker({ askedBy, goalId, workNodeId }: View["status"]["questions"][number], { status }: View): string {
  if (askedBy === "overseer") return "Overseer";
  const agent = status.agents.find((one) => one.goalId === goalId && one.workNodeId === workNodeId);
  return agent ? `${agent.agent}#${agent.attempt}` : askedBy;
}

/** `overseer questions`: what people are asked, and whether anybody can have seen it. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { breakLines, inert, moment } from "#cli/text.ts";
import { presentQuestionId, presentQuestions } from "#control/present.ts";
import type { QuestionView } from "#control/question-view.ts";
import * as questions from "#control/questions.ts";
import { listFailingChannels } from "#domain/reports/question-notice.ts";

const QUESTION_ARG = { name: "question", summary: "Its number, or q_…, or a unique prefix of that." };

const list: Command<Parts> = {
  name: "list",
  summary: "List open questions, oldest first.",
  options: [
    { name: "all", summary: "Include answered and withdrawn ones, newest first." },
    { name: "limit", value: "n", summary: "With --all, at most this many (default 100)." },
  ],
  async run(call, parts) {
    const filter = { all: call.has("all"), limit: call.number("limit") };
    const found = await questions.questions(await parts.world(), filter);
    if (call.json) return call.out.json(presentQuestions(found));
    if (found.length === 0) return call.out.line(filter.all ? "No questions yet." : "No open questions.");
    for (const question of found) printQuestion(call, question);
    if (found.some((question) => question.status === "open")) {
      call.out.remark("Answer one by its number, which stays its own: overseer answer <number> <choice or text>");
    }
  },
};

function printQuestion(call: Call, question: QuestionView): void {
  const { out } = call;
  const about = question.workNodeId ? ` about ${question.goalId}/${question.workNodeId}` : "";
  const state = question.status === "open" ? "" : `  ${question.status}`;
  out.line(
    `${question.number}  ${question.questionId}${state}  ${moment(question.askedAt)} UTC  ${inert(question.askedBy)}${inert(about)}`,
  );
  for (const line of breakLines(out, question.text, "  ")) out.line(line);
  question.options.forEach((option, index) => {
    for (const line of breakLines(out, `${index + 1}. ${option}`, "    ")) out.line(line);
  });
  if (question.answer !== null)
    for (const line of breakLines(out, `answered: ${question.answer}`, "  ")) out.line(line);
  if (question.status !== "open") return;
  if (question.acknowledgedBy !== null) out.line(`  seen by ${inert(question.acknowledgedBy)}`);
  if (question.round > 0) out.line(`  raised again ${question.round === 1 ? "once" : `${question.round} times`}`);
  if (question.reach.state !== "unreached") {
    for (const { channel, sinceAt, problem } of listFailingChannels([question]))
      out.line(`  NOT TOLD by ${inert(channel)} since ${moment(sinceAt)} UTC, tried again: ${inert(problem)}`);
  }
  if (question.reach.state === "unreached") out.line(`  NOBODY WAS REACHED: ${inert(question.reach.why)}`);
}

const ack: Command<Parts> = {
  name: "ack",
  summary: "Acknowledge a question, so that it is not raised again.",
  args: [QUESTION_ARG],
  async run(call, parts) {
    const questionId = await questions.acknowledge(await parts.world(), call.arg("question"));
    if (call.json) return call.out.json(presentQuestionId(questionId));
    call.out.line(`Noted: you have seen ${questionId}.`);
  },
};

const withdraw: Command<Parts> = {
  name: "withdraw",
  summary: "Withdraw a question that needs no answer any more.",
  args: [QUESTION_ARG],
  options: [{ name: "reason", value: "text", summary: "The reason; kept in the log." }],
  async run(call, parts) {
    const questionId = await questions.withdraw(await parts.world(), call.arg("question"), call.text("reason"));
    if (call.json) return call.out.json(presentQuestionId(questionId));
    call.out.line(`Withdrew ${questionId}.`);
  },
};

const command: Command<Parts> = {
  name: "questions",
  summary: "Show what people are asked, and by whom.",
  subcommands: [list, ack, withdraw],
  otherwise: "list",
};

export default command;

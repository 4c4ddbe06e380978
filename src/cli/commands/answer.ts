/** `overseer answer`: a person decides, and the work continues. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { answerByToken } from "#control/answer-by-token.ts";
import { presentAnswer } from "#control/present.ts";
import { giveAnswer, readQuestion } from "#control/questions.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "answer",
  summary: "Answer a question, so that the work continues.",
  details:
    "Questions are numbered as they are asked, and a number is never used again: what 'overseer questions' shows as 3 is 3 for ever. The answer is an option's number or text, or your own words. The agent that asked gets it as a message, and the handoff keeps it for the next one.",
  args: [
    { name: "question", summary: "Its number, q_…, or a unique prefix of that; with --token it is left out." },
    { name: "answer", summary: "An option's number or text, or your own words.", rest: true, optional: true },
  ],
  options: [
    { name: "token", value: "token", summary: "The token that came with the question; it names the question." },
  ],
  examples: [
    { line: "overseer answer 3 2", why: "question 3: choose the second option" },
    { line: "overseer answer q_7ZK3 use the ISO calendar everywhere", why: "in your own words" },
    { line: "overseer answer --token q_7ZK3.… 2", why: "with the token that came with the question, once" },
  ],
  async run(call, parts) {
    const token = call.text("token");
    const world = await parts.world();
    const words = [...(token === undefined ? [] : [call.arg("question")]), ...call.restArgs()].join(" ");
    if (words.trim() === "") {
      const asked = token === undefined ? await readQuestion(world, call.arg("question")) : undefined;
      const message = asked
        ? `An answer needs words. ${asked.questionId} asks: ${inert(asked.text)}`
        : "An answer needs words.";
      const which = token === undefined ? call.arg("question") : "<question>";
      const choices = asked?.options.map((option, at) => `${at + 1}. ${inert(option)}`).join(" / ") ?? "";
      const hint = `overseer answer ${which} <choice or text>${choices === "" ? "" : `: ${choices}`}`;
      throw new OverseerError("usage", "ANSWER_MISSING", message, hint);
    }
    const answered =
      token === undefined
        ? await giveAnswer(world, call.arg("question"), words)
        : await answerByToken(world, { token, words, via: "answer --token" });
    if (call.json) return call.out.json(presentAnswer(answered));
    call.out.line(`Answered ${answered.questionId} (${inert(clip(answered.asked))}): ${inert(answered.answer)}`);
    if (answered.toldAgent !== null) call.out.remark(`${answered.toldAgent} is told.`);
    else if (answered.unblocked) call.out.remark("The work is in the queue again; whoever gets it is told.");
  },
};

function clip(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}

export default command;

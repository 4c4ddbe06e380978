/** `overseer answer`: a person decides, and the work continues. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentAnswer } from "#control/present.ts";
import { giveAnswer } from "#control/questions.ts";

const command: Command<Parts> = {
  name: "answer",
  summary: "Answer a question, so that the work continues.",
  details:
    "The answer is an option's number or text, or your own words. The agent that asked gets it as a message, and the handoff keeps it for the next one.",
  args: [
    { name: "question", summary: "q_…, or a unique prefix of it." },
    { name: "answer", summary: "An option's number or text, or your own words.", rest: true },
  ],
  examples: [
    { line: "overseer answer q_7ZK3 2", why: "choose the second option" },
    { line: "overseer answer q_7ZK3 use the ISO calendar everywhere", why: "in your own words" },
  ],
  async run(call, parts) {
    const words = call.restArgs().join(" ");
    const answered = await giveAnswer(await parts.world(), call.arg("question"), words);
    if (call.json) return call.out.json(presentAnswer(answered));
    call.out.line(`Answered ${answered.questionId}: ${inert(answered.answer)}`);
    if (answered.told !== null) call.out.remark(`#${answered.told} is told.`);
    else if (answered.unblocked) call.out.remark("The work is in the queue again; whoever gets it is told.");
  },
};

export default command;

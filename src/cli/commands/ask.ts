/** `overseer ask`: an agent puts a question to a person. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { presentReport } from "#control/present.ts";
import { reportQuestion, type SpokenQuestion } from "#control/reports.ts";

const command: Command<Parts> = {
  name: "ask",
  summary: "Ask a person (for agents).",
  details:
    "Ask one question and list the choices you see. Your node is blocked until the answer arrives as a message that starts your next turn; with --go-on you keep working meanwhile.",
  args: [{ name: "question", summary: "What has to be decided." }],
  options: [
    { name: "option", value: "text", summary: "A possible answer.", repeat: true },
    { name: "node", value: "id", summary: "Which part of your work it is about." },
    { name: "go-on", summary: "Keep working meanwhile; without it your node is blocked until the answer." },
  ],
  examples: [{ line: 'overseer ask "Which calendar?" --option Gregorian --option Julian', why: "and end your turn" }],
  async run(call, parts) {
    const reported = await reportQuestion(await parts.world(), questionOf(call));
    if (call.json) return call.out.json(presentReport(reported));
    call.out.line(`Asked (${reported.questionId}). The answer comes as a message.`);
  },
};

export function questionOf(call: Call): SpokenQuestion {
  const node = call.text("node");
  return {
    text: call.arg("question"),
    options: call.list("option"),
    goOn: call.has("go-on"),
    ...(node === undefined ? {} : { node }),
  };
}

export default command;

/** `overseer reject`: a person sends finished work back. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { presentRejected } from "#control/present.ts";
import { rejectLanding } from "#control/review.ts";

const command: Command<Parts> = {
  name: "reject",
  summary: "Send finished work back to its agent, with a reason.",
  details:
    "The agent gets your reason and continues; if it has ended, the task is dispatched again with the work it left. Nothing is lost.",
  args: [{ name: "what", summary: "An agent (builder-1, builder-1#4), a task, or a landing (M_…)." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    {
      name: "commit",
      value: "sha",
      summary: "The commit that you have seen; if another one is reported now, nothing is done.",
    },
    { name: "reason", value: "text", summary: "What has to change; its author reads it." },
  ],
  examples: [
    { line: 'overseer reject builder-1 --reason "Dates without a zone must be refused"', why: "it tries again" },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal"), commit: call.text("commit") };
    const rejected = await rejectLanding(await parts.world(), words, call.text("reason") ?? "");
    if (call.json) return call.out.json(presentRejected(rejected));
    const where =
      rejected.outcome === "returned" ? "Sent back to its agent:" : "Its agent has ended; dispatched again:";
    call.out.line(`${where} ${rejected.node}.`);
  },
};

export default command;

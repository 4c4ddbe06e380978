/** `overseer pick`: a person continues with an agent's branch themselves. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentTakenOver } from "#control/present.ts";
import { pick } from "#control/review.ts";

const command: Command<Parts> = {
  name: "pick",
  summary: "Take over an agent's branch yourself.",
  details:
    "The agent is ended; its branch and worktree, with everything uncommitted, are yours. The task is not dispatched again, and nothing lands until you say so.",
  args: [{ name: "what", summary: "An agent (builder-1, builder-1#4), a task, or a landing (M_…)." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    { name: "reason", value: "text", summary: "The reason; kept in the log." },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal") };
    const taken = await pick(await parts.world(), words, call.text("reason") ?? null);
    if (call.json) return call.out.json(presentTakenOver(taken));
    call.out.line(`${taken.node} is yours: branch ${inert(taken.branch)} in ${inert(taken.worktree)}.`);
    call.out.remark(`When it is finished: overseer merge --branch ${taken.branch}`);
  },
};

export default command;

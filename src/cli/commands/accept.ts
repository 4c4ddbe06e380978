/** `overseer accept`: a person lets finished work land. */

import type { Command } from "#cli/command.ts";
import { tellLandings } from "#cli/landing-line.ts";
import type { Parts } from "#cli/parts.ts";
import { acceptWork } from "#control/review.ts";

const command: Command<Parts> = {
  name: "accept",
  summary: "Land finished work; your word for it.",
  details:
    "Checks that have not run on the commit run first, and the merged tree is checked before it becomes the target. Your checkout moves only forward and only when it is clean; otherwise the landing waits and says so. What does not land, and does not wait for anything that passes, ends with 4.",
  args: [{ name: "what", summary: "An agent's name, or a node." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    { name: "reason", value: "text", summary: "Why; kept in the log." },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal") };
    const landed = await acceptWork(await parts.world(), words, call.text("reason"));
    tellLandings(call, [landed], landed);
  },
};

export default command;

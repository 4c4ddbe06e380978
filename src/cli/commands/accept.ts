/** `overseer accept`: a person lets finished work land. */

import type { Command } from "#cli/command.ts";
import { tellLandings } from "#cli/landing-line.ts";
import type { Parts } from "#cli/parts.ts";
import { presentLanded } from "#control/present.ts";
import { acceptWork } from "#control/review.ts";

const command: Command<Parts> = {
  name: "accept",
  summary: "Accept finished work and land it.",
  details:
    "Checks that have not run on the commit run first, and the merged tree is checked before the target moves. Your checkout moves only forward and only when it is clean; otherwise the landing waits and says so. If it neither lands nor waits for something temporary, the exit code is 4.",
  args: [{ name: "what", summary: "An agent's name, or a node." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    { name: "reason", value: "text", summary: "The reason; kept in the log." },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal") };
    const landed = await acceptWork(await parts.world(), words, call.text("reason"));
    tellLandings(call, [landed], presentLanded(landed));
  },
};

export default command;

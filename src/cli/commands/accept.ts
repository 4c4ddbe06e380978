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
    "Checks that have not run on the commit run first, and the merged tree is checked before the target moves. Your checkout moves only forward and only when it is clean; otherwise the landing waits and says so. The exit code is 0 only if it has landed: 4 if it did not (a conflict, a failed check, a question), 7 while it waits for something temporary.",
  args: [{ name: "what", summary: "An agent (builder-1, builder-1#4), a task, or a landing (M_…)." }],
  options: [
    { name: "goal", value: "id", summary: "The goal, if several have that node." },
    {
      name: "commit",
      value: "sha",
      summary: "The commit that you have seen; if another one is reported now, nothing is done.",
    },
    { name: "reason", value: "text", summary: "The reason; kept in the log." },
  ],
  async run(call, parts) {
    const words = { what: call.arg("what"), goal: call.text("goal"), commit: call.text("commit") };
    const landed = await acceptWork(await parts.world(), words, call.text("reason"));
    tellLandings(call, [landed], presentLanded(landed));
  },
};

export default command;

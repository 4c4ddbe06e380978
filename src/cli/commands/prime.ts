/** `overseer prime`: the context to continue with. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { prime } from "#control/prime.ts";

const command: Command<Parts> = {
  name: "prime",
  summary: "Print the context an agent, or whoever leads, needs to continue.",
  details:
    "Inside an agent's session: its assignment, the messages that wait, what it did last and what was left behind. Anywhere else: where goals, agents and questions stand.",
  args: [{ name: "agent", summary: "Show what this agent would be given.", optional: true }],
  options: [{ name: "compact", summary: "The short form, as after a compaction." }],
  examples: [
    { line: "overseer prime builder-1 --compact", why: "the page builder-1 is given again after a compaction" },
  ],
  async run(call, parts) {
    const agent = call.optionalArg("agent");
    const given = await prime(await parts.world(), {
      compact: call.has("compact"),
      ...(agent === undefined ? {} : { agent }),
    });
    if (call.json) return call.out.json(given);
    for (const line of given.text.split("\n")) call.out.line(inert(line));
  },
};

export default command;

/** `overseer prime`: the context to continue with. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentPrime } from "#control/present.ts";
import { prime } from "#control/prime.ts";

const command: Command<Parts> = {
  name: "prime",
  summary: "Print the context an agent, or a lead, needs to continue.",
  details:
    "Inside an agent's session: its assignment, waiting messages, what it did last and what was left behind. Anywhere else: the state of goals, agents and questions.",
  args: [{ name: "agent", summary: "Show what this agent would get.", optional: true }],
  options: [{ name: "compact", summary: "The short form, as after a compaction." }],
  examples: [{ line: "overseer prime builder-1 --compact", why: "what builder-1 gets again after a compaction" }],
  async run(call, parts) {
    const agent = call.optionalArg("agent");
    const given = await prime(await parts.world(), {
      compact: call.has("compact"),
      ...(agent === undefined ? {} : { agent }),
    });
    if (call.json) return call.out.json(presentPrime(given));
    for (const line of given.text.split("\n")) call.out.line(inert(line));
  },
};

export default command;

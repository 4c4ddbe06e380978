/** `overseer why <id>`: how something came to be as it is. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment } from "#cli/text.ts";
import { presentWhy } from "#control/present.ts";
import { why } from "#control/why.ts";

const command: Command<Parts> = {
  name: "why",
  summary: "Explain how a goal, node, assignment or question got into its state.",
  args: [{ name: "id", summary: "goal_…, T1.1, goal_…/T1.1, A_… or q_…" }],
  options: [{ name: "goal", value: "id", summary: "The goal a node belongs to." }],
  examples: [{ line: "overseer why T1.1", why: "the chain of events and reasons, in sentences" }],
  async run(call, parts) {
    const told = await why(await parts.world(), call.arg("id"), call.text("goal"));
    if (call.json) return call.out.json(presentWhy(told));
    const { out } = call;
    out.line(inert(told.headline));
    out.line();
    for (const { at, text } of told.story) out.line(`  ${moment(at)}  ${inert(text)}`);
    if (told.now.length > 0) out.line();
    for (const line of told.now) out.line(inert(line));
  },
};

export default command;

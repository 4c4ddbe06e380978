/** `overseer syncs`: which learnings were told to whom, and whether they were seen. */

import type { Command } from "#cli/command.ts";
import { limitIn } from "#cli/limit-option.ts";
import type { Parts } from "#cli/parts.ts";
import { moment, table } from "#cli/text.ts";
import { syncs } from "#control/learnings.ts";
import { presentSyncs } from "#control/present.ts";

const command: Command<Parts> = {
  name: "syncs",
  summary: "List what agents were told of others' learnings.",
  options: [
    { name: "agent", value: "name", summary: "Only what this agent was told." },
    { name: "limit", value: "n", summary: "At most this many (default 20)." },
  ],
  examples: [{ line: "overseer syncs --agent builder-2", why: "what builder-2 was told, and whether it has seen it" }],
  async run(call, parts) {
    const filter = { agent: call.text("agent"), limit: limitIn(call, 20) };
    const found = await syncs(await parts.world(), filter);
    if (call.json) return call.out.json(presentSyncs(found));
    if (found.length === 0) return call.out.line("Nothing was passed on yet.");
    table(
      call.out,
      found.map(({ at, agent, attempt, urgency, status, learningId, from, text }) => [
        ...[moment(at), `${from} → ${agent}#${attempt}`, urgency ?? "", status, learningId, text],
      ]),
    );
  },
};

export default command;

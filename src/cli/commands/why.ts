/** `overseer why <id>`: the answer in a few sentences, and with --all every step that led there. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, moment, plural } from "#cli/text.ts";
import { presentWhy } from "#control/present.ts";
import { why } from "#control/why.ts";
import { foldReceipts } from "#domain/explain/cause.ts";

const command: Command<Parts> = {
  name: "why",
  summary: "Explain how a goal, node, assignment or question got into its state.",
  args: [{ name: "id", summary: "goal_…, T1.1, goal_…/T1.1, A_… or q_…" }],
  options: [
    { name: "goal", value: "id", summary: "The goal a node belongs to." },
    { name: "all", summary: "Every step that led there, oldest first." },
  ],
  examples: [
    { line: "overseer why T1.1", why: "what it is, what made it so, and what would change it" },
    { line: "overseer why T1.1 --all", why: "every event and its reason, in sentences" },
  ],
  async run(call, parts) {
    const told = await why(await parts.world(), call.arg("id"), call.text("goal"));
    if (call.json) return call.out.json(presentWhy(told));
    const { out } = call;
    const { headline, cause, now, story } = told;
    out.line(inert(headline));
    if (cause) out.line(`${inert(cause.text)} (${moment(cause.at)} UTC)`);
    for (const line of now) out.line(inert(line));
    if (!call.has("all")) {
      if (story.length > 1) out.remark(`${plural(story.length, "step")} led here; --all tells them.`);
      return;
    }
    out.line();
    for (const { at, text } of foldReceipts(story, told.receipts)) out.line(`  ${moment(at)}  ${inert(text)}`);
  },
};

export default command;

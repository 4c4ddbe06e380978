/** `overseer why <id>`: the answer in three sentences with the next command, then what else holds; --all tells every step. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { shortTime, withShortTimes } from "#cli/short-time.ts";
import { inert, plural } from "#cli/text.ts";
import { presentWhy } from "#control/present.ts";
import { why } from "#control/why.ts";
import { foldReceipts } from "#domain/explain/cause.ts";

const command: Command<Parts> = {
  name: "why",
  summary: "Explain how a goal, task, agent or question got there.",
  args: [{ name: "id", summary: "goal_…, T1.1, goal_…/T1.1, an agent, A_…, M_… or q_…" }],
  options: [
    { name: "goal", value: "id", summary: "The goal a node belongs to." },
    { name: "all", summary: "Every step that led there, oldest first." },
  ],
  examples: [
    { line: "overseer why T1.1", why: "what it is, what made it so, and what would change it" },
    { line: "overseer why T1.1 --all", why: "every event and its reason, in sentences" },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const told = await why(world, call.arg("id"), call.text("goal"));
    if (call.json) return call.out.json(presentWhy(told));
    const { out } = call;
    const { headline, cause, story, answer } = told;
    const now = world.clock.now();
    const tell = (text: string) => inert(withShortTimes(text, now));
    out.line(paint(tell(headline), "1", out.colour));
    if (cause) out.line(`Since ${shortTime(cause.at, now)}: ${tell(cause.text)}`);
    if (answer.next !== null) out.line(tell(answer.next));
    if (answer.command !== null) out.line(`Next: ${paint(tell(answer.command), "36", out.colour)}`);
    if (answer.more.length > 0) out.line();
    for (const line of answer.more) out.line(tell(line));
    if (!call.has("all")) {
      if (story.length > 1) out.remark(`${plural(story.length, "step")} led here; --all tells them.`);
      return;
    }
    out.line();
    for (const { at, text } of foldReceipts(story, told.receipts)) out.line(`  ${shortTime(at, now)}  ${tell(text)}`);
  },
};

function paint(text: string, style: string, colour: boolean): string {
  return colour ? `\u001b[${style}m${text}\u001b[0m` : text;
}

export default command;

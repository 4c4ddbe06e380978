/** `overseer restart`: lets an agent that died, or is to begin again, continue where it was. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { presentAttempt } from "#control/present.ts";
import { restart } from "#control/restart.ts";

const command: Command<Parts> = {
  name: "restart",
  summary: "Restart an agent in the same worktree, branch and session.",
  details:
    "A new attempt continues where the last one ended, with its uncommitted work, its conversation and its unseen messages. A running agent is stopped first. For a fresh start, sling its task instead.",
  args: [{ name: "agent", summary: "Its name, label (builder-1#4) or task." }],
  options: [{ name: "reason", value: "text", summary: "The reason; kept in the log." }],
  examples: [{ line: "overseer restart builder-1", why: "its process was killed; its work continues" }],
  async run(call, parts) {
    const world = await parts.world();
    const tell = (sentence: string) => call.json || call.out.remark(inert(sentence));
    const attempt = await restart(world, call.arg("agent"), call.text("reason") ?? null, tell);
    if (call.json) return call.out.json(presentAttempt(attempt));
    call.out.line(
      `${attempt.agent}#${attempt.attempt} continues where #${attempt.continues} had ended, branch ${attempt.branch}.`,
    );
    call.out.remark(`Look: overseer peek ${attempt.agent} --follow`);
  },
};

export default command;

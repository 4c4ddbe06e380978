/** `overseer nudge`: a word to an agent at work, in the tone it is meant. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { nudge } from "#control/mail/send.ts";
import { assertOneMeaning } from "#control/names.ts";
import { presentNudge } from "#control/present.ts";
import type { NudgeSeverity } from "#domain/model/message.ts";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";

const command: Command<Parts> = {
  name: "nudge",
  summary: "Send a short note to a running agent.",
  details: "It arrives at the agent's next boundary, and expires when nobody saw it in time (inbox.nudgeExpiry).",
  args: [
    { name: "agent", summary: "Whom to nudge: its name, label (builder-1#4) or task." },
    { name: "text", summary: "What to say.", rest: true },
  ],
  options: [{ name: "severity", value: "tone", summary: "How it is meant (default hint).", choices: NUDGE_SEVERITIES }],
  examples: [
    {
      line: 'overseer nudge builder-1 "The tests are red on main." --severity warning',
      why: "a note, not an order",
    },
  ],
  async run(call, parts) {
    const world = await parts.world();
    await assertOneMeaning(await world.reader(), call.arg("agent"));
    const sent = await nudge(world, call.arg("agent"), {
      text: call.restArgs().join(" "),
      severity: (call.text("severity") ?? "hint") as NudgeSeverity,
    });
    if (call.json) return call.out.json(presentNudge(sent));
    call.out.line(`${sent.messageId} queued for ${sent.to}#${sent.attempt}.`);
  },
};

export default command;

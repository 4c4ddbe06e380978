/** `overseer nudge`: a word to an agent at work, in the tone it is meant. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { nudge } from "#control/mail/send.ts";
import { presentNudge } from "#control/present.ts";
import type { NudgeSeverity } from "#domain/model/message.ts";
import { NUDGE_SEVERITIES } from "#domain/model/message.ts";

const command: Command<Parts> = {
  name: "nudge",
  summary: "Send a short note to a running agent; it arrives at its next boundary.",
  args: [
    { name: "agent", summary: "Whom to nudge." },
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
    const sent = await nudge(await parts.world(), call.arg("agent"), {
      text: call.restArgs().join(" "),
      severity: (call.text("severity") ?? "hint") as NudgeSeverity,
    });
    if (call.json) return call.out.json(presentNudge(sent));
    call.out.line(`${sent.messageId} queued for ${sent.to}#${sent.attempt}.`);
  },
};

export default command;

/**
 * `overseer hook <event>`, and `log <event>`, its older name: what agents' hooks call. bin/overseer and main.ts send
 * both straight to the hook's own small bundle; this entry is for help and for whoever puts an option in front.
 */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { HOOK_EVENTS } from "#domain/permit/hook-settings.ts";

export function hookCommand(name: "hook" | "log"): Command<Parts> {
  return {
    name,
    summary:
      name === "hook" ? "Record what an agent's hook was told; for agents' settings." : "The older name of hook.",
    details:
      "Reads the hook's JSON on standard input. Always ends with 0, whatever is missing, so that no agent is held up.",
    args: [{ name: "event", summary: "The event, as the agent's CLI names it.", choices: HOOK_EVENTS }],
    async run(call, parts) {
      const answer = await parts.hook(call.arg("event"));
      if (answer !== undefined) call.out.line(answer);
    },
  };
}

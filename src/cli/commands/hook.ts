/**
 * `overseer hook <event>`, and `log <event>`, its older name: what agents' hooks may call. bin/overseer and main.ts send
 * a call of an agent's straight to the hook's own small bundle, which never fails; here arrive people, who get an answer.
 */
import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { HOOK_MOMENTS } from "#domain/permit/hook-moments.ts";
import { OverseerError } from "#errors.ts";

export function hookCommand(name: "hook" | "log"): Command<Parts> {
  return {
    name,
    summary:
      name === "hook" ? "Record what an agent's hook was told; for agents' settings." : "The older name of hook.",
    details:
      "Reads the hook's JSON on standard input. Called by an agent it always ends with 0, whatever is missing, so that it never blocks an agent.",
    args: [{ name: "event", summary: "The moment to record.", choices: HOOK_MOMENTS }],
    async run() {
      throw new OverseerError(
        "usage",
        "NO_AGENT",
        "Only the hooks of an agent that Overseer started have something to record; nothing was recorded.",
        "To see what agents did, run 'overseer status' or 'overseer why <node>'.",
      );
    },
  };
}

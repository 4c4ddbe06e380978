/** A program of the user's, started with the notice as JSON on its standard input; its words are arguments, not shell. */
import type { Channel } from "./channel.ts";
import { readReply } from "./channel.ts";
import { runProgram } from "./program.ts";

export const command: Channel = {
  kind: "command",
  async send(notice, to, parts) {
    const ran = await runProgram(to, `${JSON.stringify(notice)}\n`, parts);
    return ran.ok ? readReply(ran.said) : ran.outcome;
  },
};

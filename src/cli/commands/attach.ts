/** `overseer attach`: look into an agent's terminal; a line typed there is a message to it. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { attachCommand } from "#control/agents.ts";
import { presentAttach } from "#control/present.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "attach",
  summary: "Open an agent's terminal; detach with Ctrl-b d.",
  args: [{ name: "agent", summary: "The agent's name." }],
  options: [{ name: "print", summary: "Print the command instead of running it." }],
  async run(call, parts) {
    const argv = await attachCommand(await parts.world(), call.arg("agent"));
    if (call.json) return call.out.json(presentAttach(argv));
    if (call.has("print")) return call.out.line(argv.join(" "));
    if (!call.out.interactive) {
      throw new OverseerError(
        "usage",
        "NO_TTY",
        "There is no terminal to attach here.",
        "Run it in a terminal, or use 'overseer peek --follow'.",
      );
    }
    const child = Bun.spawn(argv, { stdio: ["inherit", "inherit", "inherit"], env: process.env });
    await child.exited;
  },
};

export default command;

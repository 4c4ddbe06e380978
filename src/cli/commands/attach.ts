/** `overseer attach`: beside an agent at work: its own screen where it has one, else its conversation with a line to type in. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { attachCommand, readAgent } from "#control/agents.ts";
import { presentAttach } from "#control/present.ts";
import { explainEnd } from "#control/talk.ts";
import type { World } from "#control/world.ts";
import { type Attempt, attemptLabel, isLiving } from "#domain/model/attempt.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "attach",
  summary: "Sit beside an agent, and write to it.",
  details:
    "An agent on its own screen (sling --interactive) is shown in tmux; detach with Ctrl-b d. Of any other its conversation goes on above a line in which you write to it; ? helps, Ctrl-C or Ctrl-D leaves. It continues either way.",
  args: [{ name: "agent", summary: "Its name, label (builder-1#4) or task." }],
  options: [{ name: "print", summary: "Print the command instead of running it." }],
  async run(call, parts) {
    const world = await parts.world();
    const name = call.arg("agent");
    const { out } = call;
    if (call.json) return out.json(presentAttach(await attachCommand(world, name)));
    if (call.has("print")) return out.line((await attachCommand(world, name)).join(" "));
    const attempt = await readAgent(world, name);
    if (!out.interactive || attempt.interactive || !isLiving(attempt)) {
      const argv = await attachCommand(world, name);
      if (!out.interactive) throw noTerminal();
      return openScreen(call, world, attempt, argv);
    }
    const { showAttached } = await import("#cli/attach-view.ts");
    return showAttached(world, attempt, out);
  },
};

async function openScreen({ out }: Call, world: World, attempt: Attempt, argv: readonly string[]): Promise<void> {
  const label = attemptLabel(attempt);
  out.remark(`${label} is on its own screen; leave it with Ctrl-b d, and it continues.`);
  const child = Bun.spawn([...argv], { stdio: ["inherit", "inherit", "inherit"], env: process.env });
  await child.exited;
  out.remark((await explainEnd(world, attempt.attempt)) ?? `You have left; ${label} continues.`);
}

function noTerminal(): OverseerError {
  const hint = "Run it in a terminal, or use 'overseer peek --follow'.";
  return new OverseerError("usage", "NO_TTY", "There is no terminal to attach here.", hint);
}

export default command;

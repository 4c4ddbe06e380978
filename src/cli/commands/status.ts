/** `overseer status`: the state of the fleet, what needs somebody first. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { presentStatus } from "#control/present.ts";
import { readFleetStatus } from "#control/status.ts";

const command: Command<Parts> = {
  name: "status",
  summary: "Show the state of the fleet.",
  options: [
    { name: "watch", short: "w", summary: "Follow on a full screen; q quits." },
    { name: "plain", summary: "One sentence a line, without columns and colour, for screen readers." },
  ],
  examples: [
    { line: "overseer status --watch", why: "keep it open beside your work" },
    { line: "overseer status --json | jq '.goals[] | select(.blocked > 0)'", why: "for scripts" },
  ],
  async run(call, parts) {
    const { out } = call;
    if (call.has("watch")) {
      const { watchStatus } = await import("#cli/live/watch.ts");
      return watchStatus(parts.worldNow, out).catch(greet);
    }
    const world = await parts.world().catch(greet);
    const now = await readFleetStatus(world).catch(greet);
    if (call.json) return out.json(presentStatus(now));
    const { renderStatus } = await import("#cli/status-page.ts");
    const { roomOf } = await import("#cli/text.ts");
    const style = { plain: call.has("plain"), colour: out.colour, width: roomOf(out) };
    for (const line of renderStatus(now, world.clock.now(), style)) out.line(line);
  },
};

/** Whoever looks at a fleet where nothing is set up is told how to begin. */
async function greet(error: unknown): Promise<never> {
  const { addFirstCommands } = await import("#cli/alone.ts");
  throw addFirstCommands(error);
}

export default command;

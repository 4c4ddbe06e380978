/** `overseer peek`: what an agent is doing, without disturbing it. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inertLines } from "#cli/text.ts";
import { peekAgent } from "#control/agents.ts";
import { presentPeek } from "#control/present.ts";

const LOOK_EVERY_MS = 300;

const command: Command<Parts> = {
  name: "peek",
  summary: "Show an agent's last lines; --follow keeps showing them.",
  args: [{ name: "agent", summary: "The agent's name." }],
  options: [
    { name: "lines", short: "n", value: "n", summary: "How many (default 30)." },
    {
      name: "follow",
      short: "f",
      summary: "Follow: full screen until q, or as lines in a pipe until it has ended.",
    },
  ],
  async run(call, parts) {
    const world = await parts.world();
    const name = call.arg("agent");
    if (call.has("follow") && call.out.interactive && !call.json) {
      const { followAgent } = await import("#cli/live/follow.ts");
      return followAgent(world, name, call.out);
    }
    const first = await peekAgent(world, name, call.number("lines") ?? 30);
    if (call.json) return call.out.json(presentPeek(first));
    call.out.line(inertLines(first.text));
    if (!call.has("follow")) return;
    call.out.live?.();
    const log = Bun.file(`${first.attempt.logDir}/session.log`);
    for (let from = log.size; ; ) {
      await world.clock.sleep(LOOK_EVERY_MS);
      const now = Bun.file(`${first.attempt.logDir}/session.log`);
      if (now.size > from) {
        const text = await now.slice(from).text();
        const whole = text.slice(0, text.lastIndexOf("\n") + 1);
        from += Buffer.byteLength(whole);
        if (whole) call.out.line(inertLines(whole.trimEnd()));
      } else if ((await peekAgent(world, name, 1)).attempt.status === "ended") return;
    }
  },
};

export default command;

/** `overseer watch --salute`: supervise agents elsewhere by their reports on a shared volume. */

import type { Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { parseDuration } from "#config/units.ts";
import { presentPlain } from "#control/present.ts";
import { SaluteWatch } from "#control/salute-watch.ts";
import { OverseerError } from "#errors.ts";
import { systemClock } from "#sys/clock.ts";
import { systemFiles } from "#sys/files.ts";

const command: Command<Parts> = {
  name: "watch",
  summary: "Supervise agents on other hosts by their SALUTE reports.",
  details: `Agents with \`salute.sharedDir\` in their configuration write their reports there. Those without their own reflex
(\`reflex.enabled: false\`) are steered from here, by files that their hooks pick up. Ends with Ctrl-C, or when the directory is gone.`,
  options: [
    { name: "salute", value: "dir", summary: "The shared directory, with one subdirectory per container." },
    { name: "every", value: "time", summary: "How often to read the reports (default 2s)." },
    { name: "gone-after", value: "time", summary: "Treat an agent as gone after this much silence (default 5m)." },
    { name: "once", summary: "Read them once and exit." },
  ],
  examples: [{ line: "overseer watch --salute /shared/salute", why: "watch every agent that reports there" }],
  async run(call, _parts) {
    const directory = call.text("salute");
    if (directory === undefined) {
      const hint =
        "This repository's agents: 'overseer status --watch'. Those elsewhere: 'overseer watch --salute <dir>'.";
      throw new OverseerError("usage", "SALUTE_DIR_MISSING", "Which reports are to be watched?", hint);
    }
    const clock = systemClock();
    const goneAfterMs = timeOf("gone-after", call.text("gone-after") ?? "5m");
    const every = timeOf("every", call.text("every") ?? "2s");
    const watch = new SaluteWatch({ files: systemFiles(), clock, directory, goneAfterMs });
    if (!call.has("once")) call.out.live?.();
    for (;;) {
      for (const note of await watch.look()) {
        const at = new Date(clock.now()).toISOString();
        if (call.json) call.out.json(presentPlain({ at, note }));
        else call.out.line(`${at} ${inert(note)}`);
      }
      if (call.has("once")) return;
      await clock.sleep(every);
    }
  },
};

function timeOf(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new OverseerError("usage", "TIME_INVALID", `--${flag} ${text} is no span of time.`, 'Write "2s" or "5m".');
}

export default command;

/** `overseer watch`: the daemon without dispatch; with `--salute`, agents elsewhere by their reports on a shared volume. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { parseDuration } from "#config/units.ts";
import { launchDaemon } from "#control/daemon.ts";
import { presentPlain, presentStarted } from "#control/present.ts";
import { SaluteWatch } from "#control/salute-watch.ts";
import { watchElsewhere } from "#control/watch-elsewhere.ts";
import { OverseerError } from "#errors.ts";
import { systemClock } from "#sys/clock.ts";
import { systemFiles } from "#sys/files.ts";
import { readWatching, WATCHES_ONLY } from "./daemon.ts";

const command: Command<Parts> = {
  name: "watch",
  summary: "Look after agents and start none; --salute: elsewhere.",
  details: `Alone it is the daemon of this repository without dispatch: agents at work are adopted, judged, nudged and ended where they are dead,
and what would have to be started, checked or landed waits for 'overseer up'. It stays in this terminal until Ctrl-C, which leaves agents at work.
With --salute it reads the reports that agents with \`salute.sharedDir\` in their configuration write there; those without their own reflex
(\`reflex.enabled: false\`) are steered from here, by files that their hooks pick up. Inside a repository only those that policy.allowAgents or
--allow names are, and an emergency becomes a question here, once; at most three an hour about one name, ten about one container. What is no
whole report, no plain file or larger than 64 KB is skipped with a note. Ends with Ctrl-C, or when the directory is gone.`,
  options: [
    { name: "every", value: "time", summary: "How often to look (default watch.every; of reports 2s)." },
    { name: "interval", value: "time", summary: "The older name of --every." },
    { name: "background", summary: "Return at once, as 'overseer up' does; 'overseer down' ends it." },
    { name: "salute", value: "dir", summary: "The shared directory, with one subdirectory per container." },
    {
      name: "gone-after",
      value: "time",
      summary: "With --salute: an agent is gone after this much silence (default 5m).",
    },
    {
      name: "allow",
      value: "agent",
      summary: 'With --salute: steer this agent too, beside policy.allowAgents; "*" is everybody.',
      repeat: true,
    },
    { name: "once", summary: "With --salute: read the reports once and exit." },
  ],
  examples: [
    { line: "overseer watch", why: "look after the agents that you have slung" },
    { line: "overseer watch --salute /shared/salute", why: "watch every agent that reports there" },
  ],
  async run(call, parts) {
    const every = call.text("every") ?? call.text("interval");
    const directory = call.text("salute");
    if (directory !== undefined) return watchReports(call, parts, directory, every ?? "2s");
    const alone = ["gone-after", "once", "allow"].find((name) => call.has(name) || call.list(name).length > 0);
    if (alone !== undefined) {
      const hint = "This repository's agents: 'overseer watch'. Those elsewhere: 'overseer watch --salute <dir>'.";
      throw new OverseerError("usage", "NEEDS_SALUTE", `--${alone} only works with --salute.`, hint);
    }
    const world = await parts.world();
    const watching = await readWatching(world, every);
    const life = { supervision: true, auto: false, watching };
    if (!call.has("background")) {
      call.out.remark(`${WATCHES_ONLY} Ctrl-C ends it, and leaves agents at work.`);
      return parts.runDaemon(life);
    }
    const { daemonCommand: command, version } = parts;
    const started = await launchDaemon(world, { command, version, ...life });
    if (call.json) return call.out.json(presentStarted(started, [], null));
    call.out.line(`Watching: pid ${started.pid}, version ${started.version}. Its log: ${started.log}`);
    call.out.remark(WATCHES_ONLY);
  },
};

async function watchReports(call: Call, parts: Parts, directory: string, every: string): Promise<void> {
  const clock = systemClock();
  const goneAfterMs = timeOf("gone-after", call.text("gone-after") ?? "5m");
  const everyMs = timeOf("every", every);
  const here = await watchElsewhere(() => parts.world(), call.list("allow"));
  const watch = new SaluteWatch({ files: systemFiles(), clock, directory, goneAfterMs, ...here });
  if (!call.has("once")) call.out.live?.();
  for (;;) {
    for (const note of await watch.look()) {
      const at = new Date(clock.now()).toISOString();
      if (call.json) call.out.json(presentPlain({ at, note }));
      else call.out.line(`${at} ${inert(note)}`);
    }
    if (call.has("once")) return;
    await clock.sleep(everyMs);
  }
}

function timeOf(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new OverseerError("usage", "TIME_INVALID", `--${flag} ${text} is no span of time.`, 'Write "2s" or "5m".');
}

export default command;

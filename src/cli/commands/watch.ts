/** `overseer watch`: the daemon without dispatch; with `--salute`, agents elsewhere by their reports on a shared volume. */

import type { Call, Command } from "#cli/command.ts";
import type { Parts } from "#cli/parts.ts";
import { inert, plural } from "#cli/text.ts";
import { parseDuration } from "#config/units.ts";
import { launchDaemon, livingDaemon } from "#control/daemon.ts";
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
    const every = readEvery(call);
    const directory = call.text("salute");
    if (directory !== undefined) return watchReports(call, parts, directory, every);
    const alone = ["gone-after", "once", "allow"].find((name) => call.has(name) || call.list(name).length > 0);
    if (alone !== undefined) {
      const hint = "This repository's agents: 'overseer watch'. Those elsewhere: 'overseer watch --salute <dir>'.";
      throw new OverseerError("usage", "NEEDS_SALUTE", `--${alone} only works with --salute.`, hint);
    }
    const world = await parts.world();
    const watching = await readWatching(world, every.said, every.flag);
    const life = { supervision: true, auto: false, watching };
    if (!call.has("background")) {
      // Where one runs already, starting another refuses and says so; then nothing else is to be said.
      if (!livingDaemon(world)) {
        call.out.remark(`${WATCHES_ONLY} It is pid ${process.pid}; Ctrl-C ends it, and leaves agents at work.`);
      }
      await parts.runDaemon(life);
      return call.out.remark("It watches no more; agents are at work as they were.");
    }
    const { daemonCommand: command, version } = parts;
    const started = await launchDaemon(world, { command, version, ...life });
    if (call.json) return call.out.json(presentStarted(started, [], null));
    call.out.line(`Watching: pid ${started.pid}, version ${started.version}. Its log: ${started.log}`);
    call.out.remark(WATCHES_ONLY);
  },
};

interface Every {
  readonly flag: "every" | "interval";
  readonly said: string | undefined;
}

/** By the name it was given under; under both it would have to be guessed. */
function readEvery(call: Call): Every {
  const [every, interval] = [call.text("every"), call.text("interval")];
  if (every !== undefined && interval !== undefined) {
    const hint = "--interval is the older name of --every.";
    throw new OverseerError("usage", "TWO_WISHES", "--every and --interval say the same.", hint);
  }
  return interval === undefined ? { flag: "every", said: every } : { flag: "interval", said: interval };
}

async function watchReports(call: Call, parts: Parts, directory: string, every: Every): Promise<void> {
  if (call.has("background")) {
    throw new OverseerError(
      ...(["usage", "TWO_WISHES", "--salute and --background exclude each other."] as const),
      "It stays in this terminal; have a service manager run it where it should not.",
    );
  }
  const clock = systemClock();
  const goneAfterMs = timeOf("gone-after", call.text("gone-after") ?? "5m");
  const everyMs = timeOf(every.flag, every.said ?? "2s");
  const here = await watchElsewhere(() => parts.world(), call.list("allow"));
  const watch = new SaluteWatch({ files: systemFiles(), clock, directory, goneAfterMs, ...here });
  if (!call.has("once")) call.out.live?.();
  for (let looks = 0; ; looks += 1) {
    const notes = await watch.look();
    if (looks === 0) tellWatched(call, directory, watch.reporting);
    for (const note of notes) {
      const at = new Date(clock.now()).toISOString();
      if (call.json) call.out.json(presentPlain({ at, note }));
      else call.out.line(`${at} ${inert(note)}`);
    }
    if (call.has("once")) return;
    await clock.sleep(everyMs);
  }
}

/** What is watched, before anything is told of it: an empty directory is none that works. */
function tellWatched(call: Call, directory: string, reporting: number): void {
  const who = reporting === 0 ? "nobody reports there yet" : `${plural(reporting, "agent")} reported there`;
  if (call.json) call.out.json(presentPlain({ watching: directory, reporting }));
  else call.out.line(`Watching ${inert(directory)}: ${who}.`);
}

function timeOf(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new OverseerError("usage", "TIME_INVALID", `--${flag} ${text} is no span of time.`, 'Write "2s" or "5m".');
}

export default command;

/**
 * `overseer demo`: a fleet at work, on your machine, in half a minute, with nothing set up and nothing left behind. The
 * story is in demo/story.ts, the place it happens in in demo/place.ts; here is what a person sees of it.
 */

import { askYes } from "#cli/ask-yes.ts";
import type { Call, Command } from "#cli/command.ts";
import { paragraph } from "#cli/demo/lines.ts";
import type { ToldEvent } from "#cli/demo/narrate.ts";
import { COST, ownAgentStory } from "#cli/demo/own-agent.ts";
import {
  type DemoSandbox,
  endAll,
  listAbandonedDemos,
  makeDemoSandbox,
  release,
  removeDemoSandbox,
} from "#cli/demo/place.ts";
import { overseer, play, type Stage } from "#cli/demo/play.ts";
import type { Production, StoryOptions } from "#cli/demo/production.ts";
import { type Show, show } from "#cli/demo/show.ts";
import { FEWEST_AGENTS, MOST_AGENTS, makeScriptedStory } from "#cli/demo/story.ts";
import { storiesOf } from "#cli/demo/summary.ts";
import type { MachinePorts, Parts } from "#cli/parts.ts";
import { inert } from "#cli/text.ts";
import { OverseerError } from "#errors.ts";

const command: Command<Parts> = {
  name: "demo",
  summary: "See a fleet work in a throw-away repository; no key needed.",
  details: `A real fleet of scripted agents (processes, worktrees, hooks, commits) takes a goal through its plan, side by side: one
hangs, one lies, one goes in circles, one dies, one asks, two collide, and the daemon is killed on the way. No model
is called and nothing leaves the machine. Everything is removed at the end, even if you interrupt it.

With --runtime claude-code your own agent does the work, once you have seen what it may cost and agreed. Then the
parallel work, the checks, the question, the killed daemon and the landing are real; hanging, lying, looping and dying
are not staged, because your agent cannot be made to, and a conflict is likely but not certain.`,
  options: [
    { name: "keep", summary: "Keep the repository and its log, to look around in." },
    {
      name: "speed",
      value: "factor",
      summary: "2 is twice as fast, 0.5 half as fast (default 1); scripted agents only.",
    },
    { name: "headless", summary: "Print plain lines and ask nothing, for pipes and tests." },
    {
      name: "agents",
      value: "n",
      summary: `How many work at the same time, ${FEWEST_AGENTS} to ${MOST_AGENTS} (default 4).`,
    },
    {
      name: "runtime",
      value: "name",
      choices: ["scripted", "claude-code"],
      summary: "Who does the work: scripted agents (default), or your own Claude Code, which costs money.",
    },
    { name: "yes", summary: "Accept in advance what your own agent may cost." },
  ],
  examples: [
    { line: "overseer demo", why: "half a minute" },
    { line: "overseer demo --keep", why: "keep it, and look around afterwards" },
  ],
  async run(call, parts) {
    const options = optionsOf(call);
    const machine = parts.machine();
    const isOwn = call.text("runtime") === "claude-code";
    if (isOwn && !(await confirmCost(call))) return call.out.line("Nothing was started.");
    const production = isOwn ? ownAgentStory(options, machine.env) : makeScriptedStory(options);
    const started = machine.clock.monotonic();
    await sweep(machine);
    const held = holder(call, machine, production);
    const place = held.make();
    const shown = show(call.out, {
      live: call.out.interactive && !call.has("headless"),
      tasks: production.tasks,
      readElapsedMs: () => machine.clock.monotonic() - started,
    });
    const events: ToldEvent[] = [];
    const sleep = (ms: number) => machine.clock.sleep(ms);
    const stage: Stage = {
      ...{ place, exec: machine.exec, processes: machine.processes, program: parts.program, sleep },
      isInterrupted: held.isInterrupted,
      tell: shown.tell,
      note(event) {
        events.push(event);
        shown.note(event);
      },
      answer: (choices) => awaitAnswer(shown, choices, options, sleep),
    };
    try {
      opening(call, place, production);
      await play(stage, production);
      shown.end();
      ending(call, production, events);
      await overseer(stage, "down", "--agents");
    } finally {
      shown.end();
      await held.leave();
    }
    farewell(call, place, production, Math.round((machine.clock.monotonic() - started) / 1000));
  },
};

/** What it costs is said first, and nothing is started without a yes. */
async function confirmCost(call: Call): Promise<boolean> {
  if (call.has("yes")) return true;
  const about = paragraph("", COST, call.out.width, "");
  const agreed = call.has("headless") ? undefined : await askYes(call, about, "Start it?");
  if (agreed !== undefined) return agreed;
  throw new OverseerError(
    "usage",
    "DEMO_COSTS",
    `With your own agent the demo costs money, and nobody is here to ask. ${COST}`,
    "Add --yes if you agree, or leave out --runtime: scripted agents cost nothing.",
  );
}

/** Your answer, or none when you let the moment pass. */
async function awaitAnswer(
  shown: Show,
  choices: readonly string[],
  { speed }: Pick<StoryOptions, "speed">,
  sleep: (ms: number) => Promise<void>,
): Promise<string | undefined> {
  const keys = choices.map((choice, index) => `${index + 1} for ${choice}`).join(", ");
  if (shown.live)
    shown.tell({ tone: "person", about: "", text: `Press ${keys}; or wait, and it is answered for you.` });
  else await sleep(500);
  return shown.choose(choices, Math.round(4_000 / speed));
}

function optionsOf(call: Call): StoryOptions {
  const agents = call.number("agents") ?? 4;
  if (agents < FEWEST_AGENTS || agents > MOST_AGENTS) throw mistake("agents", `${FEWEST_AGENTS} to ${MOST_AGENTS}`);
  const speed = Number(call.text("speed") ?? "1");
  if (!(speed >= 0.1 && speed <= 10)) throw mistake("speed", "0.1 to 10");
  return { agents, speed };
}

function mistake(option: string, range: string): OverseerError {
  return new OverseerError(
    "usage",
    "OUT_OF_RANGE",
    `--${option} takes a number from ${range}.`,
    `See: overseer demo --help`,
  );
}

/** A demo that was killed could not clean up after itself; the next one does. */
async function sweep({ processes, clock, env }: MachinePorts): Promise<void> {
  for (const base of listAbandonedDemos(processes, env)) {
    await endAll(processes, base, (ms) => clock.sleep(ms));
    removeDemoSandbox(base);
  }
}

interface Held {
  make(): DemoSandbox;
  isInterrupted(): boolean;
  /** Ends what runs there, and removes it unless it is to be kept. */
  leave(): Promise<void>;
}

/** Whatever happens, the place is left as it should be: at the end, after a fault, and after a signal at any moment. */
function holder(call: Call, { processes, clock, env }: MachinePorts, { environment }: Production): Held {
  let place: DemoSandbox | undefined;
  let interrupted = false;
  const leave = async () => {
    if (!place) return;
    await endAll(processes, place.base, (ms) => clock.sleep(ms));
    if (call.has("keep")) release(place.base);
    else removeDemoSandbox(place.base);
  };
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
  for (const [name, code] of Object.entries(signals)) {
    process.on(name, () => {
      if (interrupted) return;
      interrupted = true;
      void leave().then(() => process.exit(code));
    });
  }
  return {
    make() {
      place = makeDemoSandbox(processes.self(), env, environment);
      return place;
    },
    isInterrupted: () => interrupted,
    async leave() {
      // Whoever was interrupted is cleaning up already, and leaves when that is done.
      if (interrupted) await new Promise(() => undefined);
      await leave();
    },
  };
}

function opening({ out }: Call, { repo }: DemoSandbox, { runtime }: Production): void {
  const said =
    runtime === "scripted"
      ? "A fleet of scripted agents in a throw-away repository. No key, no network; every process, worktree, hook and commit is real. One agent will hang, one lie, one go in circles, one die, one ask, two collide, and the daemon will be killed."
      : "Your own agent in a throw-away repository. Nothing is staged but one question and the death of the daemon.";
  for (const line of paragraph("", said, out.width, "")) out.line(line);
  out.line(`Repository: ${repo}`);
  out.line();
}

function ending({ out }: Call, { runtime }: Production, events: readonly ToldEvent[]): void {
  const lied = runtime === "scripted" ? "The agent that lied" : "The claim that did not hold";
  const count = (type: string) => events.filter((event) => event.type === type).length;
  out.line();
  out.line("What happened and why ('overseer why <task> --all' tells all of it):");
  for (const { title, text } of storiesOf(events, lied)) {
    for (const line of paragraph("  ", inert(`${title}: ${text}`), out.width, "    ")) out.line(line);
  }
  out.line(
    `${count("agent.slung")} agents started, ${count("check.finished")} checks run, ${count("landing.landed")} branches landed, ${count("daemon.started")} daemons.`,
  );
}

function farewell({ out, ...call }: Call, { base, repo }: DemoSandbox, { runtime }: Production, seconds: number): void {
  if (runtime === "claude-code") out.line("Claude Code's own session files stay where it keeps them.");
  if (call.has("keep")) {
    out.line(`Done in ${seconds} s. Nothing runs any more; the repository and its log are kept:`);
    out.line(`  cd ${repo}`);
    out.line("  git log --oneline --graph        # what landed");
    out.line("  overseer status                  # the state of the fleet");
    out.line("  overseer why T2 --all            # the whole story of one task");
    out.line(`  rm -rf ${base}   # when you have seen enough`);
  } else {
    out.line(`Done in ${seconds} s. Everything it made is gone again: no process, no session, no file.`);
    out.line("'overseer demo --keep' leaves it to look around in. In your own repository:");
    out.line("  overseer init");
    out.line('  overseer goal create "What you want" --plan plan.yaml  # goal plan --help');
    out.line("  overseer up");
  }
}

export default command;

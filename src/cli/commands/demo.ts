/**
 * `overseer demo`: a fleet at work, on your machine, in half a minute, with nothing set up and nothing left behind. The
 * story is in demo/story.ts, the place it happens in in demo/place.ts; here is what a person sees of it.
 */
import { OverseerError } from "#errors.ts";
import type { Call, Command } from "../command.ts";
import type { ToldEvent } from "../demo/narrate.ts";
import { abandonedPlaces, endAll, makePlace, type Place, release, removePlace } from "../demo/place.ts";
import { overseer, play, type Stage } from "../demo/play.ts";
import { type Show, show } from "../demo/show.ts";
import { FEWEST_AGENTS, MOST_AGENTS, STAGED, type StoryOptions, taskCount } from "../demo/story.ts";
import type { Machine, Parts } from "../parts.ts";
import { inert } from "../text.ts";

export const command: Command<Parts> = {
  name: "demo",
  summary: "See a fleet at work in a throw-away repository; no key, no account.",
  details: `A real fleet of scripted agents (processes, worktrees, hooks, commits) takes a goal through its plan: side by side,
with one agent that hangs, one that lies, one that goes in circles, one that dies, one that asks, and a daemon that is
killed on the way. Nothing is asked of a model and nothing leaves the machine. Everything is removed at the end, also when you interrupt it.`,
  options: [
    { name: "keep", summary: "Leave the repository and its log, to look around in." },
    { name: "speed", value: "factor", summary: "2 is twice as fast, 0.5 half (default 1)." },
    { name: "headless", summary: "Plain lines, and nobody is asked: for pipes and tests." },
    {
      name: "agents",
      value: "n",
      summary: `How many work at the same time, ${FEWEST_AGENTS} to ${MOST_AGENTS} (default 4).`,
    },
  ],
  examples: [
    { line: "overseer demo", why: "half a minute" },
    { line: "overseer demo --keep", why: "and look around in it afterwards" },
  ],
  async run(call, parts) {
    const story = optionsOf(call);
    const machine = parts.machine();
    const started = machine.clock.monotonic();
    await sweep(machine);
    const held = holder(call, machine);
    const place = held.make();
    const shown = show(call.out, {
      live: call.out.interactive && !call.has("headless"),
      tasks: taskCount(story),
      elapsedMs: () => machine.clock.monotonic() - started,
    });
    const events: ToldEvent[] = [];
    const sleep = (ms: number) => machine.clock.sleep(ms);
    const stage: Stage = {
      ...{ place, exec: machine.exec, processes: machine.processes, program: parts.program, sleep },
      interrupted: held.interrupted,
      tell: shown.tell,
      note(event) {
        events.push(event);
        shown.note(event);
      },
      answer: (choices) => answered(shown, choices, story, sleep),
    };
    try {
      opening(call, place);
      const goalId = await play(stage, story);
      shown.end();
      await ending(call, stage, { goalId, events });
      await overseer(stage, "down", "--agents");
    } finally {
      shown.end();
      await held.leave();
    }
    farewell(call, place, Math.round((machine.clock.monotonic() - started) / 1000));
  },
};

/** Your answer, or none when you let the moment pass. */
async function answered(
  shown: Show,
  choices: readonly string[],
  { speed }: StoryOptions,
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
async function sweep({ processes, clock, env }: Machine): Promise<void> {
  for (const base of abandonedPlaces(processes, env)) {
    await endAll(processes, base, (ms) => clock.sleep(ms));
    removePlace(base);
  }
}

interface Held {
  make(): Place;
  interrupted(): boolean;
  /** Ends what runs there, and removes it unless it is to be kept. */
  leave(): Promise<void>;
}

/** Whatever happens, the place is left as it should be: at the end, after a fault, and after a signal at any moment. */
function holder(call: Call, { processes, clock, env }: Machine): Held {
  let place: Place | undefined;
  let interrupted = false;
  const leave = async () => {
    if (!place) return;
    await endAll(processes, place.base, (ms) => clock.sleep(ms));
    if (call.has("keep")) release(place.base);
    else removePlace(place.base);
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
      place = makePlace(processes.self(), env);
      return place;
    },
    interrupted: () => interrupted,
    async leave() {
      // Whoever was interrupted is cleaning up already, and leaves when that is done.
      if (interrupted) await new Promise(() => undefined);
      await leave();
    },
  };
}

function opening({ out }: Call, { repo }: Place): void {
  out.line("A fleet of scripted agents in a throw-away repository. No key, no network; every process, worktree,");
  out.line(
    "hook and commit is real. One agent will hang, one lie, one loop, one die, one ask, and the daemon will be killed.",
  );
  out.line(`Repository: ${repo}`);
  out.line();
}

/** What the story turns on; the rest of the log is for whoever looks. */
const TURNS = new Set([
  "assignment.nudged",
  "assignment.resent",
  "assignment.reassigning",
  "assignment.restarting",
  "agent.steered",
  "work.claimed",
  "work.returned",
  "question.asked",
  "question.answered",
  "landing.landed",
]);
const isTurn = ({ type, data }: ToldEvent) =>
  TURNS.has(type) ||
  (type === "agent.ended" && data.cause === "died") ||
  (type === "check.finished" && data.verdict === "fail");

const STORIES: readonly (readonly [keyof typeof STAGED, string])[] = [
  ["hangs", "The agent that hung"],
  ["lies", "The agent that lied"],
  ["loops", "The agent that went in circles"],
  ["dies", "The agent that died"],
  ["asks", "The agent that asked"],
];

async function ending(
  call: Call,
  stage: Stage,
  played: { goalId: string; events: readonly ToldEvent[] },
): Promise<void> {
  const { out } = call;
  const count = (type: string) => played.events.filter((event) => event.type === type).length;
  const turns = new Set(played.events.filter(isTurn).map(({ seq }) => seq));
  out.line();
  out.line("What happened and why, as 'overseer why' tells it:");
  for (const [what, title] of STORIES) {
    const said = await overseer(stage, "why", STAGED[what], "--goal", played.goalId, "--json");
    const { story } = JSON.parse(said) as { story: readonly { seq: number; text: string }[] };
    out.line();
    out.line(`  ${title} (${STAGED[what]})`);
    for (const { seq, text } of story) {
      if (turns.has(seq)) out.line(`    ${inert(text.replace(/; nothing follows before .*$/, "."))}`);
    }
  }
  out.line();
  out.line(
    `${count("agent.slung")} agents started, ${count("check.finished")} checks run, ${count("landing.landed")} branches landed, ${count("daemon.started")} daemons; ${played.events.length} events in the log.`,
  );
}

function farewell({ out, ...call }: Call, { base, repo }: Place, seconds: number): void {
  if (call.has("keep")) {
    out.line(`Done in ${seconds} s. Nothing runs any more; the repository and its log are kept:`);
    out.line(`  cd ${repo}`);
    out.line("  git log --oneline --graph        # what landed");
    out.line("  overseer status                  # how things stand");
    out.line("  overseer why T2                  # the whole story of the agent that hung");
    out.line(`  rm -rf ${base}   # when you have seen enough`);
  } else {
    out.line(`Done in ${seconds} s. Everything it made is gone again: no process, no session, no file.`);
    out.line("Next: 'overseer demo --keep' leaves it to look around in. In a repository of yours:");
    out.line("  overseer init");
    out.line('  overseer goal create "What you want" --plan plan.yaml   # see: overseer goal plan --help');
    out.line("  overseer up");
  }
}

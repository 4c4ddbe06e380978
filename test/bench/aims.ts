/**
 * The speed we aim at, as data: the aims, and beside them the rows of the bench that hold each. Every row says what is
 * done, against which floor, what it may cost, and why it falls short where it is known to. Nothing is measured here
 * (measures.ts), and nothing judged (verdict.ts).
 */

export type Unit = "×" | "ms" | "%" | "/tick" | "/s" | "MB";

export interface Aim {
  readonly unit: Unit;
  /** At most so much; or at least, where more is better; or neither, where a row only informs. */
  readonly most?: number;
  readonly least?: number;
}

/** The aims, in the order of the table. */
export const AIMS = {
  hook: "a hook, exactly as it stands in the agent's settings",
  tool: "a tool call of the real Claude Code, beside what the CLI costs alone",
  mail: "a look into the inbox with 10,000 messages stored",
  status: "status with 20 agents and 100 goals of 50 nodes",
  twenty: "20 scripted agents up",
  restart: "a killed agent noticed and restarted",
  makespan: "28 tasks of 2 s, 4 at once",
  idle: "an idle fleet of 20 agents",
  decide: "deciding for 10,000 agents",
  relay: "one learning told to 500 agents",
  watch: "a look at how 5,000 agents do",
  plan: "validating a plan of 245 nodes",
  writers: "50 long-lived writers",
  landing: "100 clean branches landed",
  rebuild: "rebuilding from 100k and 1M events",
  live: "the live view, open at 200 × 50",
  beside: "beside the table",
} as const;

export interface RowOf<Name extends string = string> {
  readonly name: Name;
  readonly of: keyof typeof AIMS;
  readonly work: string;
  /** What it is held against; empty where the aim is a plain number. */
  readonly floor: string;
  readonly aim: Aim;
  /** It ends by then, with as many turns as it has got. */
  readonly limitS: number;
  /** Why it falls short, for a day on which it does. */
  readonly short?: string;
}

const EMPTY_BUN = "starting Bun with an empty script";
const times = (most: number): Aim => ({ unit: "×", most });

function row<Name extends string>(
  name: Name,
  of: keyof typeof AIMS,
  work: string,
  aim: Aim,
  rest: Partial<Pick<RowOf, "floor" | "limitS" | "short">> = {},
): RowOf<Name> {
  return { name, of, work, aim, floor: "", limitS: 60, ...rest };
}

const SHELL =
  "The shell around the command costs 0.2 of the floor and reading what it is told 0.4 (docs/decisions/0006 has the parts).";
const WRITING =
  "Beyond starting, a hook that writes loads SQLite (0.4 of the floor), makes its statements ready, and proves in one transaction that its attempt still lives (0.4); docs/decisions/0006 has the parts.";
const LOGGED =
  "Beside git's three commands for each branch there is the log: every step of a landing is one transaction, and before the branch moves it is looked whether anything else has moved.";
const FOLDED =
  "The floor only reads. A rebuild also parses every payload, checks its checksum, folds it, and writes the outcome out as text to compare it with the tables; in a profile reading is a quarter of its time, parsing and writing out a seventh each, checksums a tenth.";
const NEIGHBOURS = "Wall time and shares of a core suffer from company; see whether the run was disturbed.";

export const ROWS = [
  row("hook-record", "hook", "a hook that records", times(2.5), { floor: EMPTY_BUN, short: WRITING }),
  row("hook-tool", "hook", "a hook that records a tool call", times(2.5), { floor: EMPTY_BUN, short: WRITING }),
  row("hook-nothing", "hook", "a hook with nothing to record", times(2.5), { floor: EMPTY_BUN, short: SHELL }),
  row("hook-guard", "hook", "the permit before a command", times(2.5), { floor: EMPTY_BUN, short: SHELL }),
  row("hook-guard-file", "hook", "the permit before a file", times(2.5), { floor: EMPTY_BUN, short: SHELL }),
  row("binary-hook-record", "hook", "binary: a hook that records", times(2), { floor: EMPTY_BUN, short: WRITING }),
  row("binary-hook-tool", "hook", "binary: a hook that records a tool call", times(2), {
    floor: EMPTY_BUN,
    short: WRITING,
  }),
  row("binary-hook-nothing", "hook", "binary: a hook with nothing to record", times(2), {
    floor: EMPTY_BUN,
    short: SHELL,
  }),
  row("binary-hook-guard", "hook", "binary: the permit before a command", times(2), { floor: EMPTY_BUN, short: SHELL }),
  row("binary-hook-guard-file", "hook", "binary: the permit before a file", times(2), {
    floor: EMPTY_BUN,
    short: SHELL,
  }),

  row("tool-cpu", "tool", "CPU of ours, hooks by HTTP", times(0.4), {
    floor: EMPTY_BUN,
    limitS: 240,
    short:
      "No process is started any more; what is left is the runner itself: some 3.5 ms for each call. Taking four lines and answering two requests costs Bun 0.6 ms where nothing is done with them; the rest is parsing, clearing of secrets, judging and logging, seldom enough that nothing of it is ever warm, and a transaction for the steps of half a second.",
  }),
  row("tool-cpu-command", "tool", "CPU of ours, hooks by command", { unit: "×" }, { floor: EMPTY_BUN, limitS: 240 }),
  row("tool-wall", "tool", "added time on the wall, hooks by HTTP", times(0.5), {
    floor: "the same with hooks by command",
    limitS: 240,
    short: NEIGHBOURS,
  }),
  row("tool-memory", "tool", "what its runner holds in memory", { unit: "MB", most: 40 }, { limitS: 240 }),

  row("mail-check-10000", "mail", "mail check --inject, 10,000 messages stored", times(3), {
    floor: EMPTY_BUN,
    short:
      "A look loads SQLite and asks one question of it; how much is stored does not matter (the row with nothing stored costs the same).",
  }),

  row("status", "status", "status --json, 20 agents, 100 goals × 50 nodes", times(3), {
    floor: EMPTY_BUN,
    short:
      "Not the size of the fleet: in an empty repository it costs 2.8 × already, for its code, the database and a look at the daemon and the machine. Twenty agents add 0.6, five thousand nodes 0.3.",
  }),

  row("twenty", "twenty", "20 scripted agents up, stagger 0, wall time", times(1.5), {
    floor: "20 × git worktree add and tmux new-session",
    limitS: 120,
    short: NEIGHBOURS,
  }),

  row(
    "restart",
    "restart",
    "a killed agent is at work again, wall time",
    { unit: "ms", most: 2_000 },
    { short: NEIGHBOURS },
  ),

  row("makespan", "makespan", "28 tasks of 2 s, 4 at once, checked and landed, wall time", times(1.35), {
    floor: "the work alone, 14 s",
    limitS: 120,
    short: NEIGHBOURS,
  }),

  row("idle-daemon", "idle", "the daemon, 20 idle agents", { unit: "%", most: 1 }, { limitS: 150, short: NEIGHBOURS }),
  row(
    "idle-runner",
    "idle",
    "the busiest of 20 idle runners",
    { unit: "%", most: 0.1 },
    {
      limitS: 150,
      short:
        "A runner beats, and looks whether anything was written for it; with another busy process on its core each waking costs more.",
    },
  ),
  row("idle-guard", "idle", "the guard process, 20 idle agents", { unit: "%", most: 0.2 }, { limitS: 150 }),
  row("idle-guard-memory", "idle", "what the guard holds in memory", { unit: "MB", most: 40 }, { limitS: 150 }),
  row("idle-children", "idle", "programs the daemon starts", { unit: "/tick", most: 1 }, { limitS: 150 }),

  row(
    "decide-10000",
    "decide",
    "decide for 10,000 agents",
    { unit: "ms", most: 50 },
    {
      short:
        "Each agent costs 5 to 8 µs, depending on how much of the caches is left to it; see whether the run was disturbed.",
    },
  ),
  row("decide-linear", "decide", "decide for 10,000 agents", times(1.5), {
    floor: "10 × deciding for 1,000",
    short:
      "From 1,000 agents to 40,000 the price of one grows from 4 to 8 µs: ever less of the fleet fits the processor's caches. A rule that looks at everybody for everybody would have made it forty times as much.",
  }),

  row("watch-50", "watch", "a cycle of the watch over 50 agents, a tenth of which acted since", { unit: "ms" }),
  row("watch-500", "watch", "a cycle of the watch over 500 agents, a tenth of which acted since", { unit: "ms" }),
  row("watch-5000", "watch", "a cycle of the watch over 5,000 agents, a tenth of which acted since", {
    unit: "ms",
    most: 100,
  }),
  row("watch-5000-cold", "watch", "the first cycle of the watch over 5,000 agents, after a start", { unit: "ms" }),
  row("watch-linear", "watch", "a cycle of the watch over 5,000 agents", times(1.5), {
    floor: "ten times a cycle over 500",
  }),
  row(
    "relay-500",
    "relay",
    "one learning kept and queued for 500 agents, in one commit",
    { unit: "ms", most: 20 },
    {
      short:
        "Each agent costs 30 to 40 µs, nearly all of it SQLite's: an event with four indexes and a message with eight; see whether the run was disturbed.",
    },
  ),

  row(
    "plan-245",
    "plan",
    "a plan of 245 nodes read and validated",
    { unit: "ms", most: 50 },
    {
      short:
        "Reading the text and checking its shape is most of it; the rules themselves are a few ms. See whether the run was disturbed.",
    },
  ),
  row("plan-linear", "plan", "the rules over 1,000 nodes, with path, schedule and estimate", times(1.5), {
    floor: "4 × the same over 250",
    short: "Each node costs some more where fewer of them fit the processor's caches.",
  }),

  row(
    "writers",
    "writers",
    "50 writers, none in error, nothing lost",
    { unit: "/s", least: 1_000 },
    { short: NEIGHBOURS },
  ),
  row("writers-cost", "writers", "50 writers, 5,000 signals", times(3), { floor: "raw SQLite inserts" }),

  row("landing", "landing", "100 clean branches landed, no gate", times(2), {
    floor: "merge-tree + commit-tree + update-ref for each",
    short: LOGGED,
  }),
  row("landing-large", "landing", "the same in a repository of 20,000 files", times(2), {
    floor: "merge-tree + commit-tree + update-ref for each",
    limitS: 90,
    short: LOGGED,
  }),

  row("rebuild-100k-sound", "rebuild", "rebuild of 100k events, tables sound", times(4), {
    floor: "reading the rows",
    short: FOLDED,
  }),
  row("rebuild-100k-lost", "rebuild", "rebuild of 100k events, tables lost", times(4), {
    floor: "reading the rows",
    short: FOLDED,
  }),
  row("rebuild-1M-sound", "rebuild", "rebuild of 1M events, tables sound", times(4), {
    floor: "reading the rows",
    limitS: 180,
    short: FOLDED,
  }),
  row("rebuild-1M-lost", "rebuild", "rebuild of 1M events, tables lost", times(4), {
    floor: "reading the rows",
    limitS: 180,
    short: FOLDED,
  }),
  row("rebuild-linear", "rebuild", "rebuild of 1M events, tables sound", times(1.5), {
    floor: "10 × the rebuild of 100k",
    limitS: 180,
  }),

  row("live-20", "live", "the live view, 20 busy agents", { unit: "%", most: 1 }, { limitS: 120, short: NEIGHBOURS }),
  row("live-300", "live", "the live view, 300 busy agents", { unit: "%", most: 5 }, { limitS: 120, short: NEIGHBOURS }),

  row("version", "beside", "overseer --version", times(2.5), { floor: EMPTY_BUN }),
  row("mail-check-0", "beside", "mail check --inject, nothing stored", times(3), { floor: EMPTY_BUN }),
  row("mail-send", "beside", "mail send to an agent at work", times(3), {
    floor: EMPTY_BUN,
    short:
      "Sending writes: it opens the store with everything a commit needs, and pokes the runner. The aim is our own, not of the table.",
  }),
  row("reflex", "beside", "the end of a step, with a role", times(1.1), { floor: "the same without one" }),
  row("tick-10000", "beside", "a whole tick over 10,000 simulated agents", { unit: "ms" }),
  row(
    "sim-seed",
    "beside",
    "one simulated course: 12 agents, 300 ticks",
    { unit: "ms", most: 25 },
    {
      short:
        "A course writes its events as a real fleet does: rules, sealing and folding in the store's commits are a good part of it, and what must hold is looked at after every step.",
    },
  ),
] as const;

export type RowName = (typeof ROWS)[number]["name"];

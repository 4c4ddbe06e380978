/**
 * Everything a user can set in .overseer/config.yaml: the only source of the type, the defaults, the descriptions, the
 * example file and the JSON Schema for editors. Groups follow the rings (reconcile, recovery, watch, sync, reflex, guard) and
 * the nouns. Unknown keys are refused everywhere, because a misspelt key that is silently ignored is a safety net that
 * is not there. A key earns its place only if changing it changes something a user can see: test/config-keys.test.ts
 * keeps that list, and not-built.ts those that are kept for what is to come. Not here on purpose: where the project lies
 * (`--root`), and any way to switch redaction off.
 */
import * as z from "zod/mini";
import { TOPICS } from "#domain/model/news.ts";
import {
  amount,
  amountOrNone,
  choice,
  choiceOrNone,
  choices,
  count,
  countOrNone,
  duration,
  durationOrNone,
  group,
  groupMap,
  patternOrNone,
  percent,
  size,
  text,
  textMap,
  textOrNone,
  texts,
  textWithoutDefault,
  toggle,
} from "./kinds.ts";

export type Config = z.output<typeof schema>;

/** The defaults, freshly made, so that nobody can change them for others. */
export function defaultConfig(): Config {
  return schema.parse({});
}

const project = group("What this project is called.", {
  name: textOrNone("Name shown in status, reports and notifications; null uses the repository's directory name."),
});

const repo = group("The git repository and the branch that finished work lands on.", {
  targetBranch: textOrNone("Branch that finished work lands on; null takes the repository's default branch."),
  remote: choice(
    ["off", "fetch", "push"],
    "off",
    "Whether Overseer stays local, fetches before landing, or also pushes what has landed.",
  ),
  remoteName: text("origin", "Which git remote to fetch from and push to when `remote` is not off."),
  staleLockAfter: duration(
    "10m",
    "A lock file of git that is older than this, while no git is at work and nobody has it open, is removed.",
    { min: "100ms" },
  ),
});

const reconcile = group("The tick, which compares goals with reality, dispatches work and recovers agents.", {
  enabled: toggle(true, "Whether work is dispatched and recovered at all."),
  tickEvery: duration("2m", "How often the tick runs when nothing wakes it earlier.", { min: "100ms" }),
  deadmanFactor: count(3, "After this many periods without a finished tick, the tick itself counts as stuck.", {
    min: 2,
    max: 1000,
  }),
  modelCallsPerTick: count(1, "How many model calls one tick may start; the rest wait for the next.", { max: 100 }),
});

const recovery = group(
  "What follows when an agent is silent, hangs or dies; `config explain recovery` tells it in order.",
  {
    silentAfter: duration(
      "15m",
      "An agent with open work that does nothing for this long is stuck, and the first step follows.",
      {
        min: "1s",
      },
    ),
    nextStepAfter: duration(
      "2m",
      "Without progress for this long after one step, the next one follows, or later by `backoff`.",
    ),
    steps: group("How often each step is taken before the next one, in this order; 0 skips a step.", {
      hints: count(1, "A hint: it is asked how it gets on.", { max: 20 }),
      warnings: count(2, "A warning: it is asked more firmly.", { max: 20 }),
      lastWarnings: count(2, "A last warning: it is told what follows.", { max: 20 }),
      interrupts: count(2, "Its turn is interrupted and its instruction sent again.", { max: 20 }),
      splits: count(2, "Its work is split into smaller pieces.", { max: 20 }),
      freshAgents: count(2, "A fresh agent takes over, for whom the steps begin again.", { max: 20 }),
      pauses: count(2, "It is paused for a while and resumed. After the last one a person is asked.", { max: 20 }),
    }),
    backoff: group("How long at least to wait between two steps for one assignment.", {
      base: duration("2m", "Wait after the first step; it doubles each time.", { min: "100ms" }),
      max: duration("30m", "Longest wait between two steps.", { min: "100ms" }),
    }),
    sameWordsAfter: duration("5m", "The same words are not sent to the same agent again within this time."),
    hungCallAfter: duration(
      "20m",
      "A tool call that gives no output and uses no processor for this long is asked about, then interrupted.",
      {
        min: "1s",
      },
    ),
    firstSignWithin: duration(
      "2m",
      "An agent that gives no sign of life for this long after its start is stuck, and the first step follows.",
      { min: "1s" },
    ),
    judgedFromAge: duration("5s", "An agent younger than this is not judged by its silence."),
    deadAfter: duration("30m", "Silent for this long, and with a second sign of death, an agent is ended.", {
      min: "1s",
    }),
    restarts: count(2, "An agent that died is restarted this often before a fresh one takes over.", { max: 20 }),
    massDeath: group("When several agents die at once, it is treated as one event.", {
      count: count(
        3,
        "This many tasks that lose their agents within `within` pause the fleet until a probe survives.",
        {
          min: 2,
          max: 1000,
        },
      ),
      within: duration("30s", "The span of time in which deaths count as one event.", { min: "1s" }),
    }),
  },
);

const watch = group("The regular health check of every running agent.", {
  enabled: toggle(true, "Whether running agents are watched."),
  every: duration("30s", "How often every agent is checked when no signal asks for it earlier.", { min: "100ms" }),
  staleAfter: duration("2m", "Activity older than this is shown as stale.", { min: "1s" }),
  veryStaleAfter: duration("5m", "Activity older than this is shown as very stale.", { min: "1s" }),
  triage: group("A model's opinion on why an agent failed, beside the rules that work without it.", {
    enabled: toggle(false, "Whether a model may classify failures from the end of the agent's log."),
    model: textOrNone("Model for triage; null takes the runtime's own default."),
    timeout: duration("2m", "How long one triage call may take.", { min: "1s" }),
  }),
});

const sync = group("Passing on what one agent learned to the agents it concerns.", {
  enabled: toggle(true, "Whether learnings are collected and passed on."),
  every: duration("15s", "How often new learnings are looked for and passed on.", { min: "100ms" }),
  minScore: amount(0.5, "Learnings scored below this, from 0 to 1, are kept but not passed on.", { min: 0, max: 1 }),
  relayWithin: duration("1d", "How long after it was found a learning is passed on to agents at work.", {
    min: "1s",
  }),
  keptFor: duration("90d", "A learning that has helped nobody is forgotten after this time.", { min: "1s" }),
  rate: group("How much one agent may be told.", {
    max: count(3, "How many learnings one agent may receive within `per`.", { max: 1000 }),
    per: duration("1h", "The span of time that `max` counts in.", { min: "1s" }),
  }),
});

const reflex = group("Steering inside an agent's own loop, right after its tool calls.", {
  enabled: toggle(true, "Whether agents with a role are steered by their own hooks."),
  radioCheckSteps: count(3, "The rules judge an agent every this many steps.", { min: 1, max: 1000 }),
  cooldownSteps: count(
    3,
    "After steering about one kind of trouble, this many steps pass before the same again; twice as many each time while it continues, up to eight times.",
    { max: 1000 },
  ),
  contextWarn: percent(
    75,
    "Above this fill of its context window, in percent, an agent is warned, once until it is emptied.",
  ),
  contextUrgent: percent(
    90,
    "Above this fill of its context window, in percent, an agent is told to wrap up at once; earlier where its CLI empties the context by itself before that.",
  ),
  loopRepeats: count(3, "The same call with the same result in this many steps counts as a loop.", {
    min: 2,
    max: 100,
  }),
  cascadeTools: count(3, "This many different tools failing close together count as a cascade.", { min: 2, max: 100 }),
  cascadeWindow: count(5, "How many recent steps are checked for a cascade.", { min: 2, max: 100 }),
});

const salute = group("The small status report each agent with a role keeps as a file.", {
  keep: count(50, "How many past reports of each agent are kept.", { min: 1, max: 100_000 }),
  sharedDir: textOrNone(
    "Directory shared with other containers or hosts whose agents are supervised by their reports.",
  ),
});

const guard = group("The outer process that watches the daemon.", {
  checkEvery: duration("5s", "How often the guard looks at the daemon.", { min: "1ms" }),
  heartbeatTimeout: duration("30s", "A daemon whose heartbeat is older than this counts as hung.", { min: "1ms" }),
  grace: duration("30s", "How long a daemon that was asked to stop may take before it is killed."),
  stallAfter: duration("1h", "With open work and no progress anywhere for this long, the daemon is restarted.", {
    min: "1ms",
  }),
  stallRestarts: count(3, "After this many restarts for stalls in a row the guard gives up and says so.", {
    min: 1,
    max: 100,
  }),
  cooldown: duration("1m", "Failing again within this time after a remediation counts as a spiral and ends the guard."),
  remediationTimeout: duration("30m", "How long a remediating agent may work.", { min: "1ms" }),
  remediationPrompt: textOrNone(
    "What a remediating agent should know about this project; null takes the built-in text.",
  ),
  logLines: count(200, "How many last lines of each log a remediating agent is shown.", { max: 10_000 }),
  strict: toggle(false, "Whether warnings in the daemon's log count as failures too."),
  allowRepoEdits: toggle(false, "Whether a remediating agent may change files of the repository itself."),
});

const daemon = group("The background process started by `overseer up`.", {
  heartbeatEvery: duration("5s", "How often the daemon writes its heartbeat.", { min: "100ms" }),
  drainTimeout: duration("30s", "How long a stopping daemon lets actions in progress finish."),
});

const logs = group("The daemon's own log files.", {
  level: choice(["debug", "info", "warning", "error"], "info", "Lowest level that is written."),
  maxSize: size("10MB", "A log file larger than this is rotated.", { min: "1KB" }),
  keep: count(5, "How many rotated files of each log are kept.", { max: 1000 }),
});

const BRANCH_PREFIX = { pattern: /^[A-Za-z0-9](?!.*\.\.)(?!.*\/\/)[A-Za-z0-9._/-]*$/, like: "overseer/" };
const VARIABLE = { pattern: /^[A-Za-z_][A-Za-z0-9_]*$/, like: "NPM_TOKEN" };

const agents = group("How many agents run, how they start and how they are named.", {
  maxConcurrent: count(
    5,
    "How many agents may be at work at the same time. Those that wait for a person, or for their work to land, do not count.",
    { min: 1, max: 10_000 },
  ),
  stagger: duration("2s", "Pause between the starts of two agents."),
  startsPerMinute: count(10, "How many agents may be started within one minute.", { min: 1, max: 10_000 }),
  maxDepth: count(2, "How deep the hierarchy of agents may be; with 2, agents started by an agent start no others.", {
    min: 1,
    max: 10,
  }),
  branchPrefix: text("overseer/", "Prefix of every agent's branch name.", BRANCH_PREFIX),
  turnDeadline: duration("2h", "A turn that runs longer than this is interrupted.", { min: "1s" }),
  stopGrace: duration("10s", "How long an agent that was asked to stop may take before its processes are ended."),
  passEnv: texts("Environment variables passed to agents beyond the built-in allowlist.", VARIABLE),
  mcp: toggle(
    true,
    "Whether agents get Overseer's verbs (report, ask, mail …) as MCP tools too, where their CLI takes them.",
  ),
  definitions: text(".overseer/agents", "Directory with the definitions that tell each role how to work."),
  manifest: text(".overseer/manifest.yaml", "File that lists the roles by capability."),
});

const defaults = group("What agents get when their role does not say otherwise.", {
  model: textOrNone("Model of agents; null takes the runtime's own default."),
  permissionMode: choice(
    ["default", "acceptEdits", "bypassPermissions", "plan"],
    "acceptEdits",
    "What agents of auto mode may do without being asked; all other agents follow their role.",
  ),
  allowedTools: texts("Tools agents may use without being asked, beyond those of their role."),
});

const runtimes = groupMap(
  "Settings for one agent CLI, by its name.",
  { pattern: /^[a-z][a-z0-9-]{0,30}$/, like: "claude-code" },
  {
    command: textOrNone("Program to start; null finds it by its usual name on PATH."),
    args: texts("Arguments put before Overseer's own."),
    hooks: choice(
      ["http", "command"],
      "http",
      "How the CLI asks Overseer's hooks: `http` asks the runner beside the agent, where the CLI can; `command` starts a program for each.",
    ),
    model: textOrNone("Model for agents on this runtime; null takes `defaults.model`."),
    idleEnd: duration("30m", "An idle agent's process is ended after this long and resumed when a message arrives.", {
      min: "1s",
    }),
  },
);

const capacity = group("What the machine must have free before another agent is started.", {
  loadFactor: amount(4, "No agent is started while the load is above this many times the number of cores.", {
    min: 0.1,
    max: 1000,
  }),
  minMemory: size("1GB", "No agent is started with less free memory than this."),
  minMemoryPercent: percent(10, "No agent is started with less free memory than this share of all."),
  minDisk: size("2GB", "No agent is started with less free disk space than this."),
  minDiskPercent: percent(5, "No agent is started with less free disk space than this share of all."),
});

const worktree = group("The directories agents work in.", {
  dir: text(".overseer/worktrees", "Directory that holds the agents' worktrees."),
  setup: textOrNone("Shell command that makes a fresh worktree ready, for example installing dependencies."),
  setupTimeout: duration("15m", "How long that command may take.", { min: "1s" }),
  rebuildable: texts(
    "Ignored files and directories (* matches any characters) that may be removed with a worktree because they can be rebuilt; node_modules, build, dist, target, caches and the like always may.",
  ),
});

const wip = group("Snapshots of uncommitted work.", {
  every: duration("10m", "How often the uncommitted work of running agents is saved.", { min: "1s" }),
  keep: count(10, "How many snapshots of one assignment are kept.", { min: 1, max: 1000 }),
  keepAfterLanding: duration(
    "14d",
    "How long snapshots and claimed commits are kept after their work has landed or was abandoned.",
  ),
  maxFile: size("50MB", "Files larger than this are listed in a snapshot but not kept."),
});

const planner = group("Turning a goal into phases, tasks and subtasks.", {
  enabled: toggle(true, "Whether a model may be asked for plans; plans can always be written by hand."),
  runtime: textOrNone("Agent CLI that is asked for plans; null takes `runtime`."),
  model: textOrNone("Model that is asked for plans; null takes the runtime's own default."),
  timeout: duration("5m", "How long one planning call may take.", { min: "1s" }),
  maxInput: size("64KB", "Most text given to the planner in one call.", { min: "1KB" }),
  maxPhases: count(5, "Most phases a plan may have.", { min: 1, max: 100 }),
  maxTasksPerPhase: count(7, "Most tasks a phase may have.", { min: 1, max: 100 }),
  maxSubtasksPerTask: count(7, "Most subtasks a task may have.", { max: 100 }),
  accept: choice(
    ["person", "auto"],
    "person",
    "Who accepts a model's plan: a person, or nobody has to. One that would cancel open work always waits for a person.",
  ),
  repairs: count(2, "How often an invalid answer is sent back for repair.", { max: 20 }),
  replansPerNode: count(2, "How often one piece of work may be split in all, its parts and theirs included.", {
    max: 20,
  }),
  diagnoseStalls: toggle(
    false,
    "Whether a model is asked what is the matter with an agent that is stuck, before its turn is ended or its work given to another.",
  ),
  diagnosesPerHour: count(6, "How often within an hour at most a model is asked that.", { max: 100 }),
});

const CHECK_NAME = { pattern: /^[a-z][a-zA-Z0-9_-]{0,40}$/, like: "tests" };

const checks = groupMap(
  "Commands that decide whether work is really done, by name; `tests: npm test` is short for its command alone.",
  CHECK_NAME,
  {
    command: textWithoutDefault(
      "Shell command to run on the commit in question; exit code 0 means passed.",
      "npm test",
    ),
    timeout: duration("15m", "How long the command may take; a check that ran out of time did not run.", { min: "1s" }),
    on: choices(["done", "land"], ["done", "land"], "When to run it: on a report of done, before landing, or both."),
    expect: patternOrNone("Regular expression the output must match; without a match the check did not run."),
    protected: texts(
      "Files the check depends on, as patterns; a change to one of them lands only with a person's consent. Regular files that its command names are protected anyway.",
    ),
  },
  "command",
);

const landing = group("Bringing finished branches into the target branch.", {
  mode: choiceOrNone(
    ["review", "auto"],
    "Whether a person accepts each landing; null means review, and auto under `up --auto`.",
  ),
  strategy: choiceOrNone(
    ["merge", "squash"],
    "How commits arrive on the target; null means merge, and squash under `up --auto`.",
  ),
  batch: count(5, "How many branches are checked together; a failing batch is split to find the culprit.", {
    min: 1,
    max: 100,
  }),
  ageBoost: duration("1h", "A branch that waited this long is treated as one priority higher."),
  stripAttribution: toggle(true, "Whether lines that credit a tool are removed from squashed commit messages."),
  keepWorktree: toggle(false, "Whether an agent's worktree stays after its work has landed."),
  tiers: group("Ways to resolve a conflict, tried in this order before a person is asked.", {
    mechanical: toggle(true, "Recorded resolutions, union files and regenerated lockfiles."),
    author: toggle(true, "The agent that wrote the branch."),
    aiResolve: toggle(true, "One call to a model."),
    reimagine: toggle(true, "The work done again on top of the new target."),
  }),
  afterLand: textOrNone(
    "Shell command run on the target after each landing, in a worktree of its own, for at most 30 minutes; when it fails, nothing more lands by itself until you answer.",
  ),
  fixRounds: count(3, "How often work may fail its checks or conflict before a person is asked.", { min: 1, max: 20 }),
  authorRounds: count(3, "How often the author may try to resolve one conflict.", { min: 1, max: 20 }),
  model: textOrNone("Model that resolves conflicts; null takes the runtime's own default."),
  modelTimeout: duration("10m", "How long one such call may take.", { min: "1s" }),
  unionFiles: texts("Files, as patterns, in which both sides of a conflict are kept, such as changelogs."),
  lockfiles: textMap(
    "Lockfiles by name, each with the shell command that regenerates it, such as `npm install --package-lock-only`.",
  ),
  dirtyWait: group("Waiting for your checkout while you have changed files that a landing changes too.", {
    base: duration("1m", "Wait before checking again; it doubles each time.", { min: "100ms" }),
    max: duration("1h", "Longest wait between two checks.", { min: "100ms" }),
    tries: count(10, "After this many checks a person is asked and the landing is parked.", { min: 1, max: 1000 }),
  }),
});

const model = group("How models are asked for one answer: to plan, to resolve a conflict, to judge a failure.", {
  command: textOrNone(
    "Shell command that reads a prompt on its standard input and prints the answer; null asks the agent CLI of `runtime`.",
  ),
});

const auto = group("Working through a pool of tasks automatically (`up --auto`).", {
  taskPoolCommand: textOrNone(
    "Shell command that prints the next task; printing nothing, or exit 4, means there is none now, any other exit code than 0 ends auto mode.",
  ),
  taskPoolTimeout: duration("1m", "How long that command may take.", { min: "1ms" }),
  taskDirectory: textOrNone(
    "Directory whose text files are tasks, in the order of their names; each is taken once, and again when it is changed.",
  ),
  concurrency: count(1, "How many workers auto mode has (auto-1, auto-2 …), beside `agents.maxConcurrent`.", {
    min: 1,
    max: 1000,
  }),
  every: duration("30s", "How long to wait before the pool is asked again after it was empty.", { min: "1ms" }),
  maxWaiting: count(20, "No more tasks are taken while this many wait for a person.", { min: 1, max: 100_000 }),
  postAcceptCommand: textOrNone(
    "Shell command run once after each landing under `up --auto`, instead of `landing.afterLand`; a failure holds the target branch, and no more tasks are taken.",
  ),
  postAcceptTimeout: duration("30m", "How long that command may take.", { min: "1ms" }),
});

const inbox = group("Everything said to an agent.", {
  injectionCap: size("8KB", "Most text handed to an agent at once; the rest is summarised and left to be read.", {
    min: "512B",
  }),
  nudgeExpiry: duration("30m", "A nudge not seen within this time is dropped.", { min: "1s" }),
  syncExpiry: duration("2h", "A learning not seen within this time is dropped.", { min: "1s" }),
});

const store = group("What is kept in the database, and how much of it.", {
  caps: group("Longest texts that are kept; longer ones are cut and marked.", {
    instruction: size("16KB", "Longest instruction.", { min: "512B" }),
    summary: size("8KB", "Longest summary of an agent's report.", { min: "512B" }),
    payload: size(
      "16KB",
      "Longest other text in an event or a signal; a longer one that somebody hands in is refused.",
      { min: "512B" },
    ),
    field: size("2KB", "Longest single field of a report, such as a decision or a next step.", { min: "128B" }),
    assistantText: size("2KB", "Longest piece of an agent's last words.", { min: "128B" }),
  }),
  signalsKept: duration("7d", "Signals older than this are compacted into milestones.", { min: "1m" }),
  backupEvery: duration("1d", "How often a backup of the database is made.", { min: "1m" }),
  backupsKept: count(7, "How many backups are kept.", { min: 1, max: 1000 }),
});

const allowance = (whose: string) =>
  group(`What ${whose} may spend; null is no limit.`, {
    tokens: countOrNone(`Tokens ${whose} may use.`, { max: Number.MAX_SAFE_INTEGER }),
    cost: amountOrNone(`Money ${whose} may cost, in US dollars.`),
    time: durationOrNone(`Working time ${whose} may take.`),
  });

const budgets = group("Limits on spending: a warning first, then a pause and a question.", {
  warnAt: percent(80, "Share of a budget, in percent, at which a warning is given."),
  agent: allowance("one agent"),
  goal: allowance("one goal"),
  day: allowance("the whole fleet in one day"),
});

const quota = group("What happens when an account runs into a rate or usage limit.", {
  backoff: group("How long to wait when the limit does not say when it ends.", {
    base: duration("5m", "First wait; it doubles each time.", { min: "100ms" }),
    max: duration("1h", "Longest wait.", { min: "100ms" }),
  }),
});

const provider = group("What happens when a provider fails: its network, host, login, credit or model.", {
  patience: duration("1m", "How long an agent's CLI may try by itself, without an answer, before that is a failure.", {
    min: "100ms",
  }),
  backoff: group("How long to wait before one agent tries whether it works again.", {
    base: duration("1m", "First wait; it doubles each time.", { min: "100ms" }),
    max: duration("10m", "Longest wait.", { min: "100ms" }),
  }),
});

const policy = group("Whom Overseer may supervise that it has not started.", {
  allowAgents: texts(
    "Agents elsewhere that 'overseer watch --salute' here may steer: a name, container/name, container/* or \"*\".",
  ),
  allowCrossAgent: toggle(false, "Whether a task that names its agent may continue in the session of another."),
});

const ADDRESS = { pattern: /^https?:\/\/\S+$/, like: "https://example.com/hook" };

/** Without a name or password in front of the host: a token belongs into the variables of the environment. */
const OTLP_ADDRESS = { pattern: /^https?:\/\/[^\s/?#@]+([/?#]\S*)?$/, like: "http://localhost:4318" };

const QUIET_HOURS = { pattern: /^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$/, like: "22:00-07:00" };
const PERSON = { pattern: /^(?!(session|terminal|command|webhook)$)[a-z][a-z0-9-]{0,30}$/, like: "ada" };

const channels = group("How questions and news reach people: who hears what, and how.", {
  terminal: toggle(true, "Whether they are shown in status and in attached terminals."),
  command: textOrNone("Program started for each of them, with the text as JSON on its standard input."),
  webhook: textOrNone("Address that receives each of them as JSON by HTTP POST, signed.", ADDRESS),
  timeout: duration("30s", "How long the program or the address may take.", { min: "1s" }),
  bundle: duration(
    "10m",
    "At most one message about the same thing within this time; what comes in between follows together.",
  ),
  quietHours: textOrNone(
    "Hours of the day, local time, in which only alarms are sent; the rest follows after.",
    QUIET_HOURS,
  ),
  people: groupMap("Who else is told, under a name of your choice.", PERSON, {
    via: choice(
      ["desktop", "command", "webhook", "slack", "ntfy", "email"],
      "desktop",
      "How they are told; slack is any webhook that takes Slack's messages, email any mailer that sends what it reads.",
    ),
    to: textOrNone("The address for webhook, slack and ntfy; the program for command and email."),
    hears: choices(TOPICS, [...TOPICS], "What they hear of."),
    quietHours: textOrNone("Their own quiet hours; null takes those above.", QUIET_HOURS),
  }),
});

const beads = group("The beads issue tracker (`bd`).", {
  enabled: toggle(false, "Whether tasks are taken from beads and closed there when they land."),
});

const mulch = group("The mulch store of expertise.", {
  enabled: toggle(false, "Whether agents are told what mulch knows, and `expertise record` keeps things in it."),
  domains: texts("Its domains that every agent is told of; none means those that fit the agent's files."),
  primeFormat: choice(
    ["markdown", "xml", "json"],
    "markdown",
    "Format in which expertise is given to agents, from wherever it comes.",
  ),
});

const serena = group("The Serena code tools.", {
  enabled: toggle(
    false,
    "Whether each worktree is a project of its own for Serena: a file in it, and its path in Serena's global list.",
  ),
});

const telemetry = group("Measurements sent elsewhere.", {
  otel: group("OpenTelemetry traces and metrics.", {
    enabled: toggle(false, "Whether traces and metrics are sent, by OTLP over HTTP, from a process of its own."),
    endpoint: textOrNone(
      "Where to send them (/v1/traces and /v1/metrics are appended); null takes OTEL_EXPORTER_OTLP_ENDPOINT.",
      OTLP_ADDRESS,
    ),
  }),
});

const terminal = choice(
  ["auto", "tmux", "detached"],
  "auto",
  "Where agents run: inside tmux, detached from any terminal, or tmux where there is one.",
);
const runtime = text("claude-code", "Default agent CLI.");

/** In the order of the example file: what a newcomer sets first comes first. */
const keys = z.strictObject({
  project,
  repo,
  runtime,
  terminal,
  runtimes,
  defaults,
  agents,
  capacity,
  worktree,
  wip,
  checks,
  landing,
  planner,
  model,
  auto,
  reconcile,
  recovery,
  watch,
  sync,
  reflex,
  salute,
  guard,
  daemon,
  logs,
  inbox,
  store,
  budgets,
  quota,
  provider,
  policy,
  channels,
  beads,
  mulch,
  serena,
  telemetry,
});

/** Pairs of keys of which the first must not be larger than the second, or the second could never matter. */
const ORDERED: [smaller: string, larger: string, numbers: (config: z.output<typeof keys>) => [number, number]][] = [
  ["recovery.backoff.base", "recovery.backoff.max", ({ recovery: r }) => [r.backoff.base, r.backoff.max]],
  ["landing.dirtyWait.base", "landing.dirtyWait.max", ({ landing: l }) => [l.dirtyWait.base, l.dirtyWait.max]],
  ["quota.backoff.base", "quota.backoff.max", ({ quota: q }) => [q.backoff.base, q.backoff.max]],
  ["provider.backoff.base", "provider.backoff.max", ({ provider: p }) => [p.backoff.base, p.backoff.max]],
  ["watch.staleAfter", "watch.veryStaleAfter", ({ watch: w }) => [w.staleAfter, w.veryStaleAfter]],
  ["reflex.contextWarn", "reflex.contextUrgent", ({ reflex: r }) => [r.contextWarn, r.contextUrgent]],
  ["reflex.cascadeTools", "reflex.cascadeWindow", ({ reflex: r }) => [r.cascadeTools, r.cascadeWindow]],
  ["daemon.heartbeatEvery", "guard.heartbeatTimeout", (c) => [c.daemon.heartbeatEvery, c.guard.heartbeatTimeout]],
];

/** Ways to people that start a program. */
const PROGRAMS: ReadonlySet<string> = new Set(["command", "email"]);

export const schema = keys.check((context) => {
  for (const [name, { via, to }] of Object.entries(context.value.channels.people)) {
    if (via === "desktop" || (to !== null && (PROGRAMS.has(via) || ADDRESS.pattern.test(to)))) continue;
    const message = PROGRAMS.has(via)
      ? `must name the program for ${via}`
      : `must be an address for ${via}, like ${ADDRESS.like}`;
    context.issues.push({ code: "custom", path: ["channels", "people", name, "to"], message, input: to });
  }
  for (const [smaller, larger, numbers] of ORDERED) {
    const [small, large] = numbers(context.value);
    if (small <= large) continue;
    const message = `must not be larger than ${larger}`;
    context.issues.push({ code: "custom", path: smaller.split("."), message, input: small });
  }
});

/**
 * The menu: every command of the program, in the order and the groups in which help shows them. Name and summary stand
 * here as well as in the command, so that help and "did you mean" load no command; a test holds the two together.
 *
 * To add a command: write `commands/<name>.ts` whose default export is a `Command<Parts>`, then add an entry here whose `load`
 * is `() => import("./commands/<name>.ts")`; commands that share a file name their export. Nothing else: parsing, help, completions and suggestions follow from it.
 * Keep `load` a dynamic import; it is what keeps every other command free of this one's cost.
 */
import type { Command } from "./command.ts";
import type { Parts } from "./parts.ts";

export interface MenuEntry<Given = unknown> {
  readonly name: string;
  /** The heading it stands under in the main help. */
  readonly group: string;
  readonly summary: string;
  /** Works, but help and completions do not offer it: for programs, not for people. */
  readonly hidden?: boolean;
  load(): Promise<{ readonly default: Command<Given> }>;
}

export const MENU: readonly MenuEntry<Parts>[] = [
  {
    name: "init",
    group: "Set up",
    summary: "Set up Overseer in this repository.",
    load: () => import("./commands/init.ts"),
  },
  {
    name: "demo",
    group: "Set up",
    summary: "See a fleet work in a throw-away repository; no key needed.",
    load: () => import("./commands/demo.ts"),
  },
  {
    name: "config",
    group: "Set up",
    summary: "Show, change and explain the configuration.",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "trust",
    group: "Set up",
    summary: "Show every command the settings would run, and confirm them.",
    load: () => import("./commands/trust.ts"),
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "Check machine, store and repository; --fix repairs.",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "uninstall",
    group: "Set up",
    summary: "Take Overseer out of this repository; unlanded work is kept.",
    load: () => import("./commands/uninstall.ts"),
  },
  {
    name: "sim",
    group: "For scripts and agents",
    summary: "Run the fleet simulator and check its invariants.",
    load: () => import("./commands/sim.ts"),
  },
  {
    name: "up",
    group: "Every day",
    summary: "Start the daemon: goals move forward by themselves.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).upCommand }),
  },
  {
    name: "down",
    group: "Fleet and upkeep",
    summary: "Stop the daemon; agents keep running unless told otherwise.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).downCommand }),
  },
  {
    name: "freeze",
    group: "Fleet and upkeep",
    summary: "Stop dispatching, delivering and recovering until thaw.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).freezeCommand }),
  },
  {
    name: "thaw",
    group: "Fleet and upkeep",
    summary: "Thaw a frozen fleet; also ends safe mode.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).thawCommand }),
  },
  {
    name: "tick",
    group: "Fleet and upkeep",
    summary: "Run a tick now instead of waiting for the next one.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).tickCommand }),
  },
  {
    name: "guard",
    group: "Fleet and upkeep",
    summary: "Keep the daemon alive, and have it repaired when it breaks.",
    load: () => import("./commands/guard.ts"),
  },
  {
    name: "service",
    group: "Fleet and upkeep",
    summary: "Have systemd or launchd run the guard, also after a reboot.",
    load: () => import("./commands/service.ts"),
  },
  {
    name: "auto",
    group: "Fleet and upkeep",
    summary: "Show, pause and resume auto mode; try a failed task again.",
    load: () => import("./commands/auto.ts"),
  },
  {
    name: "worker",
    group: "Fleet and upkeep",
    summary: "Add, list and remove standing workers of auto mode.",
    load: () => import("./commands/worker.ts"),
  },
  {
    name: "do",
    group: "Every day",
    summary: "Say what you want: a plan, your word, agents, landed.",
    load: () => import("./commands/do.ts"),
  },
  {
    name: "lead",
    group: "Plans and work",
    summary: "Lead the fleet from your own session.",
    load: () => import("./commands/lead.ts"),
  },
  {
    name: "goal",
    group: "Plans and work",
    summary: "Record goals and their plans.",
    load: () => import("./commands/goal.ts"),
  },
  {
    name: "work",
    group: "Plans and work",
    summary: "Show and change the nodes of a plan.",
    load: () => import("./commands/work.ts"),
  },
  {
    name: "questions",
    group: "Plans and work",
    summary: "Show what people are asked, and by whom.",
    load: () => import("./commands/questions.ts"),
  },
  {
    name: "answer",
    group: "Every day",
    summary: "Answer a question, so that the work continues.",
    load: () => import("./commands/answer.ts"),
  },
  {
    name: "notify",
    group: "Fleet and upkeep",
    summary: "Show who is told what, and try whether it arrives.",
    load: () => import("./commands/notify.ts"),
  },
  {
    name: "ask",
    group: "For scripts and agents",
    summary: "Ask a person (for agents).",
    load: () => import("./commands/ask.ts"),
  },
  {
    name: "review",
    group: "Landing",
    summary: "Review finished work: what it changes, what the checks say.",
    load: () => import("./commands/review.ts"),
  },
  {
    name: "accept",
    group: "Every day",
    summary: "Accept finished work and land it.",
    load: () => import("./commands/accept.ts"),
  },
  {
    name: "reject",
    group: "Landing",
    summary: "Send finished work back to its agent, with a reason.",
    load: () => import("./commands/reject.ts"),
  },
  {
    name: "revert",
    group: "Landing",
    summary: "Take a landing back by a commit, through the same gate.",
    load: () => import("./commands/revert.ts"),
  },
  {
    name: "pick",
    group: "Landing",
    summary: "Take over an agent's branch yourself.",
    load: () => import("./commands/pick.ts"),
  },
  {
    name: "merge",
    group: "Landing",
    summary: "Show the landing queue, forecast conflicts, land a branch.",
    load: () => import("./commands/merge.ts"),
  },
  {
    name: "sling",
    group: "Agents",
    summary: "Start an agent on a task, in its own worktree.",
    load: () => import("./commands/sling.ts"),
  },
  {
    name: "agents",
    group: "Agents",
    summary: "Show agents and what they have done.",
    load: () => import("./commands/agents.ts"),
  },
  {
    name: "attach",
    group: "Agents",
    summary: "Sit beside an agent, and write to it.",
    load: () => import("./commands/attach.ts"),
  },
  {
    name: "peek",
    group: "Agents",
    summary: "Show what an agent was asked, says and does; --follow stays.",
    load: () => import("./commands/peek.ts"),
  },
  {
    name: "stop",
    group: "Agents",
    summary: "Stop an agent; uncommitted work is kept.",
    load: async () => ({ default: (await import("./commands/fleet.ts")).stopCommand }),
  },
  {
    name: "pause",
    group: "Agents",
    summary: "Pause an agent after its current turn.",
    load: async () => ({ default: (await import("./commands/fleet.ts")).pauseCommand }),
  },
  {
    name: "resume",
    group: "Agents",
    summary: "Resume a paused agent.",
    load: async () => ({ default: (await import("./commands/fleet.ts")).resumeCommand }),
  },
  {
    name: "restart",
    group: "Agents",
    summary: "Restart an agent in the same worktree, branch and session.",
    load: () => import("./commands/restart.ts"),
  },
  {
    name: "reset",
    group: "Agents",
    summary: "Stop an agent and let its task start fresh; same as nuke.",
    load: async () => ({ default: (await import("./commands/fleet.ts")).resetCommand }),
  },
  {
    name: "nuke",
    group: "Agents",
    summary: "Stop an agent and remove its worktree and branch.",
    load: async () => ({ default: (await import("./commands/fleet.ts")).nukeCommand }),
  },
  {
    name: "mail",
    group: "Agents",
    summary: "Send mail to agents, and read theirs.",
    load: () => import("./commands/mail.ts"),
  },
  {
    name: "nudge",
    group: "Agents",
    summary: "Send a short note to a running agent.",
    load: () => import("./commands/nudge.ts"),
  },
  {
    name: "learnings",
    group: "Agents",
    summary: "Show, search and add what agents have learned.",
    load: () => import("./commands/learnings.ts"),
  },
  {
    name: "expertise",
    group: "Agents",
    summary: "Show, search and keep what is known in this repository.",
    load: () => import("./commands/expertise.ts"),
  },
  {
    name: "syncs",
    group: "Agents",
    summary: "List what agents were told of others' learnings.",
    load: () => import("./commands/syncs.ts"),
  },
  {
    name: "prime",
    group: "For scripts and agents",
    summary: "Print the context an agent, or a lead, needs to continue.",
    load: () => import("./commands/prime.ts"),
  },
  {
    name: "worktree",
    group: "Agents",
    summary: "List, clean and restore agents' worktrees.",
    load: () => import("./commands/worktree.ts"),
  },
  {
    name: "status",
    group: "Every day",
    summary: "Show the state of the fleet.",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "why",
    group: "Plans and work",
    summary: "Explain how a goal, task, agent or question got there.",
    load: () => import("./commands/why.ts"),
  },
  {
    name: "events",
    group: "Fleet and upkeep",
    summary: "Tell what happened; --follow waits for more.",
    load: () => import("./commands/events.ts"),
  },
  {
    name: "watch",
    group: "Fleet and upkeep",
    summary: "Look after agents and start none; --salute: elsewhere.",
    load: () => import("./commands/watch.ts"),
  },
  {
    name: "mcp",
    group: "For scripts and agents",
    summary: "Serve the verbs as MCP tools, on standard input and output.",
    load: () => import("./commands/mcp.ts"),
  },
  {
    name: "wrong",
    group: "For scripts and agents",
    summary: "Say that a steering was wrong; metrics count it.",
    load: () => import("./commands/wrong.ts"),
  },
  {
    name: "replay",
    group: "For scripts and agents",
    summary: "Run the reflex over recorded work and show what it says.",
    load: () => import("./commands/replay.ts"),
  },
  {
    name: "report",
    group: "Plans and work",
    summary: "Report what landed, failed and cost, and what waits for you.",
    load: () => import("./commands/report.ts"),
  },
  {
    name: "metrics",
    group: "Fleet and upkeep",
    summary: "Show time, cost and unproven reports of done.",
    load: () => import("./commands/metrics.ts"),
  },
  {
    name: "health",
    group: "Agents",
    summary: "Show how every agent does, or one of them in full.",
    load: async () => ({ default: (await import("./commands/health.ts")).healthCommand }),
  },
  {
    name: "diagnoses",
    group: "Agents",
    summary: "Show what changed in how agents do, newest first.",
    load: async () => ({ default: (await import("./commands/health.ts")).diagnosesCommand }),
  },
  {
    name: "stats",
    group: "Fleet and upkeep",
    summary: "Show how supervision runs, and what it has done.",
    load: async () => ({ default: (await import("./commands/health.ts")).statsCommand }),
  },
  {
    name: "store",
    group: "Fleet and upkeep",
    summary: "Export, import and back up the state.",
    load: () => import("./commands/store.ts"),
  },
  {
    name: "remediate",
    group: "For scripts and agents",
    summary: "Have an agent repair what keeps the daemon down; for the guard.",
    hidden: true,
    load: () => import("./commands/remediate.ts"),
  },
  {
    name: "hook",
    group: "For scripts and agents",
    summary: "Record what an agent's hook was told; for agents' settings.",
    hidden: true,
    load: async () => ({ default: (await import("./commands/hook.ts")).hookCommand("hook") }),
  },
  {
    name: "log",
    group: "For scripts and agents",
    summary: "The older name of hook.",
    hidden: true,
    load: async () => ({ default: (await import("./commands/hook.ts")).hookCommand("log") }),
  },
  {
    name: "completions",
    group: "Set up",
    summary: "Print a completion script for your shell",
    // Handed the menu, because it describes all of it; importing it there would close a circle.
    load: async () => ({ default: (await import("./commands/completions.ts")).completionsOf(() => MENU) }),
  },
];

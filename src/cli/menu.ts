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
    summary: "See a fleet at work in a throw-away repository; no key, no account.",
    load: () => import("./commands/demo.ts"),
  },
  {
    name: "config",
    group: "Set up",
    summary: "Show, explain and document the configuration.",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "trust",
    group: "Set up",
    summary: "Show every command the settings in .overseer/ would run, and confirm them.",
    load: () => import("./commands/trust.ts"),
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "Check the machine, the store and the repository; --fix repairs.",
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "sim",
    group: "Set up",
    summary: "Run the fleet simulator and check its invariants.",
    load: () => import("./commands/sim.ts"),
  },
  {
    name: "up",
    group: "Run",
    summary: "Start the daemon: goals move forward by themselves.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).upCommand }),
  },
  {
    name: "down",
    group: "Run",
    summary: "Stop the daemon; agents keep running unless told otherwise.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).downCommand }),
  },
  {
    name: "freeze",
    group: "Run",
    summary: "Stop dispatching, delivering and recovering until thaw.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).freezeCommand }),
  },
  {
    name: "thaw",
    group: "Run",
    summary: "Thaw a frozen fleet; also ends safe mode.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).thawCommand }),
  },
  {
    name: "tick",
    group: "Run",
    summary: "Run a tick now instead of waiting for the next one.",
    load: async () => ({ default: (await import("./commands/daemon.ts")).tickCommand }),
  },
  {
    name: "goal",
    group: "Goals and work",
    summary: "Record goals and their plans.",
    load: () => import("./commands/goal.ts"),
  },
  {
    name: "work",
    group: "Goals and work",
    summary: "Show and change the nodes of a plan.",
    load: () => import("./commands/work.ts"),
  },
  {
    name: "questions",
    group: "Goals and work",
    summary: "Show what people are asked, and by whom.",
    load: () => import("./commands/questions.ts"),
  },
  {
    name: "answer",
    group: "Goals and work",
    summary: "Answer a question, so that the work continues.",
    load: () => import("./commands/answer.ts"),
  },
  {
    name: "notify",
    group: "Goals and work",
    summary: "Show who is told what, and try whether it arrives.",
    load: () => import("./commands/notify.ts"),
  },
  {
    name: "ask",
    group: "Goals and work",
    summary: "Ask a person (for agents).",
    load: () => import("./commands/ask.ts"),
  },
  {
    name: "review",
    group: "Landing",
    summary: "Review finished work: what it changes, and what the checks say.",
    load: () => import("./commands/review.ts"),
  },
  {
    name: "accept",
    group: "Landing",
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
    name: "pick",
    group: "Landing",
    summary: "Take over an agent's branch yourself.",
    load: () => import("./commands/pick.ts"),
  },
  {
    name: "merge",
    group: "Landing",
    summary: "Show the landing queue, forecast conflicts, or land a branch by hand.",
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
    summary: "Open an agent's terminal; detach with Ctrl-b d.",
    load: () => import("./commands/attach.ts"),
  },
  {
    name: "peek",
    group: "Agents",
    summary: "Show an agent's last lines; --follow keeps showing them.",
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
    summary: "Stop an agent and let its task start fresh; today the same as nuke.",
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
    summary: "Send a short note to a running agent; it arrives at its next boundary.",
    load: () => import("./commands/nudge.ts"),
  },
  {
    name: "prime",
    group: "Agents",
    summary: "Print the context an agent, or whoever leads, needs to continue.",
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
    group: "Understand",
    summary: "Show the state of the fleet.",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "why",
    group: "Understand",
    summary: "Explain how a goal, node, assignment or question got into its state.",
    load: () => import("./commands/why.ts"),
  },
  {
    name: "events",
    group: "Understand",
    summary: "Print the log; --follow waits for more.",
    load: () => import("./commands/events.ts"),
  },
  {
    name: "watch",
    group: "Run",
    summary: "Supervise agents in other containers or hosts by their SALUTE reports.",
    load: () => import("./commands/watch.ts"),
  },
  {
    name: "replay",
    group: "Understand",
    summary: "Run the reflex over recorded work and show what it would have said.",
    load: () => import("./commands/replay.ts"),
  },
  {
    name: "report",
    group: "Understand",
    summary: "Report what landed, failed and cost since a moment, and what waits for you.",
    load: () => import("./commands/report.ts"),
  },
  {
    name: "metrics",
    group: "Understand",
    summary: "Show time and cost of sessions, by agent, capability and goal.",
    load: () => import("./commands/metrics.ts"),
  },
  {
    name: "store",
    group: "Set up",
    summary: "Export, import and back up the state.",
    load: () => import("./commands/store.ts"),
  },
  {
    name: "hook",
    group: "Agents",
    summary: "Record what an agent's hook was told; for agents' settings.",
    hidden: true,
    load: async () => ({ default: (await import("./commands/hook.ts")).hookCommand("hook") }),
  },
  {
    name: "log",
    group: "Agents",
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

/**
 * The menu: every command of the program, in the order and the groups in which help shows them. Name and summary stand
 * here as well as in the command, so that help and "did you mean" load no command; a test holds the two together.
 *
 * To add a command: write `commands/<name>.ts` exporting `command: Command<Parts>`, then add an entry here whose `load`
 * is `() => import("./commands/<name>.ts")`. Nothing else: parsing, help, completions and suggestions follow from it.
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
  load(): Promise<{ readonly command: Command<Given> }>;
}

export const MENU: readonly MenuEntry<Parts>[] = [
  {
    name: "init",
    group: "Set up",
    summary: "Set Overseer up in this repository.",
    load: () => import("./commands/init.ts"),
  },
  {
    name: "config",
    group: "Set up",
    summary: "Show, explain and document the configuration.",
    load: () => import("./commands/config.ts"),
  },
  {
    name: "doctor",
    group: "Set up",
    summary: "Check what Overseer stands on, and mend it.",
    load: () => import("./commands/doctor.ts"),
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
    summary: "See and move the nodes of a plan.",
    load: () => import("./commands/work.ts"),
  },
  {
    name: "status",
    group: "Understand",
    summary: "Show how things stand.",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "why",
    group: "Understand",
    summary: "Tell how a goal, node, assignment or question came to be as it is.",
    load: () => import("./commands/why.ts"),
  },
  {
    name: "events",
    group: "Understand",
    summary: "Read the log; --follow waits for more.",
    load: () => import("./commands/events.ts"),
  },
  {
    name: "store",
    group: "Set up",
    summary: "Export, import and back up the state.",
    load: () => import("./commands/store.ts"),
  },
  {
    name: "completions",
    group: "Set up",
    summary: "Print a completion script for your shell",
    // Handed the menu, because it describes all of it; importing it there would close a circle.
    load: async () => ({ command: (await import("./commands/completions.ts")).completionsOf(() => MENU) }),
  },
];

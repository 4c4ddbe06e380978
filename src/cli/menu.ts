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
    name: "completions",
    group: "Set up",
    summary: "Print a completion script for your shell",
    // Handed the menu, because it describes all of it; importing it there would close a circle.
    load: async () => ({ command: (await import("./commands/completions.ts")).completionsOf(() => MENU) }),
  },
];

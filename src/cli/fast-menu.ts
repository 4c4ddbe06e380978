/** The part of the menu that has a bundle of its own (fast.ts). Same entries, same commands, nothing else on board. */
import type { MenuEntry } from "./menu.ts";
import type { Parts } from "./parts.ts";

export const FAST_MENU: readonly MenuEntry<Parts>[] = [
  {
    name: "status",
    group: "Understand",
    summary: "Show how things stand.",
    load: () => import("./commands/status.ts"),
  },
  {
    name: "mail",
    group: "Agents",
    summary: "Write to agents, and read what they write.",
    load: () => import("./commands/mail.ts"),
  },
];

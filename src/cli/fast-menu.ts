/** The parts of the menu that have bundles of their own (fast.ts, mail.ts). Same entries, same commands, nothing else. */
import type { MenuEntry } from "./menu.ts";
import type { Parts } from "./parts.ts";

export const FAST_MENU: readonly MenuEntry<Parts>[] = [
  {
    name: "status",
    group: "Every day",
    summary: "Show the state of the fleet.",
    load: () => import("./commands/status.ts"),
  },
];

export const MAIL_MENU: readonly MenuEntry<Parts>[] = [
  {
    name: "mail",
    group: "Agents",
    summary: "Send mail to agents, and read theirs.",
    load: () => import("./commands/mail.ts"),
  },
];

/** How the main help is divided. Apart from the menu, which no small bundle has room for. */

/**
 * The headings of the main help, in their order; one that is not among them comes last. The first holds the round of a day:
 * have the daemon run, give it work, look, decide what agents ask, let finished work land. Whoever knows these five can work;
 * status names every other command when it is its turn.
 */
export const GROUPS: readonly string[] = [
  "Every day",
  "Set up",
  "Plans and work",
  "Agents",
  "Landing",
  "Fleet and upkeep",
  "For scripts and agents",
];

export const EVERY_DAY: readonly string[] = ["up", "do", "status", "answer", "accept"];

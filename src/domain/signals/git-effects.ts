/** Which git commands a command line runs that move a branch or the checkout; what is only quoted is text. */

import { shellCommands } from "#domain/core/shell-words.ts";
import { gitCall, unwrapCommand } from "#domain/permit/permit-shell.ts";
import type { ToolEffect } from "./tool-effects.ts";

/** Verbs that move a branch, HEAD or the checkout; what only looks, or only stages, is no operation worth a line. */
const OPERATIONS: readonly string[] =
  "commit merge rebase cherry-pick revert am reset checkout switch restore pull push stash".split(" ");
/** One command line seldom has more, and one that has should not flood. */
const MOST_EFFECTS = 10;

export function gitEffects(command: string): readonly ToolEffect[] {
  const effects: ToolEffect[] = [];
  for (const { words } of shellCommands(command)) {
    const [program, ...operands] = unwrapCommand(words, false).words;
    if (program === undefined || (program.text !== "git" && !program.text.endsWith("/git"))) continue;
    const verb = gitCall(operands)?.verb;
    if (verb !== undefined && OPERATIONS.includes(verb)) effects.push({ kind: "git.ran", verb });
  }
  return effects.slice(0, MOST_EFFECTS);
}

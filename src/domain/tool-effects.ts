/**
 * What a tool call changed, as far as the call itself says so (HOOK-2): the file it wrote, the git command it ran. Asked
 * only of calls that went well. What a shell writes besides cannot be read off its command; commits are found by looking
 * at the branch when a turn ends (runner/commit-watch.ts), so a commit inside a longer command that failed is not lost.
 */
import { gitCall, unwrapped } from "./guard-shell.ts";
import { shellCommands } from "./shell-words.ts";

export type ToolEffect =
  | { readonly kind: "file.changed"; readonly path: string }
  | { readonly kind: "git.ran"; readonly verb: string };

const WRITING_TOOLS: readonly string[] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/** Verbs that move a branch, HEAD or the checkout; what only looks, or only stages, is no operation worth a line. */
const OPERATIONS: readonly string[] =
  "commit merge rebase cherry-pick revert am reset checkout switch restore pull push stash".split(" ");
/** One command line seldom has more, and one that has should not flood. */
const MOST_EFFECTS = 10;

export function toolEffects(tool: string, input: Readonly<Record<string, unknown>>): readonly ToolEffect[] {
  if (WRITING_TOOLS.includes(tool)) {
    const path = input.file_path ?? input.notebook_path;
    return typeof path === "string" && path !== "" ? [{ kind: "file.changed", path }] : [];
  }
  const { command } = input;
  // Most commands have nothing to do with git, and reading one as a shell does costs a hook some of its time.
  if (tool !== "Bash" || typeof command !== "string" || !mayOperate(command)) return [];
  const effects: ToolEffect[] = [];
  for (const { words } of shellCommands(command)) {
    const [program, ...operands] = unwrapped(words, false).words;
    if (program === undefined || (program.text !== "git" && !program.text.endsWith("/git"))) continue;
    const verb = gitCall(operands)?.verb;
    if (verb !== undefined && OPERATIONS.includes(verb)) effects.push({ kind: "git.ran", verb });
  }
  return effects.slice(0, MOST_EFFECTS);
}

function mayOperate(command: string): boolean {
  if (!command.includes("git")) return false;
  for (const verb of OPERATIONS) if (command.includes(verb)) return true;
  return false;
}

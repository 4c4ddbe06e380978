/**
 * What a tool call changed, as far as the call itself says so (HOOK-2): the file it wrote, the git command it ran. Asked
 * only of calls that went well. What a shell writes besides cannot be read off its command; commits are found by looking
 * at the branch when a turn ends (runner/commit-watch.ts), so a commit inside a longer command that failed is not lost.
 */
import type { CallMeaning } from "#domain/core/tools.ts";

export type ToolEffect =
  | { readonly kind: "file.changed"; readonly path: string }
  | { readonly kind: "git.ran"; readonly verb: string };

/** Reads a command line for git (git-effects.ts); handed in, because a hook loads it only when it is needed. */
export type ReadGit = (command: string) => readonly ToolEffect[];

export function toolEffects({ path, command }: CallMeaning, readGit: ReadGit): readonly ToolEffect[] {
  if (path !== undefined && path !== "") return [{ kind: "file.changed", path }];
  // Most commands have nothing to do with git.
  return command?.includes("git") ? readGit(command) : [];
}

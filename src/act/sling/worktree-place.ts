/** The directory that holds the worktrees of agents and of checks. */

import type { ActParts } from "#act/parts.ts";
import { isWithin } from "#sys/paths.ts";

/**
 * An ignore file inside the directory hides everything beside it, itself included, whatever branch the user checks out:
 * `.overseer/.gitignore` goes away with the branch, and `git stash -u` would move worktrees that agents work in. Where a
 * person chose another place for worktrees, that place is theirs to hide.
 */
export async function hideWorktrees(
  { files, root }: Pick<ActParts, "files" | "root">,
  directory: string,
): Promise<void> {
  if (!isWithin(root.userDir, directory)) return;
  const path = `${directory}/.gitignore`;
  if ((await files.facts(path)) !== undefined) return;
  await files.makeDir(directory, { mode: 0o700 });
  await files.write(path, "*\n", { mode: 0o644 });
}

/**
 * What Overseer writes for itself must not come out of git: a database that was committed brings a stranger's goals, and a
 * committed link in the place of our own directory leads what is written there to anywhere. Asked before a store is
 * made, moved, opened for a daemon or fixed.
 */
import { OverseerError } from "#errors.ts";
import type { Git } from "#git/git.ts";
import type { Files } from "#sys/files.ts";
import type { Root } from "#sys/root.ts";

/** Below `.overseer/`, now or in earlier versions: never yours to edit, so never in git. */
const OURS = ["overseer.db", "overseer.db-wal", "overseer.db-shm", "run", "logs", "specs", "worktrees", "salute"];

export interface TrackedGround {
  readonly root: Pick<Root, "project" | "userDir">;
  readonly git: { readonly git: Pick<Git, "attempt"> };
}

/** What of it git tracks, as paths of the repository. */
export async function listTrackedState({ root, git }: TrackedGround): Promise<string[]> {
  if (!root.userDir.startsWith(`${root.project}/`)) return []; // a bare repository has no work tree
  const directory = root.userDir.slice(root.project.length + 1);
  const paths = OURS.map((name) => `:(literal)${directory}/${name}`);
  const found = await git.git.attempt(["ls-files", "-z", "--", ...paths], { cwd: root.project });
  return found.code === 0 ? found.stdout.split("\0").filter((path) => path !== "") : [];
}

export async function refuseTracked(ground: TrackedGround): Promise<void> {
  const [first, ...more] = await listTrackedState(ground);
  if (first !== undefined) throw toTrackedError(first, more.length);
}

export function toTrackedError(first: string, more: number): OverseerError {
  return new OverseerError(
    "conflict",
    "STORE_TRACKED",
    `${first}${more > 0 ? ` (and ${more} more)` : ""} is tracked by git: it came with the repository, and whoever wrote it decides what is in it.`,
    `If it is not yours, remove it: git rm -r --cached ${first} && rm -rf ${first}. If it is, keep a copy elsewhere first.`,
  );
}

/** `.overseer` as a link would lead every door to files of somebody else's choosing. */
export async function refuseLinked(
  files: LinkFiles,
  { userDir, state }: Pick<Root, "userDir" | "state">,
): Promise<void> {
  if ((await files.facts(userDir))?.kind === "symlink") throw toLinkedError(userDir);
  if (userDir !== state && (await files.facts(`${userDir}/.git`)) !== undefined) {
    throw new OverseerError(
      "environment",
      "SETTINGS_LINKED",
      `${userDir} is a repository itself; Overseer could not tell what git brings into it from what you edit.`,
      "Keep the settings in this repository itself: remove the submodule and put plain files in its place.",
    );
  }
  for (const directory of [userDir, `${userDir}/roles`, `${userDir}/agents`, `${userDir}/prompts`]) {
    for (const name of (await files.list(directory)) ?? []) {
      const path = `${directory}/${name}`;
      // What a link points to changes without the link: nobody would be asked about it.
      if (SETTINGS_NAME.test(name) && (await files.facts(path))?.kind === "symlink") throw toLinkedError(path);
    }
  }
}

type LinkFiles = Pick<Files, "facts" | "list">;
const SETTINGS_NAME = /\.(ya?ml|md)$|^(roles|agents|prompts)$/;

function toLinkedError(path: string): OverseerError {
  return new OverseerError(
    "environment",
    "SETTINGS_LINKED",
    `${path} is a symlink; Overseer reads and writes settings only in the repository itself.`,
    "Check where it points; then remove it, or replace it with the file or directory itself.",
  );
}

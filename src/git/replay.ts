/**
 * A branch brought onto its target commit by commit, in the object database: what `git rebase` does in a checkout. It
 * finds its way where a merge of the two tips does not, most of all when the target has a part of the branch already
 * under another id, because that part was squashed or picked before. Merge commits are replayed as the change against
 * their first parent, so that a resolution somebody made on the branch is kept, and is not asked for again.
 *
 * `merge-tree` takes no base before git 2.40. So the replayed state is dressed as a child of the commit's parent: then
 * that parent is the base by itself. Those commits are never seen by anybody. Nothing here moves a ref.
 */

import { type GitTools, gitFailure } from "./git.ts";
import { changesBetween, integrationView, type MergeResult, type MergeWish, objectsAside } from "./landing.ts";
import * as landingArgs from "./landing-arguments.ts";
import { countOnTop } from "./proven-ancestry.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";

/** A branch longer than this is not replayed: it goes back to its author like any conflict. */
export const MOST_REPLAYED = 500;

/** `conflict` names the files of the first commit that does not fit, and is also the answer where nothing can be replayed. */
export async function replayOnto(tools: GitTools, repository: string, wish: MergeWish): Promise<MergeResult> {
  const view = await integrationView(tools, repository, wish.target);
  if (view === undefined) return { kind: "missing" };
  const env = { ...view, ...objectsAside(repository, wish.objects) };
  const options = { cwd: view.GIT_WORK_TREE, env };
  const steps = await stepsOf(tools, repository, wish);
  if (steps === undefined) return { kind: "conflict", files: [] };
  let state = wish.target;
  for (const { commit, parent } of steps) {
    const dressed = await tools.git.run(snapshotArgs.commitTree(`${state}^{tree}`, [parent]), {
      ...options,
      env: { ...env, ...NOBODY },
      stdin: "replayed\n",
    });
    const command = [...(wish.settings ?? []), ...landingArgs.mergeTree(dressed.trim(), commit)];
    const result = await tools.git.attempt(command, options);
    const [tree = "", ...rest] = result.stdout.split("\0");
    if (result.code === 1) return { kind: "conflict", files: [...new Set(rest.filter((name) => name !== ""))] };
    if (result.code !== 0) throw gitFailure(command, repository, result);
    state = tree;
  }
  const changes = await changesBetween(tools, repository, wish.target, state, wish.objects);
  return { kind: "clean", tree: state, changes };
}

/** The same objects come out of every repeat. */
const NOBODY: Readonly<Record<string, string>> = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Overseer"],
    [`GIT_${who}_EMAIL`, "overseer@localhost"],
    [`GIT_${who}_DATE`, "1000000000 +0000"],
  ]),
);

interface Step {
  readonly commit: string;
  readonly parent: string;
}

/** What the branch has and the target has not, oldest first; undefined where it has no beginning in the target. */
async function stepsOf(tools: GitTools, repository: string, wish: MergeWish): Promise<Step[] | undefined> {
  const command = landingArgs.ownCommits(wish.target, wish.commit, MOST_REPLAYED + 1, wish.without);
  const listed = (await tools.git.run(command, { cwd: repository })).split("\n").filter((line) => line !== "");
  const ids = listed.map((line) => line.split(" ", 1)[0] ?? "");
  const without = [wish.target, ...(wish.without ?? [])];
  const lines = listed.slice(0, await countOnTop(tools, repository, ids, without));
  if (lines.length === 0 || lines.length > MOST_REPLAYED) return undefined;
  const steps: Step[] = [];
  for (const line of lines) {
    const [commit, parent, ...others] = line.split(" ");
    if (commit === undefined || parent === undefined) return undefined;
    // What a merge brought in comes along with it; where that must not be, nothing can be told apart.
    if ((wish.without || wish.skipped) && others.length > 0) return undefined;
    if (!wish.skipped?.includes(commit)) steps.push({ commit, parent });
  }
  return steps.reverse();
}

/** The messages of those commits, oldest first, for the one commit that stands for all of them. */
export async function messagesOf(
  tools: GitTools,
  repository: string,
  { target, commit, without, skipped = [] }: Pick<MergeWish, "target" | "commit" | "without" | "skipped">,
) {
  const text = await tools.git.run(landingArgs.ownMessages(target, commit, MOST_REPLAYED, without), {
    cwd: repository,
  });
  const entries = text.split("\0").flatMap((entry) => {
    const [id = "", ...words] = entry.split(" ");
    return id === "" ? [] : [{ id, message: words.join(" ").trim() }];
  });
  const ids = entries.map(({ id }) => id);
  return entries
    .slice(0, await countOnTop(tools, repository, ids, [target, ...(without ?? [])]))
    .flatMap(({ id, message }) => (skipped.includes(id) ? [] : [message]))
    .filter((message) => message !== "")
    .reverse();
}

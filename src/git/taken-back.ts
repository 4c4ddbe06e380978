/**
 * Commits that were in a branch, are not any more, and would come in again with another: what a user has dropped by a
 * reset, an amend or a rebase. Where the branch has been stands in its log; where that is not kept (a bare repository),
 * only what the caller knows to have been its tip counts. Reads only.
 */
import { join } from "node:path";
import * as args from "./arguments.ts";
import type { GitTools } from "./git.ts";

export interface DroppedCommit {
  readonly commit: string;
  readonly subject: string;
}

/** More than anybody lands at once; beyond it nothing is looked for. */
const MOST_BROUGHT = 50_000;
const MOST_NAMED = 50;

/** What comes back with `commit` when it is brought into `from`, the newest first. */
export async function takenBack(
  tools: GitTools,
  repository: string,
  what: { readonly branch: string; readonly from: string; readonly commit: string; readonly tips: readonly string[] },
): Promise<DroppedCommit[]> {
  const { branch, from, commit, tips } = what;
  const brought = await tools.git.attempt(args.broughtBy(from, commit, MOST_BROUGHT), { cwd: repository });
  // A commit that is gone is told by whoever merges it.
  if (brought.code !== 0) return [];
  const comes = new Set(brought.stdout.split("\n").filter((line) => line !== ""));
  if (comes.size === 0) return [];
  const been = new Set([...tips, ...(await placesOf(tools, repository, branch))]);
  const dropped = [...comes].filter((each) => been.has(each));
  if (dropped.length === 0) return [];
  const named = await tools.git.run(args.commitsOf(dropped, from, MOST_NAMED), { cwd: repository });
  return named.split("\n").flatMap((line) => {
    const [id = "", ...subject] = line.split(" ");
    return id === "" ? [] : [{ commit: id, subject: subject.join(" ") }];
  });
}

/** Read from git's own file where it keeps one, because every landing asks. */
async function placesOf(tools: GitTools, repository: string, branch: string): Promise<string[]> {
  const ref = `refs/heads/${branch}`;
  if ((await tools.files.facts(join(repository, "reftable"))) !== undefined) {
    const logged = await tools.git.attempt(args.refLog(ref, MOST_BROUGHT), { cwd: repository });
    return logged.stdout.split("\n");
  }
  const text = (await tools.files.read(join(repository, "logs", ref))) ?? "";
  return text.split("\n").flatMap((line) => line.split(" ", 2));
}

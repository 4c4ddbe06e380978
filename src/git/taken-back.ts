/**
 * Commits that were in a branch, are not any more, and would come in again with another: what a user has dropped by a
 * reset, an amend or a rebase. Where the branch has been stands in its log; where that is not kept (a bare repository),
 * only what the caller knows to have been its tip counts. A commit that was rebased or picked along is another one for git;
 * it is known by what it changes. Reads only.
 */
import { join } from "node:path";
import type { GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { withoutContained } from "./proven-ancestry.ts";

export interface DroppedCommit {
  readonly commit: string;
  readonly subject: string;
  /** The one that was dropped, where this one only changes the same. */
  readonly copyOf?: string;
}

/** More than anybody lands at once; beyond it nothing is looked for. */
const MOST_BROUGHT = 50_000;
const MOST_NAMED = 50;
/** Copies are looked for among this many on each side: the newest that were dropped, the oldest that come. */
const MOST_COMPARED = 500;

interface Wish {
  readonly branch: string;
  readonly from: string;
  readonly commit: string;
  readonly tips: readonly string[];
  /** False where the other side has commits of its own right, as a remote has: only the very same ones count. */
  readonly copies?: false;
}

/** What comes back with `commit` when it is brought into `from`, the newest first. */
export async function findTakenBack(tools: GitTools, repository: string, wish: Wish): Promise<DroppedCommit[]> {
  const { branch, from, commit, tips } = wish;
  const brought = await tools.git.attempt(landingArgs.listIncomingCommits(from, commit, MOST_BROUGHT), {
    cwd: repository,
  });
  // A commit that is gone is told by whoever merges it.
  if (brought.code !== 0) return [];
  const comes = new Set(brought.stdout.split("\n").filter((line) => line !== ""));
  if (comes.size === 0) return [];
  const been = new Set([...tips, ...(await placesOf(tools, repository, branch))]);
  const named = [...comes].filter((each) => been.has(each));
  const same = await withoutContained(tools, repository, named, [from]);
  const copies =
    wish.copies === false ? new Map<string, string>() : await copiesAmong(tools, repository, { comes, been, from });
  const listed =
    same.length === 0 ? [] : await readDroppedCommits(tools, repository, landingArgs.commitsOf(same, from, MOST_NAMED));
  const out = await withoutContained(
    tools,
    repository,
    listed.map((each) => each.commit),
    [from],
  );
  const gone = listed.filter((each) => out.includes(each.commit));
  const known = new Set(gone.map((each) => each.commit));
  const others = [...copies.keys()].filter((each) => !known.has(each));
  const copied =
    others.length === 0 ? [] : await readDroppedCommits(tools, repository, landingArgs.theseCommits(others));
  return [...gone, ...copied.map((each) => ({ ...each, copyOf: copies.get(each.commit) ?? each.commit }))];
}

async function readDroppedCommits(tools: GitTools, repository: string, command: string[]): Promise<DroppedCommit[]> {
  const lines = (await tools.git.run(command, { cwd: repository })).split("\n");
  return lines.flatMap((line) => {
    const [id = "", ...subject] = line.split(" ");
    return id === "" ? [] : [{ commit: id, subject: subject.join(" ") }];
  });
}

/** Of those that come, the ones that change what a dropped commit changed, each with that one. */
async function copiesAmong(
  tools: GitTools,
  repository: string,
  {
    comes,
    been,
    from,
  }: { readonly comes: ReadonlySet<string>; readonly been: ReadonlySet<string>; readonly from: string },
): Promise<Map<string, string>> {
  const places = [...been].filter((place) => /^(?!0+$)[0-9a-f]{40,64}$/.test(place));
  if (places.length === 0) return new Map();
  const options = { cwd: repository, stdin: `${[...places, `^${from}`].join("\n")}\n` };
  const listed = await tools.git.attempt(landingArgs.commitsListed(MOST_COMPARED), options);
  const dropped = new Set(listed.stdout.split("\n").filter((line) => line !== ""));
  // A rebase puts them first.
  const others = [...comes].filter((each) => !dropped.has(each)).slice(-MOST_COMPARED);
  if (dropped.size === 0 || others.length === 0) return new Map();
  const patches = await patchesOf(tools, repository, [...dropped]);
  const copies = new Map<string, string>();
  for (const [patch, commit] of await patchesOf(tools, repository, others)) {
    const same = patches.flatMap(([of, original]) => (of === patch ? [original] : []));
    if (same.length === 0 || (await withoutContained(tools, repository, [commit], [from])).length === 0) continue;
    const original = (await withoutContained(tools, repository, same, [from])).at(-1);
    if (original !== undefined) copies.set(commit, original);
  }
  return copies;
}

async function patchesOf(
  tools: GitTools,
  repository: string,
  commits: readonly string[],
): Promise<[patch: string, commit: string][]> {
  const patches = await tools.git.run(landingArgs.patchesListed(), {
    cwd: repository,
    stdin: `${commits.join("\n")}\n`,
  });
  const ids = await tools.git.run(landingArgs.patchIds(), { cwd: repository, stdin: patches });
  return ids.split("\n").flatMap((line) => {
    const [patch = "", commit = ""] = line.split(" ");
    return commit === "" ? [] : [[patch, commit]];
  });
}

/** Read from git's own file where it keeps one, because every landing asks. */
async function placesOf(tools: GitTools, repository: string, branch: string): Promise<string[]> {
  const ref = `refs/heads/${branch}`;
  if ((await tools.files.facts(join(repository, "reftable"))) !== undefined) {
    const logged = await tools.git.attempt(landingArgs.refLog(ref, MOST_BROUGHT), { cwd: repository });
    return logged.stdout.split("\n");
  }
  const text = (await tools.files.read(join(repository, "logs", ref))) ?? "";
  return text.split("\n").flatMap((line) => line.split(" ", 2));
}

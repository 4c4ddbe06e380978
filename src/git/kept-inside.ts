/**
 * What is kept of repositories that lay inside a worktree (submodules, nested ones). Its objects are in the project's
 * object database and its refs among the project's, and yet it is of another repository: it goes back into that one, or
 * into one with the same history, and nowhere else.
 */
import { basename, dirname, join } from "node:path";
import { shellWord } from "#domain/core/shell-words.ts";
import { OverseerError } from "#errors.ts";
import type { Git, GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { unquotePath } from "./quoted-path.ts";
import { findCommit } from "./repository.ts";
import * as snapshotArgs from "./snapshot-arguments.ts";
import { parseWipCommit } from "./wip.ts";
import type { WipNotes } from "./wip-message.ts";

export interface KeptHere {
  readonly holds: "files" | "commits" | "commits and files";
  /** Of which repository inside the worktree; as the ref spells it where only commits are kept. */
  readonly of?: string;
}

/** What our own ref holds. */
export async function readKept(git: Git, cwd: string, { ref, commit }: { ref: string; commit: string }) {
  const notes = parseWipCommit(commit, await git.run(snapshotArgs.commitText(commit), { cwd }));
  if (notes !== undefined) return snapshotHolds(notes);
  const of = await commitsInside(git, cwd, ref, commit);
  return { holds: "commits", ...(of === undefined ? {} : { of }) } satisfies KeptHere;
}

function snapshotHolds({ inside }: WipNotes): KeptHere {
  if (inside === undefined) return { holds: "files" };
  return { holds: inside.ownCommits ? "commits and files" : "files", of: pathOf(inside) };
}

export function pathOf({ path }: { readonly path: string }): string {
  return unquotePath(path) ?? path;
}

/** By its name, and because it has nothing in common with the project: an agent may be called part-1-of-3. */
export async function commitsInside(git: Git, cwd: string, ref: string, commit: string): Promise<string | undefined> {
  const path = /overseer\/recovery\/.+-\d+-of-(.+)-\d+$/.exec(ref)?.[1];
  if (path === undefined) return undefined;
  const head = await findCommit(git, cwd, "HEAD");
  return head !== undefined && (await isRelated(git, cwd, commit, head)) ? undefined : path;
}

/** Whether two commits have one in common. */
export async function isRelated(git: Git, cwd: string, one: string, other: string): Promise<boolean> {
  return one === other || (await git.attempt(landingArgs.mergeBase(one, other), { cwd })).code === 0;
}

/** The refusal that says what to type instead. */
export async function anotherRepository(
  tools: GitTools,
  kept: { readonly home: string; readonly ref: string; readonly of: string; readonly files: boolean },
  because: string,
): Promise<OverseerError> {
  const project = basename(kept.home) === ".git" ? dirname(kept.home) : kept.home;
  const own = join(project, kept.of);
  const there = (await tools.files.facts(join(own, ".git"))) !== undefined;
  const dir = there ? shellWord(own) : "<dir>";
  const ref = shellWord(kept.ref);
  const where = there ? "" : ", where <dir> is a repository of the same history or a new one ('git init <dir>')";
  const restore = kept.files
    ? `Type 'overseer worktree restore ${ref} --into ${dir}'${where}.\nOr by git alone`
    : "Type";
  const hint = `${restore}: git -C ${dir} fetch ${shellWord(project)} ${ref}\nthen: git -C ${dir} branch <name> FETCH_HEAD`;
  const more =
    there || kept.files ? "" : `\nwhere <dir> is a repository of the same history or a new one ('git init <dir>').`;
  return new OverseerError("conflict", "ANOTHER_REPOSITORY", because, `${hint}${more}`);
}

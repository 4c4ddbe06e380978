/**
 * A look at a worktree with every conversion switched off. Line endings, filters, keywords and encodings are chosen
 * by attributes, and the attributes that win over all others stand in `info/attributes` of the git dir: so a
 * throw-away git dir that borrows the repository's objects, with one line there, makes git read and write bytes as
 * they are, whatever .gitattributes and core.autocrlf say. It has its own index and no refs, so nothing of the user's
 * can be moved through it.
 */
import { dirname, join } from "node:path";
import { systemCode } from "#errors.ts";
import { diskFull, type GitTools } from "./git.ts";

/** `-text` wins over eol and autocrlf; an encoding must be unspecified, git takes no other word for "none". */
const NO_CONVERSION = "* -text -filter -ident !eol !working-tree-encoding\n";

/** Scratch directories of a process that was killed are swept by the next one after this long. */
const FORGOTTEN_AFTER_MS = 60 * 60 * 1000;

/** Gives `work` a directory of its own beside the repository's objects and removes it afterwards, come what may. */
export async function withScratch<T>(
  tools: GitTools,
  commonDir: string,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const parent = join(commonDir, "overseer", "scratch");
  const scratch = join(parent, tools.ids.next("s_"));
  try {
    await tools.files.makeDir(scratch, { mode: 0o700 });
    return await work(scratch);
  } catch (error) {
    if (systemCode(error) === "ENOSPC") throw diskFull(`No space left on the disk below ${commonDir}.`, error);
    throw error;
  } finally {
    await tools.files.remove(scratch);
    await sweep(tools, parent);
  }
}

/** The environment of a raw view onto `worktree`, with the index file given. The git dir is made in `scratch`. */
export async function rawView(
  tools: GitTools,
  place: { scratch: string; worktree: string; commonDir: string; objectFormat: "sha1" | "sha256"; index: string },
): Promise<Record<string, string>> {
  const gitDir = join(place.scratch, "raw.git");
  if ((await tools.files.facts(gitDir)) === undefined) await makeGitDir(tools, gitDir, place.objectFormat);
  return {
    GIT_DIR: gitDir,
    GIT_WORK_TREE: place.worktree,
    GIT_OBJECT_DIRECTORY: join(place.commonDir, "objects"),
    GIT_INDEX_FILE: place.index,
    GIT_CEILING_DIRECTORIES: dirname(place.worktree),
  };
}

async function makeGitDir(tools: GitTools, gitDir: string, objectFormat: "sha1" | "sha256"): Promise<void> {
  const { files } = tools;
  for (const part of ["objects", "refs", "info"]) await files.makeDir(join(gitDir, part));
  const extension = objectFormat === "sha256" ? "[extensions]\n\tobjectFormat = sha256\n" : "";
  await files.append(join(gitDir, "config"), `[core]\n\trepositoryFormatVersion = 1\n${extension}`);
  await files.append(join(gitDir, "info", "attributes"), NO_CONVERSION);
  await files.append(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
}

async function sweep(tools: GitTools, parent: string): Promise<void> {
  for (const name of (await tools.files.list(parent)) ?? []) {
    const facts = await tools.files.facts(join(parent, name));
    if (facts !== undefined && tools.clock.now() - facts.mtimeMs > FORGOTTEN_AFTER_MS) {
      await tools.files.remove(join(parent, name));
    }
  }
}

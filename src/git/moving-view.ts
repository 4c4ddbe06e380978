/**
 * Our own git directory through which a checkout is moved: git sees the user's files, settings and objects, an index
 * that is a copy of the user's, and a HEAD that stands at the old commit. So git does the moving, with all its checks,
 * and nothing of the user's refs or index is changed by it. Files whose filters have run already are taken from there.
 */
import { join } from "node:path";
import type { GitTools } from "./git.ts";
import type { Prepared } from "./prepared-contents.ts";

export interface MovingView {
  readonly checkout: string;
  /** The checkout's own git dir, and the repository's. */
  readonly gitDir: string;
  readonly repository: string;
  readonly from: string;
  readonly index: string;
  readonly scratch: string;
  readonly prepared: Prepared;
  /** What is run once the files are there, as long as each succeeds. */
  readonly after: readonly (readonly string[])[];
  /** What is run, from hooks of its own, while git has the branch locked and before it moves it. */
  readonly locked?: { readonly hooks: string; readonly step: readonly string[] };
}

/** The environment for git, and settings for the command that moves. */
export async function makeMovingView(
  tools: GitTools,
  view: MovingView,
): Promise<{ readonly env: Record<string, string>; readonly settings: readonly string[] }> {
  const { files } = tools;
  const made = join(view.scratch, "view.git");
  for (const part of ["objects", "refs", "info"]) await files.makeDir(join(made, part));
  await files.append(join(made, "HEAD"), `${view.from}\n`);
  const theirs = (await files.read(join(view.repository, "info", "attributes"))) ?? "";
  const cleans = [...new Set(view.prepared.files.map(({ clean }) => clean))];
  await files.append(join(made, "config"), await settingsFor(tools, view, cleans));
  const lines = view.prepared.files.map(({ path, clean }) => attributeLine(path, cleans.indexOf(clean)));
  await files.append(join(made, "info", "attributes"), `${theirs}\n${lines.join("")}`);
  const sparse = await files.read(join(view.gitDir, "info", "sparse-checkout"));
  if (sparse !== undefined) await files.append(join(made, "info", "sparse-checkout"), sparse);
  const shallow = await files.read(join(view.repository, "shallow"));
  if (shallow !== undefined) await files.append(join(made, "shallow"), shallow);
  const env = {
    GIT_DIR: made,
    GIT_WORK_TREE: view.checkout,
    GIT_OBJECT_DIRECTORY: join(view.repository, "objects"),
    GIT_INDEX_FILE: view.index,
  };
  const hooks = join(made, "hooks");
  await files.makeDir(hooks);
  await files.write(join(hooks, "post-merge"), hookOf(env, view.after), { mode: 0o755 });
  if (view.locked) {
    await files.makeDir(view.locked.hooks);
    const text = `#!/bin/sh\n[ "$1" != prepared ] || ${view.locked.step.map(inShell).join(" ")}\n`;
    await files.write(join(view.locked.hooks, "reference-transaction"), text, { mode: 0o755 });
  }
  return { env, settings: ["-c", `core.hooksPath=${hooks}`] };
}

/** It is not to see the view that git shows it. */
function hookOf(env: Readonly<Record<string, string>>, after: MovingView["after"]): string {
  const commands = after.map((words) => words.map(inShell).join(" "));
  return ["#!/bin/sh", "set -e", `unset GIT_PREFIX ${Object.keys(env).join(" ")}`, ...commands, ""].join("\n");
}

function filterName(which: number): string {
  return `overseer-prepared-${which}`;
}

/** The user's settings, then ours. What says how the repository is kept is read from this file alone. */
async function settingsFor(
  tools: GitTools,
  { gitDir, repository, from, prepared }: MovingView,
  cleans: readonly (string | undefined)[],
): Promise<string> {
  const own = join(gitDir, "config.worktree");
  const includes = [join(repository, "config")];
  if ((await tools.files.facts(own)) !== undefined) includes.push(own);
  const shared = /^\s*sharedrepository\s*=\s*(\S+)\s*$/im.exec(
    (await tools.files.read(join(repository, "config"))) ?? "",
  );
  const lines = [
    "[core]",
    "repositoryFormatVersion = 1",
    ...(shared ? [`sharedRepository = ${shared[1]}`] : []),
    ...(from.length === 64 ? ["[extensions]", "objectFormat = sha256"] : []),
    ...includes.flatMap((path) => ["[include]", `path = ${quoteForGit(path)}`]),
    "[core]",
    "logAllRefUpdates = false",
    "splitIndex = false",
    ...cleans.flatMap((clean, which) => [
      `[filter "${filterName(which)}"]`,
      `smudge = ${quoteForGit(`cat ${inShell(`${prepared.directory}/`).replaceAll("%", "%%")}%f`)}`,
      ...(clean === undefined ? [] : [`clean = ${quoteForGit(clean)}`]),
      "required = true",
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A filter is the last step of writing a file: what it prints is what is written, whatever else is converted before. */
function attributeLine(path: string, which: number): string {
  const pattern = path.replace(/[\\*?[\]]/g, "\\$&");
  return `${quoteForGit(`/${pattern}`)} filter=${filterName(which)}\n`;
}

function quoteForGit(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t")}"`;
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

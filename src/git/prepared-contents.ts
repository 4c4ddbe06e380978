/**
 * What filters make of the files that a checkout is about to get, made before anything of the checkout is touched. A
 * filter may fetch what a file stands for and take minutes, or fail; git runs it in the middle of writing files. So it
 * runs first, into our own directory, and the move itself takes the results from there.
 *
 * Filters are chosen by the attributes of the new commit. Where those are the ones of the checkout, a filter runs in the
 * checkout, as git would run it; where the landing brings other ones, it runs in our directory, beside them.
 */
import { join } from "node:path";
import type { ExecResult } from "#sys/exec.ts";
import * as args from "./arguments.ts";
import type { GitRunOptions, GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";
import { within } from "./repository.ts";
import type { Entry } from "./tree-entries.ts";

export interface Prepared {
  /** The directory that holds them, under their own names. */
  readonly directory: string;
  readonly files: readonly FilteredFile[];
}

export interface FilteredFile {
  readonly path: string;
  /** The command by which its filter reads it back, where there is one. */
  readonly clean: string | undefined;
}

/** Filters may fetch what a file stands for; a deadline would be one more way to stop. */
export const FILTER_TIMEOUT_MS = 60 * 60_000;

interface TargetCheckout {
  readonly checkout: string;
  readonly gitDir: string;
  readonly to: string;
}

/** Git's own answer where a filter did not do its work. */
export async function prepareContents(
  tools: GitTools,
  place: TargetCheckout,
  entries: readonly Entry[],
  scratch: string,
): Promise<Prepared | { readonly failed: ExecResult }> {
  const directory = join(scratch, "files");
  const none = { directory, files: [] };
  const drivers = await driversOf(tools, place.checkout);
  const candidates = entries.filter(({ now }) => now?.mode.startsWith("100"));
  if (drivers.size === 0 || candidates.length === 0) return none;
  const changed = entries.some(({ path }) => isAttributes(path));
  const attributes = changed ? await attributesOf(tools, place) : [];
  const index = join(scratch, "filtered.index");
  const inCheckout: GitRunOptions = { ...withIndex(place.checkout, index), timeoutMs: FILTER_TIMEOUT_MS };
  const records = [...attributes, ...candidates.map(({ path, now }) => `${now?.mode} ${now?.oid} 0\t${path}\0`)];
  await tools.git.run(landingArgs.indexFromRecords(), { ...inCheckout, stdin: records.join("") });
  const asked = await tools.git.run(landingArgs.filterOf(changed ? "index" : "worktree"), {
    ...inCheckout,
    stdin: toNulLines(candidates.map(({ path }) => path)),
  });
  const files = parseFilteredFiles(asked, drivers);
  if (files.length === 0) return none;
  const paths = files.map(({ path }) => path);
  await tools.files.makeDir(directory);
  const result = changed
    ? await besideAttributes(tools, place, { index, directory, attributes, paths })
    : await tools.git.attempt(landingArgs.checkoutBelow(directory), { ...inCheckout, stdin: toNulLines(paths) });
  if (result.code !== 0) return { failed: result };
  for (const path of paths) {
    // Some gits pass over a file that they could not write.
    if ((await tools.files.facts(join(directory, path))) === undefined) return { failed: { ...result, code: 1 } };
  }
  return { directory, files };
}

/** Filters that change what is written, each with its command for the way back. */
async function driversOf(tools: GitTools, checkout: string): Promise<Map<string, string | undefined>> {
  const command = args.configMatching("^filter\\..*\\.(clean|smudge|process)$");
  const found = await tools.git.attempt(command, within(checkout));
  const cleans = new Map<string, string>();
  const writing = new Set<string>();
  for (const entry of found.stdout.split("\0")) {
    const [, name = "", which, value = ""] = /^filter\.([\s\S]*)\.(clean|smudge|process)\n([\s\S]*)$/.exec(entry) ?? [];
    if (which === "clean") cleans.set(name, value);
    else if (which !== undefined) writing.add(name);
  }
  return new Map([...writing].map((name) => [name, cleans.get(name)]));
}

/** Records for an index: the attributes of the new commit. */
async function attributesOf(tools: GitTools, { checkout, to }: TargetCheckout): Promise<string[]> {
  const tree = await tools.git.run(landingArgs.treeEntries(to), within(checkout));
  return tree.split("\0").flatMap((record) => {
    const [facts = "", path = ""] = record.split("\t");
    const [mode = "", , oid = ""] = facts.split(" ");
    return isAttributes(path) && mode.startsWith("100") ? [`${mode} ${oid} 0\t${path}\0`] : [];
  });
}

async function besideAttributes(
  tools: GitTools,
  place: TargetCheckout,
  what: { readonly index: string; readonly directory: string; attributes: readonly string[]; paths: readonly string[] },
): Promise<ExecResult> {
  const { index, directory } = what;
  const env = { GIT_DIR: place.gitDir, GIT_WORK_TREE: directory, GIT_INDEX_FILE: index };
  const options = { cwd: directory, env, timeoutMs: FILTER_TIMEOUT_MS };
  const names = what.attributes.map((record) => record.slice(record.indexOf("\t") + 1, -1));
  const first = await tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin: toNulLines(names) });
  if (first.code !== 0) return first;
  return tools.git.attempt(landingArgs.checkoutFromIndex(), { ...options, stdin: toNulLines(what.paths) });
}

/** Answers come as path, attribute, value. */
function parseFilteredFiles(answer: string, drivers: ReadonlyMap<string, string | undefined>): FilteredFile[] {
  const fields = answer.split("\0");
  const files: FilteredFile[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const driver = fields[at + 2] ?? "";
    if (drivers.has(driver)) files.push({ path: fields[at] ?? "", clean: drivers.get(driver) });
  }
  return files;
}

function toNulLines(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join("");
}

export function isAttributes(path: string): boolean {
  return path === ".gitattributes" || path.endsWith("/.gitattributes");
}

/** The checkout seen through our own index. */
export function withIndex(checkout: string, index: string): GitRunOptions & { readonly env: Record<string, string> } {
  const { cwd, env } = within(checkout);
  return { cwd, env: { ...env, GIT_INDEX_FILE: index } };
}

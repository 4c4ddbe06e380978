/**
 * The first tier, which asks nobody: resolutions that were found before for the very same three files, both sides for
 * files that are declared so, lockfiles made anew by their own tool.
 */
import { dirname, join } from "node:path";
import { filterEnvironment } from "#act/attempt-files.ts";
import { withCheckWorktree } from "#act/checks/check.ts";
import type { ActParts } from "#act/parts.ts";
import type { Config } from "#config/schema.ts";
import { prepareCheckWorktree } from "#git/check-worktree.ts";
import { type Conflict, type ConflictFile, conflictOf, isOfLines, keepFile, sideIn, treeWith } from "#git/conflict.ts";
import { writeCommit } from "#git/landing.ts";
import { resolutionOf } from "#store/merges.ts";
import type { Store } from "#store/store.ts";
import { conflictKey, sidesKept } from "./sides-kept.ts";
import type { Conflicted, ForecastFile, SettledFile, Tier } from "./tier.ts";

export const AUTO_RESOLVE: Tier = {
  name: "auto-resolve",
  inBatch: true,
  isEnabled: ({ mechanical }) => mechanical,
  forecast: ({ files, open }) =>
    open.length === 0 ? `Without asking anybody: ${files.map(describeResolution).join("; ")}.` : undefined,
  resolve: async (given) => mechanically({ ...given, conflict: await unite(given) }),
};

function describeResolution({ path, by }: ForecastFile): string {
  switch (by?.kind) {
    case "recorded":
      return `${path} as it was resolved before`;
    case "lockfile":
      return `${path} made anew by '${by.command}'`;
    default:
      return `${path} with both sides, as a union file`;
  }
}

/** The conflict with the files that are declared so united, where that keeps both sides. */
async function unite({ parts, config, from, claim, conflict }: Conflicted): Promise<Conflict> {
  const repository = parts.root.gitCommonDir;
  const settings = await unionSettings(
    parts,
    config.landing.unionFiles,
    join(repository, "overseer", "union-attributes"),
  );
  if (!settings) return conflict;
  const united = await conflictOf(parts.git, repository, { target: from, commit: claim.commit, settings });
  return united && (await unionKeeps(parts, conflict, united)) ? united : conflict;
}

/** Git's own union for the files that are declared so, by our own list that holds for this merge alone. */
export async function unionSettings(
  parts: Pick<ActParts, "git" | "files" | "root">,
  patterns: readonly string[],
  path: string,
): Promise<string[] | undefined> {
  if (patterns.length === 0) return undefined;
  const told = await parts.git.git.attempt(["config", "--path", "--get", "core.attributesFile"], {
    cwd: parts.root.gitCommonDir,
  });
  const theirs = told.code === 0 ? ((await parts.files.read(told.stdout.trim())) ?? "") : "";
  await parts.files.makeDir(dirname(path));
  await parts.files.write(path, `${theirs}\n${patterns.map((one) => `${one} merge=union`).join("\n")}\n`);
  return ["-c", `core.attributesFile=${path}`];
}

/** Git's union is held to what holds for every tier, file by file. */
async function unionKeeps(parts: ActParts, before: Conflict, united: Conflict): Promise<boolean> {
  const open = new Set(united.files.map(({ path }) => path));
  for (const file of before.files.filter(({ path }) => !open.has(path))) {
    const result = await sideIn(parts.git, parts.root.gitCommonDir, united.tree, file.path);
    if ((await sidesKept(parts, file, result)) === "no") return false;
  }
  return true;
}

async function mechanically(given: Conflicted): Promise<Conflicted> {
  const { parts, config, conflict } = given;
  const repository = parts.root.gitCommonDir;
  const files: SettledFile[] = [];
  const open: ConflictFile[] = [];
  const locks: { file: ConflictFile; command: string }[] = [];
  for (const file of conflict.files) {
    const by = await findSettlement(parts, await parts.writer(), config, file);
    if (by?.kind === "recorded") files.push({ path: file.path, mode: by.mode, oid: by.result });
    else if (by?.kind === "lockfile") locks.push({ file, command: by.command });
    else open.push(file);
  }
  // A lockfile follows from everything else: made anew only when the rest is settled.
  if (open.length > 0 || locks.length === 0)
    return { ...given, settled: files, open: [...open, ...locks.map(({ file }) => file)] };
  const rest = await treeWith(parts.git, repository, conflict.tree, [
    ...files,
    ...locks.flatMap(({ file }) => (file.ours ? [{ path: file.path, ...file.ours }] : [])),
  ]);
  const made = await regenerateLockfiles(given, rest, locks);
  return made
    ? { ...given, settled: [...files, ...made], open: [] }
    : { ...given, settled: files, open: locks.map(({ file }) => file) };
}

type FileSettledBy =
  | { readonly kind: "recorded"; readonly mode: string; readonly result: string }
  | { readonly kind: "lockfile"; readonly command: string };

/** How one file in conflict is settled without asking anybody; undefined when it is not. */
export async function findSettlement(
  parts: Pick<ActParts, "git" | "root">,
  store: Pick<Store, "read">,
  { landing: { lockfiles } }: Pick<Config, "landing">,
  file: ConflictFile,
): Promise<FileSettledBy | undefined> {
  if (!file.ours) return undefined;
  const result = await findRecordedResult(parts, store, file);
  if (result !== undefined) return { kind: "recorded", mode: file.ours.mode, result };
  const command = lockfiles[file.path] ?? lockfiles[file.path.split("/").at(-1) ?? ""];
  return command === undefined ? undefined : { kind: "lockfile", command };
}

/** The result that was once found for the very same three files, if it is still there and still keeps both sides. */
async function findRecordedResult(
  parts: Pick<ActParts, "git" | "root">,
  store: Pick<Store, "read">,
  file: ConflictFile,
): Promise<string | undefined> {
  const { found } = await store.read({ found: resolutionOf(conflictKey(file)) });
  if (!found || !isOfLines(file)) return undefined;
  const there = await parts.git.git.attempt(["cat-file", "-e", found.result], { cwd: parts.root.gitCommonDir });
  return there.code === 0 ? found.result : undefined;
}

const LOCKFILE_MS = 10 * 60_000;

/** Runs each lockfile's own tool on the merged files, in a disposable worktree. Undefined when one of them fails. */
async function regenerateLockfiles(
  { parts, config, claim, from }: Conflicted,
  tree: string,
  locks: readonly { readonly file: ConflictFile; readonly command: string }[],
): Promise<SettledFile[] | undefined> {
  const repository = parts.root.gitCommonDir;
  const wish = { tree, parents: [from, claim.commit], message: "Lockfiles to be made anew\n", at: claim.claimedAt };
  const commit = await writeCommit(parts.git, repository, wish);
  return withCheckWorktree(parts, async (place) => {
    const { path: top } = await prepareCheckWorktree(parts.git, { repository, path: place.path, commit });
    const env = { ...filterEnvironment(parts.env, config.agents.passEnv), [place.mark.name]: place.mark.value };
    const made: SettledFile[] = [];
    for (const { file, command } of locks) {
      const cwd = join(top, file.path, "..");
      const result = await parts.exec.run(["sh", "-c", command], { cwd, env, timeoutMs: LOCKFILE_MS });
      const there = (await parts.files.facts(join(top, file.path)))?.kind === "file";
      if (result.code !== 0 || result.timedOut || !there || !file.ours) return undefined;
      const side = { mode: file.ours.mode, oid: await keepFile(parts.git, top, file.path) };
      // A tool that did nothing leaves one side as it was.
      if ((await sidesKept(parts, file, side)) === "no") return undefined;
      made.push({ path: file.path, ...side });
    }
    return made;
  });
}

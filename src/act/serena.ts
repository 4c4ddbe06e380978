/**
 * Each worktree is a project of Serena's own, while `serena.enabled` is on: a file in it that git does not see, and its path
 * in Serena's global list, which is the user's. That list is followed and not written once: what is missing of the
 * worktrees that are there is added, what is listed of those that are gone is taken out, under a lock that all
 * repositories of this user share. So nobody has to be there at the right moment, and whoever is killed in between is
 * made up for by the next. What goes wrong is told and stops nothing.
 */
import { homedir } from "node:os";
import { parse } from "yaml";
import { nameInProjectFile, type SerenaFacts, serenaProjectName, writeProjectFile } from "#domain/health/serena.ts";
import { addProject, listProjects, removeProject } from "#domain/health/serena-projects.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import { messageOf, OverseerError } from "#errors.ts";
import { within } from "#git/repository.ts";
import { latestAttempts, livingAttempts } from "#store/attempts.ts";
import { assertHomeAllowed } from "#sys/isolation.ts";
import { isWithin, nameOf } from "#sys/paths.ts";
import { readSmallFile } from "#sys/read-small.ts";
import { inTurn } from "#sys/turn.ts";
import type { ActParts } from "./parts.ts";
import { userStateDir } from "./settings/trust-file.ts";

export type SerenaParts = Pick<
  ActParts,
  "root" | "env" | "files" | "clock" | "processes" | "git" | "takeLock" | "config" | "writer"
>;

/** Others change the list in a moment. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 20;
const MOST_ATTEMPTS = 1_000;
/** As many paths are asked for, to guess a project's language. */
const MOST_FILES = 5_000;
/** Serena's own, with all its comments, have a tenth of it. */
const MOST_PROJECT_BYTES = 128 * 1024;

/** The worktree's project, before its agent starts. Answers with why it is none; null when it is. */
export async function makeSerenaProject(
  parts: SerenaParts,
  { worktree }: Pick<Attempt, "worktree">,
): Promise<string | null> {
  if (!(await parts.config()).serena.enabled) return null;
  try {
    await writeOwnFile(parts, worktree);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `Serena has no project for this worktree: ${messageOf(error)}`;
  }
  return followWorktrees(parts);
}

/** What is not there any more is taken out of Serena's list. For whoever has removed a worktree. */
export async function forgetSerenaProjects(parts: SerenaParts): Promise<string | null> {
  const isOn = (await parts.config()).serena.enabled;
  return isOn || (await parts.files.facts(recordPath(parts))) !== undefined ? followWorktrees(parts) : null;
}

/** All of it once more, for `doctor --fix`: files, and the list. Says what was done. */
export async function repairSerena(parts: SerenaParts): Promise<readonly string[]> {
  const { living } = await (await parts.writer()).read({ living: livingAttempts() });
  if (!(await parts.config()).serena.enabled) {
    await forgetSerenaProjects(parts);
    return [];
  }
  const before = await lookAtSerena(parts, living);
  for (const { worktree } of living) await writeOwnFile(parts, worktree).catch(ignoreRefusal);
  await followWorktrees(parts);
  const isNew = (worktree: string) =>
    before.projects.some((one) => one.worktree === worktree && (one.name === undefined || !one.registered));
  const mended = (await lookAtSerena(parts, living)).projects.filter(
    ({ worktree, name, registered }) => isNew(worktree) && name !== undefined && registered,
  );
  return mended.map(({ agent }) => `made the project of ${agent} known to Serena`);
}

/** SERENA-2: what there is, for `doctor`. */
export async function lookAtSerena(
  parts: Pick<SerenaParts, "files" | "root" | "env">,
  living: readonly Attempt[],
): Promise<SerenaFacts> {
  const { files, root } = parts;
  const list = await files.read(await listPath(parts));
  const registered = list === undefined ? undefined : listProjects(list);
  const nameOfProject = async (path: string): Promise<string | undefined> => {
    for (const name of [LOCAL_FILE, PROJECT_FILE]) {
      const text = await readSmallFile(`${path}/${name}`, MOST_PROJECT_BYTES);
      const found = text === undefined ? undefined : nameInProjectFile(text);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const projects = [];
  for (const { agent, worktree } of living) {
    const isListed = registered?.includes(worktree) ?? false;
    projects.push({ agent, worktree, name: await nameOfProject(worktree), registered: isListed });
  }
  const others = [];
  for (const path of new Set([root.project, ...(registered ?? [])])) {
    const name = projects.some(({ worktree }) => worktree === path) ? undefined : await nameOfProject(path);
    if (name !== undefined) others.push({ path, name });
  }
  const problem =
    list === undefined
      ? `there is no ${await listPath(parts)}, so no project is known to Serena`
      : registered === undefined
        ? `the list of projects in ${await listPath(parts)} is not understood`
        : null;
  return { projects, others, problem: projects.length === 0 ? null : problem };
}

const PROJECT_FILE = ".serena/project.yml";
/** Serena puts it over the project's file; for a project whose file is committed. */
const LOCAL_FILE = ".serena/project.local.yml";
const IGNORE_FILE = ".serena/.gitignore";

/** Made again wherever it is not as it should be; a committed one stays as it is. */
async function writeOwnFile(parts: SerenaParts, worktree: string): Promise<void> {
  const { files, root, git } = parts;
  await assertOwnPlace(parts, worktree);
  const { project } = await parts.config();
  const name = serenaProjectName(project.name ?? nameOf(root.project), worktree);
  const isTracked = async (path: string) =>
    (await git.git.attempt(["ls-files", "--error-unmatch", "--", path], within(worktree))).code === 0;
  if (await isTracked(PROJECT_FILE)) {
    await hide(parts, worktree, LOCAL_FILE);
    await files.write(`${worktree}/${LOCAL_FILE}`, `project_name: ${JSON.stringify(name)}\n`, { mode: 0o644 });
    return;
  }
  const now = await readSmallFile(`${worktree}/${PROJECT_FILE}`, MOST_PROJECT_BYTES);
  if (now !== undefined && nameInProjectFile(now) === name) return;
  await hide(parts, worktree, PROJECT_FILE);
  const own = await readSmallFile(`${root.project}/${PROJECT_FILE}`, MOST_PROJECT_BYTES);
  const listed = own === undefined ? (await git.git.run(["ls-files", "-z"], within(worktree))).split("\0") : [];
  await files.write(`${worktree}/${PROJECT_FILE}`, writeProjectFile(name, own, listed.slice(0, MOST_FILES)), {
    mode: 0o644,
  });
}

/** A link, which a branch may bring along, would lead what is written out of the worktree. */
async function assertOwnPlace({ files }: SerenaParts, worktree: string): Promise<void> {
  const places = [
    [".serena", "directory"],
    ...[PROJECT_FILE, LOCAL_FILE, IGNORE_FILE].map((path) => [path, "file"] as const),
  ] as const;
  for (const [path, kind] of places) {
    const facts = await files.facts(`${worktree}/${path}`);
    if (facts === undefined || facts.kind === kind) continue;
    const hint = "Remove it from the branch, or set serena.enabled: false.";
    throw new OverseerError("conflict", "SERENA_PLACE", `${path} is no ${kind} of its own. ${hint}`, hint);
  }
}

/** Git does not see it: by what is committed already, or by an ignore file beside it that hides itself. */
async function hide({ files, git }: SerenaParts, worktree: string, path: string): Promise<void> {
  const isHidden = async () =>
    (await git.git.attempt(["check-ignore", "--quiet", "--", path], within(worktree))).code === 0;
  await files.makeDir(`${worktree}/.serena`, { mode: 0o755 });
  if (await isHidden()) return;
  const isNew = await files.create(`${worktree}/${IGNORE_FILE}`, "*\n");
  if (await isHidden()) return;
  if (isNew) await files.remove(`${worktree}/${IGNORE_FILE}`);
  const hint = `Add ${path} to the repository's .gitignore.`;
  throw new OverseerError("conflict", "SERENA_NOT_HIDDEN", `git would see ${path}. ${hint}`, hint);
}

/** What we have put into the list, or were about to. */
interface SerenaRecord {
  readonly registered: readonly string[];
}

function recordPath({ root }: Pick<SerenaParts, "root">): string {
  return `${root.state}/run/serena.json`;
}

async function readRecord(parts: SerenaParts): Promise<readonly string[]> {
  try {
    const { registered } = JSON.parse((await parts.files.read(recordPath(parts))) ?? "{}") as Partial<SerenaRecord>;
    return Array.isArray(registered) ? registered.map(String) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Null when the list is as it should be; otherwise why it is not. */
async function followWorktrees(parts: SerenaParts): Promise<string | null> {
  try {
    return await inTurn(parts.processes, "serena", () => underLock(parts, () => changeList(parts)));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `Serena's list of projects was not changed: ${messageOf(error)}`;
  }
}

async function changeList(parts: SerenaParts): Promise<string | null> {
  const { files, root } = parts;
  const { serena } = await parts.config();
  const link = await listPath(parts);
  const before = await files.read(link);
  const wanted = serena.enabled ? await listWorktrees(parts) : [];
  const recorded = await readRecord(parts);
  if (before === undefined)
    return wanted.length === 0 ? null : `there is no ${link}: run Serena once, then 'overseer doctor --fix'`;
  const listed = listProjects(before);
  if (listed === undefined) return `the list of projects in ${link} is not understood`;
  // A place outside may be that of other repositories, too; in our own, what is gone can only have been ours.
  const isForgotten = async (path: string) => isWithin(root.userDir, path) && (await files.facts(path)) === undefined;
  const gone: string[] = [];
  for (const path of listed) {
    if (!wanted.includes(path) && (recorded.includes(path) || (await isForgotten(path)))) gone.push(path);
  }
  const added = wanted.filter((path) => !listed.includes(path));
  if (gone.length > 0 || added.length > 0) {
    // Before the list is changed, so that whoever comes next knows what is ours.
    await writeRecord(parts, [...wanted, ...gone]);
    let text: string | undefined = before;
    for (const path of gone) text = text === undefined ? undefined : removeProject(text, path);
    for (const path of added) text = text === undefined ? undefined : addProject(text, path);
    if (text === undefined || !isProven(before, text, { gone, added }))
      return `the list of projects in ${link} is not understood`;
    const path = await files.realPath(link);
    // Somebody else, such as Serena itself, may have written it meanwhile; then the next time is ours.
    if ((await files.read(path)) !== before) return `${link} was changed by somebody else at the same moment`;
    await files.write(path, text);
  }
  await writeRecord(parts, wanted);
  return null;
}

async function writeRecord(parts: SerenaParts, registered: readonly string[]): Promise<void> {
  const path = recordPath(parts);
  if (registered.length === 0) return parts.files.remove(path);
  await parts.files.makeDir(`${parts.root.state}/run`, { mode: 0o700 });
  await parts.files.write(path, `${JSON.stringify({ registered } satisfies SerenaRecord)}\n`, { mode: 0o600 });
}

/** Worktrees of agents that are there. */
async function listWorktrees({ files, writer }: SerenaParts): Promise<string[]> {
  const { attempts } = await (await writer()).read({ attempts: latestAttempts(MOST_ATTEMPTS) });
  const there: string[] = [];
  for (const path of new Set(attempts.map(({ worktree }) => worktree))) {
    if ((await files.facts(path))?.kind === "directory") there.push(path);
  }
  return there;
}

/** A YAML reader has the last word: exactly these paths came and went, and nothing else says anything else. */
function isProven(
  before: string,
  after: string,
  { gone, added }: { readonly gone: readonly string[]; readonly added: readonly string[] },
): boolean {
  if (before.includes("\uFFFD")) return false; // bytes that are no text would not come out again
  try {
    const [{ projects: had, ...rest }, { projects: has, ...others }] = [readMap(before), readMap(after)];
    const expected = [...(Array.isArray(had) ? had : []).filter((path) => !gone.includes(String(path))), ...added];
    const now = Array.isArray(has) ? has : [];
    return Bun.deepEquals(rest, others) && Bun.deepEquals(now.toSorted(), expected.toSorted());
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

function readMap(text: string): Record<string, unknown> {
  return (parse(text) ?? {}) as Record<string, unknown>;
}

async function underLock<T>(parts: SerenaParts, work: () => Promise<T>): Promise<T> {
  const directory = userStateDir(parts.env);
  await parts.files.makeDir(directory, { mode: 0o700 });
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const lock = parts.takeLock(`${directory}/serena.lock.db`);
    if (lock) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }
    if (waited >= PATIENCE_MS) throw new Error("another Overseer holds its lock");
    await parts.clock.sleep(LOOK_AGAIN_MS);
  }
}

async function listPath({ env }: Pick<SerenaParts, "env">): Promise<string> {
  const own = env.SERENA_HOME?.trim();
  const path = own?.startsWith("/") ? own : `${env.HOME?.startsWith("/") ? env.HOME : homedir()}/.serena`;
  assertHomeAllowed(path);
  return `${path}/serena_config.yml`;
}

/** One worktree that cannot be a project is a finding, and keeps no other from being one. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof OverseerError)) throw error;
}

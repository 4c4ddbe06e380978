/**
 * Whether a git is at work in some directories. A git is known by its program, not by how its command reads: a path may have
 * spaces in it. Where it is at work is asked by the identity of directories, not by their names: in another mount namespace
 * (a container) the same directory has another name. Whoever cannot be asked may be there; one that is stopped is.
 */
import { basename, dirname, isAbsolute } from "node:path";
import type { ActParts } from "#act/parts.ts";
import { systemCode } from "#errors.ts";

type LookParts = Pick<ActParts, "files" | "processes">;

/** The first git that works in or below one of these directories; one of which nothing is known may be there. */
export async function gitAtWorkIn(parts: LookParts, roots: readonly string[]): Promise<number | undefined> {
  const ids = new Set<string>();
  for (const root of roots) ids.add((await identityOf(parts, `${root}/.`)) ?? "");
  ids.delete("");
  for (const { pid, command, zombie } of parts.processes.list()) {
    if (zombie || !(await isGit(parts, pid, command))) continue;
    if (roots.some((root) => command.includes(root)) || (await mayWorkIn(parts, pid, command, ids))) return pid;
  }
  return undefined;
}

/** `git`, `git-remote-https`, and one that was replaced by an update while it ran. */
const PROGRAM = /^git(-[\w-]+)?( \(deleted\))?$/;
/** Where the program cannot be seen, any word that may be one. */
const MENTIONED = /(^|[\s/])git(-[\w-]+)?(\s|$)/;

async function isGit(parts: LookParts, pid: number, command: string): Promise<boolean> {
  if (!MENTIONED.test(command)) return false;
  const [first = ""] = command.split(" ");
  if (PROGRAM.test(basename(first))) return true;
  try {
    return PROGRAM.test(basename(await parts.files.realPath(`/proc/${pid}/exe`)));
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return parts.processes.identify(pid) !== undefined;
  }
}

/** What git may be told beside the directory in which it stands. */
const TOLD = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"];
const SAID = /--(?:git-dir|work-tree)[= ](\S+)/g;

async function mayWorkIn(parts: LookParts, pid: number, command: string, ids: ReadonlySet<string>): Promise<boolean> {
  const told = TOLD.flatMap((name) => parts.processes.variable(pid, name) ?? []);
  const said = [...command.matchAll(SAID)].flatMap(([, path]) => path ?? []);
  const places = [...told, ...said].map((path) =>
    isAbsolute(path) ? `/proc/${pid}/root${path}` : `/proc/${pid}/cwd/${path}`,
  );
  try {
    if (await isWithin(parts, `/proc/${pid}/cwd`, ids)) return true;
    for (const place of places) if (await isWithin(parts, place, ids)) return true;
    return false;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    // It has ended, or nobody may look: another user's, or a system without such files.
    return parts.processes.identify(pid) !== undefined;
  }
}

/** Deeper than any directory that a path may name. */
const MOST_LEVELS = 200;

/** Whether the directory, or one above it, is one of these. Throws where it cannot be looked at. */
async function isWithin(parts: LookParts, place: string, ids: ReadonlySet<string>): Promise<boolean> {
  let path = `${place}/.`;
  if ((await parts.files.facts(path)) === undefined) path = `${dirname(place)}/.`; // a file that is to be made
  let before: string | undefined;
  for (let level = 0; level < MOST_LEVELS; level += 1) {
    const id = await identityOf(parts, path);
    if (id === undefined) throw Object.assign(new Error(`${path} cannot be looked at`), { code: "ENOENT" });
    if (ids.has(id)) return true;
    if (id === before) return false;
    before = id;
    path = `${path}/..`;
  }
  return true;
}

async function identityOf(parts: LookParts, path: string): Promise<string | undefined> {
  const facts = await parts.files.facts(path);
  return facts && `${facts.device} ${facts.inode}`;
}

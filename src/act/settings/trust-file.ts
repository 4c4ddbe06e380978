/**
 * What this user has confirmed on this machine: a digest of run/config.json for each repository, kept in the user's own
 * state directory, where no clone, pull or checkout reaches. One file for each repository, named after its real path.
 */
import { homedir } from "node:os";
import type { Files } from "#sys/files.ts";
import { assertHomeAllowed } from "#sys/isolation.ts";

interface Trust {
  readonly project: string;
  /** Of the copy that was confirmed, and of the one before it: a process may die between writing this and that. */
  readonly digests: readonly string[];
  readonly at: string;
}

export interface TrustLocation {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The digests that this user has confirmed for the repository. */
export async function readTrust(files: Files, place: TrustLocation): Promise<readonly string[]> {
  const path = await pathOf(files, place);
  const own = parse(await files.read(path));
  return own === undefined ? ofMovedAway(files, path.slice(0, path.lastIndexOf("/"))) : own.digests;
}

/** Whether anything was ever confirmed for the repository in this place. */
export async function hasOwnTrust(files: Files, place: TrustLocation): Promise<boolean> {
  return parse(await files.read(await pathOf(files, place))) !== undefined;
}

/**
 * What was confirmed for repositories that are no longer where they were: this may be one of them, and then its copy has
 * a digest of theirs. A copy is below the git directory, so no clone brings one.
 */
async function ofMovedAway(files: Files, directory: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of (await files.list(directory)) ?? []) {
    const trust = parse(await files.read(`${directory}/${name}`));
    if (trust && (await files.facts(trust.project)) === undefined) found.push(...trust.digests);
  }
  return found;
}

/** Undefined for a file that is not there, or that somebody scribbled in. */
function parse(text: string | undefined): Pick<Trust, "project" | "digests"> | undefined {
  if (text === undefined) return undefined;
  try {
    const { project, digests } = JSON.parse(text) as Partial<Trust>;
    return typeof project === "string" && Array.isArray(digests)
      ? { project, digests: digests.map(String) }
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function writeTrust(
  files: Files,
  place: TrustLocation,
  digests: readonly string[],
  now: number,
): Promise<void> {
  const path = await pathOf(files, place);
  await files.makeDir(path.slice(0, path.lastIndexOf("/")), { mode: 0o700 });
  const trust: Trust = { project: await files.realPath(place.project), digests, at: new Date(now).toISOString() };
  await files.write(path, `${JSON.stringify(trust)}\n`, { mode: 0o600 });
}

/** Nothing is confirmed for this repository any more. */
export async function forgetTrust(files: Files, place: TrustLocation): Promise<void> {
  await files.remove(await pathOf(files, place));
}

export function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

async function pathOf(files: Files, { project, env }: TrustLocation): Promise<string> {
  return `${userStateDir(env)}/trust/${digestOf(await files.realPath(project)).slice(0, 32)}.json`;
}

/** What this user has of Overseer beside their repositories. */
export function userStateDir(env: TrustLocation["env"]): string {
  const base = env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : `${homeOf(env)}/.local/state`;
  assertHomeAllowed(base);
  return `${base}/overseer`;
}

function homeOf(env: TrustLocation["env"]): string {
  return env.HOME?.startsWith("/") ? env.HOME : homedir();
}

/** The entries in which two trees differ, with both versions of each. */

import type { GitTools } from "./git.ts";
import * as landingArgs from "./landing-arguments.ts";

/** The mode of a submodule. */
export const GITLINK = "160000";

export interface Version {
  readonly mode: string;
  readonly oid: string;
}

export interface Entry {
  readonly path: string;
  readonly was: Version | undefined;
  readonly now: Version | undefined;
}

export async function entriesBetween(tools: GitTools, repository: string, from: string, to: string): Promise<Entry[]> {
  return parseEntries(await tools.git.run(landingArgs.listChangedEntries(from, to), { cwd: repository }));
}

/** Git's raw list of changes, with `-z`. */
export function parseEntries(raw: string): Entry[] {
  const fields = raw.split("\0");
  const entries: Entry[] = [];
  const version = (mode: string, oid: string) => (/^0+$/.test(mode) ? undefined : { mode, oid });
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [wasMode = "", nowMode = "", wasOid = "", nowOid = ""] = (fields[at] ?? "").slice(1).split(" ");
    entries.push({ path: fields[at + 1] ?? "", was: version(wasMode, wasOid), now: version(nowMode, nowOid) });
  }
  return entries;
}

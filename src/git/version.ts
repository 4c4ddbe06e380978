/** Versions of git: reading and comparing them. Pure. */

export interface GitVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** `rev-parse --path-format` came with it; without absolute paths nothing here could prove where it is. */
export const OLDEST_GIT = { major: 2, minor: 31 };

/** "git version 2.39.5 (Apple Git-154)" → its numbers. */
export function parseGitVersion(text: string): GitVersion | undefined {
  const found = /git version (\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  if (found === null) return undefined;
  return { major: Number(found[1]), minor: Number(found[2]), patch: Number(found[3] ?? 0) };
}

export function isOlder(version: GitVersion, than: { major: number; minor: number }): boolean {
  return version.major < than.major || (version.major === than.major && version.minor < than.minor);
}

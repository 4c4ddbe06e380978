/**
 * Which files are the settings of a repository, and reading them all at one moment: what is judged is then what is used,
 * also where a stash or a checkout takes a file away in between.
 */
import type { SettingsTexts } from "#domain/health/settings.ts";
import { type Ground, PROMPTS_DIR, resolveConfigured } from "./places.ts";
import type { ReadDir } from "./read-dir.ts";
import type { Config } from "./schema.ts";

export const CONFIG_FILE = ".overseer/config.yaml";
const HOOKS_FILE = ".overseer/hooks.yaml";
const ROLES = ".overseer/roles";

/** A configuration, and the text it was made from; undefined where there is no file. */
export interface ConfigRead {
  readonly config: Pick<Config, "agents">;
  readonly configText: string | undefined;
}

/**
 * Everything that is there now. The configuration says where definitions and the manifest lie. Its own text is given, not
 * read again: were it written in between, an older configuration would be confirmed as what the newer text says.
 */
export async function gatherSettings(
  files: ReadDir,
  ground: Ground,
  { config, configText }: ConfigRead,
): Promise<SettingsTexts> {
  const { agents } = config;
  const names = [
    HOOKS_FILE,
    agents.manifest,
    ...(await filesIn(files, ground, ROLES, ".yaml")),
    ...(await filesIn(files, ground, resolveConfigured(ground, agents.definitions).shown, ".md")),
    ...(await filesIn(files, ground, PROMPTS_DIR, ".md")),
  ];
  const found = await Promise.all(
    names.map(async (name) => [name, await files.read(resolveConfigured(ground, name).path)] as const),
  );
  const all = [[CONFIG_FILE, configText] as const, ...found];
  const there = all.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  return Object.fromEntries(there.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function filesIn(files: ReadDir, ground: Ground, directory: string, ending: string): Promise<string[]> {
  const listed = (await files.list(resolveConfigured(ground, directory).path)) ?? [];
  return listed.filter((name) => name.endsWith(ending)).map((name) => `${directory}/${name}`);
}

/** Those texts, as the loaders of roles, definitions and hooks read files. */
export function readingTexts(texts: SettingsTexts, ground: Ground): ReadDir {
  const byPath = new Map(Object.entries(texts).map(([name, text]) => [resolveConfigured(ground, name).path, text]));
  return {
    read: async (path) => byPath.get(path),
    async list(path) {
      const below = [...byPath.keys()].filter((one) => one.slice(0, one.lastIndexOf("/")) === path);
      return below.length === 0 ? undefined : below.map((one) => one.slice(path.length + 1)).sort();
    },
  };
}

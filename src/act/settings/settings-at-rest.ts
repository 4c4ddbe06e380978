/**
 * Whether the settings are certainly as they were confirmed, for `status`, which is asked again and again: a few mapped
 * files and one digest, no git, no thread. A file that is new among them is not seen here; the daemon sees it.
 */
import { readCopy } from "#config/checked-copy.ts";
import type { Root } from "#sys/root.ts";

export interface RestGround {
  readonly root: Root;
  readonly env: Readonly<Record<string, string | undefined>>;
  readNow(path: string): string | undefined;
}

/** False also where only a full look can tell. */
const USER_DIR = ".overseer/";
const ALWAYS = ["config.yaml", "manifest.yaml", "hooks.yaml"] as const;

export function areSettingsAtRest({ root, env, readNow }: RestGround): boolean {
  const text = readNow(`${root.state}/run/config.json`);
  const files = readCopy(text)?.files;
  if (text === undefined || files === undefined) return false;
  const base = env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : `${env.HOME}/.local/state`;
  const trust = readNow(`${base}/overseer/trust/${digest(root.project).slice(0, 32)}.json`);
  if (!trust?.includes(`"${digest(text)}"`)) return false;
  // Also those that were not there when it was confirmed: a checkout brings them.
  const names = new Set([...Object.keys(files), ...ALWAYS.map((name) => `${USER_DIR}${name}`)]);
  return [...names].every((name) => {
    const own = name.startsWith(USER_DIR) ? `${root.userDir}/${name.slice(USER_DIR.length)}` : undefined;
    return own !== undefined && readNow(own) === files[name];
  });
}

function digest(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

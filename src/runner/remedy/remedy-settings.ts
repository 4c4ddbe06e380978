/**
 * The settings a remediation runs under. A broken configuration is one of the things it is there to repair (FAIL-21), so
 * this never fails: where the settings in effect cannot be read, or nobody has confirmed them, the ones that were last
 * confirmed count, and where there are none of these either, the built-in ones.
 */
import { lookAtSettings, type SettingsGround } from "#act/settings/settings.ts";
import { digestOf, readTrust } from "#act/settings/trust-file.ts";
import { hasOurShape, readCopy } from "#config/checked-copy.ts";
import { parseConfig } from "#config/load.ts";
import { type Config, defaultConfig } from "#config/schema.ts";
import { CONFIG_FILE } from "#config/settings-files.ts";
import { messageOf } from "#errors.ts";

export interface RemedySettings {
  readonly config: Config;
  /** As a sentence names them. */
  readonly from: "the settings in effect" | "the last good settings" | "the built-in settings";
  /** Why the settings in effect could not be used; null when they are. */
  readonly problem: string | null;
}

export async function findRemedySettings(ground: SettingsGround): Promise<RemedySettings> {
  const found = await look(ground);
  if ("config" in found) return { config: found.config, from: "the settings in effect", problem: null };
  const { problem } = found;
  try {
    const config = await readLastGood(ground);
    if (config) return { config, from: "the last good settings", problem };
    return { config: defaultConfig(), from: "the built-in settings", problem };
  } catch (error) {
    const both = `${problem} The last good settings cannot be used either: ${messageOf(error)}`;
    return { config: defaultConfig(), from: "the built-in settings", problem: both };
  }
}

async function look(ground: SettingsGround): Promise<{ readonly config: Config } | { readonly problem: string }> {
  try {
    const { config, hold } = await lookAtSettings(ground);
    // What nobody has confirmed may name any program as the agent's CLI.
    return hold === null ? { config } : { problem: hold.message };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

/** Undefined when nothing that lies there was confirmed by this user. */
async function readLastGood({ root, files, env }: SettingsGround): Promise<Config | undefined> {
  const text = await files.read(`${root.state}/run/config.json`);
  const copy = readCopy(text);
  if (text === undefined || copy === undefined) return undefined;
  if (!(await readTrust(files, { project: root.project, env })).includes(digestOf(text))) return undefined;
  // A copy that another version checked has not all of our keys; its text can still be read.
  return hasOurShape(copy) ? copy.config : parseConfig(copy.files?.[CONFIG_FILE] ?? "", CONFIG_FILE);
}

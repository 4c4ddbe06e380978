/**
 * A person changes .overseer/config.yaml: one key by `config set`, or the file in their editor. What is written has been
 * checked as the loader checks it and replaces the file in one step; what cannot be used is never in its place.
 */

import { rulesNow } from "#act/landing/rules.ts";
import { lookAtSettings } from "#act/settings/settings.ts";
import { makeSettingsReader } from "#act/settings/settings-reader.ts";
import { refuseLinked } from "#act/settings/tracked-state.ts";
import { hashOfConfig } from "#config/checked-copy.ts";
import { setKey } from "#config/edit.ts";
import { parseConfig } from "#config/load.ts";
import { CONFIG_FILE } from "#config/settings-files.ts";
import type { Hold } from "#domain/health/settings.ts";
import type { LandingRules } from "#domain/landing/landing-rules.ts";
import { messageOf, OverseerError } from "#errors.ts";
import type { World } from "./world.ts";

export interface SettingsEdit {
  readonly path: string;
  readonly changed: boolean;
  /** Why it is not in effect yet; null where it is, or will be at the next tick. */
  readonly hold: Hold | null;
  /** Where a draft lies that was begun before config.yaml was changed, and so was not opened; null where there is none. */
  readonly oldDraft: string | null;
}

/** How work lands now, where the file leaves it to what runs: by `config get`, for people and scripts. */
export function readLandingRules(world: World): Promise<LandingRules> {
  return rulesNow(world);
}

export async function setSetting(world: World, key: string, typed: string): Promise<SettingsEdit> {
  return setSettings(world, [[key, typed]]);
}

/** All of them in one step, or none. */
export async function setSettings(
  world: World,
  all: readonly (readonly [key: string, typed: string])[],
): Promise<SettingsEdit> {
  const { path, text } = await readFile(world);
  const changed = all.reduce((now, [key, typed]) => setKey(now, key, typed, CONFIG_FILE), text ?? "");
  return replaceFile(world, path, text, changed);
}

/** Opens a file for the person and says how that ended: its exit code. */
export type OpenEditor = (file: string) => Promise<number>;

/**
 * The editor gets a draft. One that cannot be used is kept, and opened again by the next `config edit`, unless config.yaml was
 * changed since it was begun: the file itself is not touched, so nothing broken is ever in effect, and nothing newer undone.
 */
export async function editSettings(world: World, open: OpenEditor): Promise<SettingsEdit> {
  const { path, text } = await readFile(world);
  const draft = `${world.root.state}/run/config-draft.yaml`;
  const oldDraft = await layAsideOldDraft(world, draft, text);
  const before = (await world.files.read(draft)) ?? text ?? "";
  await world.files.write(`${draft}${BEGUN_FROM}`, hashOfConfig(text), { mode: 0o600 });
  await world.files.write(draft, before, { mode: 0o600 });
  const code = await open(draft);
  // An editor that removed its file has said nothing about what should stand in it.
  const edited = await world.files.read(draft);
  if (code !== 0) {
    const isKept = edited !== undefined && edited !== (text ?? "");
    if (!isKept) await forgetDraft(world, draft);
    const message = `The editor ended with ${code}; nothing was changed.`;
    const works = "Set EDITOR to a program that works here.";
    const hint = isKept ? `What it saved is in ${draft}; 'overseer config edit' opens it again. ${works}` : works;
    throw new OverseerError("environment", "EDITOR_FAILED", message, hint);
  }
  if (edited === undefined) {
    await forgetDraft(world, draft);
    return { path, changed: false, hold: (await look(world)).hold, oldDraft };
  }
  try {
    parseConfig(edited, draft);
  } catch (error) {
    if (!(error instanceof OverseerError)) throw error;
    const hint = "Nothing was changed; the draft is kept, and 'overseer config edit' opens it again.";
    throw new OverseerError(error.kind, error.code, messageOf(error), hint, { cause: error });
  }
  const outcome = await replaceFile(world, path, text, edited);
  await forgetDraft(world, draft);
  return { ...outcome, oldDraft };
}

/** Beside a draft: the hash of the text that it was begun from. */
const BEGUN_FROM = ".from";

/** A draft of another text than config.yaml has now would undo what was set since. */
async function layAsideOldDraft(world: World, draft: string, text: string | undefined): Promise<string | null> {
  const { files, clock } = world;
  if ((await files.facts(draft)) === undefined) return null;
  if ((await files.read(`${draft}${BEGUN_FROM}`)) === hashOfConfig(text)) return null;
  const aside = draft.replace(/\.yaml$/, `-${clock.now()}.yaml`);
  await files.rename(draft, aside);
  return aside;
}

async function forgetDraft(world: World, draft: string): Promise<void> {
  await world.files.remove(draft);
  await world.files.remove(`${draft}${BEGUN_FROM}`);
}

async function readFile(world: World): Promise<{ readonly path: string; readonly text: string | undefined }> {
  const { files, root } = world;
  if ((await files.facts(root.userDir)) === undefined) {
    const message = `There is no ${root.userDir} yet, so there is no configuration to change.`;
    throw new OverseerError("conflict", "NOT_INITIALISED", message, "Run 'overseer init' first.");
  }
  // Written over, a link would become a file of its own, with the link's mode.
  await refuseLinked(files, root);
  const path = `${root.userDir}/config.yaml`;
  return { path, text: await makeSettingsReader(files, root).read(path) };
}

/** Refused where somebody else has written it meanwhile: their words are not thrown away. */
async function replaceFile(
  world: World,
  path: string,
  before: string | undefined,
  after: string,
): Promise<SettingsEdit> {
  if (after === (before ?? "")) return { path, changed: false, hold: (await look(world)).hold, oldDraft: null };
  if ((await world.files.read(path)) !== before) {
    const message = `${path} was changed by somebody else meanwhile; nothing was written.`;
    throw new OverseerError("conflict", "CONFIG_CHANGED_MEANWHILE", message, "Run the command again.");
  }
  const mode = (await world.files.facts(path))?.mode;
  await world.files.write(path, after, mode === undefined ? {} : { mode: mode & 0o777 });
  return { path, changed: true, hold: (await look(world)).hold, oldDraft: null };
}

/** Anew, because the world has read the settings already, as they were. */
function look({ root, env, files, git, clock }: World) {
  return lookAtSettings({ root, env, files, git, clock });
}

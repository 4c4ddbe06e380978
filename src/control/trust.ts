/**
 * A person's word about the settings: what they would do, and that they may. `trust` confirms whatever they are shown;
 * `acceptSettings` takes files that went away or were cut off on purpose, and nothing that somebody else wrote.
 */
import {
  confirmSettings,
  readSettings,
  type SettingsChange,
  type SettingsOnDisk,
  settingsChange,
} from "#act/settings/settings.ts";
import { loadUserHooks } from "#config/hooks.ts";
import { resolveConfigured, roleSources } from "#config/places.ts";
import { loadRoles } from "#config/roles.ts";
import { scaffold } from "#config/scaffold.ts";
import { readingTexts } from "#config/settings-files.ts";
import { type WhatItDoes, whatItDoes } from "#config/what-it-does.ts";
import { OverseerError } from "#errors.ts";
import type { World } from "./world.ts";

export type { SettingsChange } from "#act/settings/settings.ts";

export interface TrustReport extends SettingsChange, WhatItDoes {
  readonly project: string;
  /** True when there is nothing left to confirm. */
  readonly confirmed: boolean;
}

/** What the settings on disk would do; with `confirm`, that they may. */
export async function trust(world: World, confirm: boolean): Promise<TrustReport> {
  const read = await readSettings(world);
  const change = await settingsChange(world, read);
  const does = await deedsOf(world, read);
  if (confirm) await confirmSettings(world, read);
  const nothingNew = !change.isNew && change.gone.length === 0 && change.changed.length === 0;
  return { project: world.root.project, ...change, ...does, confirmed: confirm || nothingNew };
}

async function deedsOf(world: World, { config, texts }: SettingsOnDisk): Promise<WhatItDoes> {
  const files = readingTexts(texts, world.root);
  const fresh = new Map(scaffold().map(({ path, text }) => [`${world.root.userDir}/${path}`, text]));
  const isOwn = (name: string) => fresh.get(resolveConfigured(world.root, name).path) !== texts[name];
  const { byCapability, origins } = await loadRoles(files, roleSources(world.root, config));
  const roles = [...byCapability].flatMap(([capability, role]) => {
    const file = origins.get(capability) ?? "builtin";
    return file !== "builtin" && isOwn(file) ? [{ file, role }] : [];
  });
  const definitions = Object.keys(texts).filter((name) => name.endsWith(".md") && isOwn(name));
  const hooks = await loadUserHooks(files, world.root.userDir);
  return whatItDoes({ config, texts, roles, hooks, definitions });
}

/** Throws CONFIG_UNCONFIRMED where something is among them that git brought, or that was never confirmed. */
export async function acceptSettings(world: World): Promise<SettingsChange> {
  const read = await readSettings(world);
  const change = await settingsChange(world, read);
  if (change.isNew || change.brought.length > 0) {
    const what = change.isNew ? "The settings in .overseer/" : change.brought.join(", ");
    throw new OverseerError(
      "conflict",
      "CONFIG_UNCONFIRMED",
      `${what} ${change.isNew || change.brought.length > 1 ? "were" : "was"} not confirmed on this machine, so there is more to decide than what is missing.`,
      "'overseer trust' shows every command they would run, and confirms them as they are.",
    );
  }
  await confirmSettings(world, read);
  return change;
}

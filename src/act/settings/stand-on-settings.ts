/**
 * The gate before everything that spends money, runs a command of the configuration or moves a branch: settings that are
 * away or that nobody confirmed stop it, at every door. Speaking to agents, watching and stopping them continue.
 */

import type { ActParts } from "#act/parts.ts";
import { OverseerError } from "#errors.ts";
import type { Settings } from "./settings.ts";

/** The settings in effect. Throws CONFIG_AWAY or CONFIG_UNCONFIRMED, with the next step. */
export async function standOnSettings(parts: Pick<ActParts, "settings">): Promise<Settings> {
  const settings = await parts.settings();
  if (settings.hold) throw new OverseerError("conflict", settings.hold.code, settings.hold.message, settings.hold.hint);
  await settings.keep();
  return settings;
}

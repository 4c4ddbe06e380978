/**
 * How work lands now: what is configured, and where nothing is, what follows from the daemon that runs. It is read from
 * the daemon's own registration, so that a person's `accept` and the daemon never disagree.
 */

import { findAutoDaemon } from "#act/auto/auto-settings.ts";
import type { ActParts } from "#act/parts.ts";
import { type LandingRules, landingRules } from "#domain/landing/landing-rules.ts";

type RuleParts = Pick<ActParts, "config" | "root" | "files" | "processes">;

export async function rulesNow(parts: RuleParts): Promise<LandingRules> {
  const { landing } = await parts.config();
  const open = landing.mode === null || landing.strategy === null;
  return landingRules(landing, open && (await findAutoDaemon(parts)) !== undefined);
}

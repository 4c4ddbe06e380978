/**
 * How work lands now: what is configured, and where nothing is, what follows from the daemon that runs. It is read from
 * the daemon's own registration, so that a person's `accept` and the daemon never disagree.
 */

import type { ActParts } from "#act/parts.ts";
import { parseRegistration } from "#domain/health/daemon-life.ts";
import { type LandingRules, landingRules } from "#domain/landing/landing-rules.ts";
import { runFiles } from "#sys/run-files.ts";

type RuleParts = Pick<ActParts, "config" | "root" | "files" | "processes">;

export async function rulesNow(parts: RuleParts): Promise<LandingRules> {
  const { landing } = await parts.config();
  const open = landing.mode === null || landing.strategy === null;
  return landingRules(landing, open && (await runsByItself(parts)));
}

/** A daemon lives that was started with `up --auto`. */
async function runsByItself({ root, files, processes }: RuleParts): Promise<boolean> {
  const { log, registration: path } = runFiles(root.state);
  const registration = parseRegistration(await files.read(path), log);
  return registration?.auto === true && processes.alive(registration);
}

/**
 * `doctor` on what is kept of living agents (DEGR-1): a pulse that cannot be used leaves its agent unjudged until its next
 * signal. One that says nothing more has to be helped: the fix begins it again from the signals that are there.
 */
import type { World } from "#control/world.ts";
import type { Finding } from "#domain/health/checkup.ts";
import { attemptLabel } from "#domain/model/attempt.ts";
import { inspectStore, openSignalLog } from "#store/open.ts";
import { seePulsesOfLiving } from "#store/signals.ts";
import { databasePath } from "./store-rescue.ts";

/** Nothing is said where there is nothing wrong. */
export async function pulseFindings(world: World): Promise<Finding[]> {
  const unusable = await listUnusable(world);
  if (unusable.length === 0) return [];
  const detail = `what is kept of ${unusable.map(attemptLabel).join(", ")} is spoiled, so nobody can judge how they do`;
  const next =
    "Their next signal begins it again. For one that says nothing more: 'overseer down', 'overseer doctor --fix', 'overseer up'.";
  return [{ check: "pulses", ok: false, detail, next }];
}

/** Begins them again; says of whom. */
export async function beginPulsesAgain(world: World): Promise<string[]> {
  const unusable = await listUnusable(world);
  if (unusable.length === 0) return [];
  const log = openSignalLog(databasePath(world));
  try {
    for (const { attempt, agent } of unusable) await log.record(attempt, agent, []);
  } finally {
    log.close();
  }
  return [`began again what is kept of ${unusable.map(attemptLabel).join(", ")}, from the signals that are there`];
}

async function listUnusable(world: World) {
  if ((await inspectStore(databasePath(world))).state !== "ready") return [];
  const { seen } = await (await world.reader()).read({ seen: seePulsesOfLiving() });
  return seen.unusable;
}

/**
 * Several deaths at once are one event: the machine, the network or the model's host failed, not so many agents. Then
 * nothing is started for a moment, one of them is tried, and when it lives the others follow in growing stages. Ends
 * that somebody asked for are no deaths, and what died together does not cost anybody a restart.
 */

import { backoffMs } from "#domain/core/backoff.ts";
import { hasPassed } from "#domain/core/elapsed.ts";
import type { Attempt } from "#domain/model/attempt.ts";
import type { MassDeathCondition } from "#domain/model/condition.ts";
import { isPartOfMassDeath, MASS_DEATH } from "#domain/model/condition.ts";
import { isOpen, nodeKey } from "#domain/model/work.ts";
import { NO_STEPS, type Ruled, recordEvent } from "./draft.ts";
import type { Scene, WorkNodeRef } from "./scene.ts";

/** What may start while the fleet is being restored; undefined when nothing limits it. */
export interface Restoring {
  readonly released: ReadonlySet<string>;
}

export function watchDeaths(scene: Scene): Ruled<Restoring | undefined> {
  const known = scene.condition("mass-death", MASS_DEATH);
  const deaths = scene.ended.filter((attempt) => isDeath(attempt) && !isPartOfMassDeath(known, attempt.attempt));
  const again = known?.active ? findRepeatDeaths(scene, deaths, known) : [];
  const together = again.length > 0 ? again : findBurst(deaths, scene.limits.massDeath);
  if (together.length > 0) {
    const because = again.length > 0 ? "died-again-while-restoring" : "died-together";
    const massDeath = recordEvent("fleet.mass_death", {}, because, {
      attempts: together.map((death) => death.attempt),
      nodes: [...new Set(together.map((death) => nodeKey(death.goalId, death.workNodeId)))],
    });
    return { value: { released: new Set() }, steps: [massDeath] };
  }
  return known?.active ? restore(scene, known) : { value: undefined, steps: NO_STEPS };
}

function isDeath(attempt: Attempt): boolean {
  return attempt.end?.cause === "died" && attempt.stopRequested === null && attempt.endedAt !== null;
}

/**
 * The first that was tried died too: whatever it was is not over, and another one is tried later. Once one has lived, or
 * where there is no other to try, a death is that agent's own again: one bad task must not hold everybody back for ever.
 */
function findRepeatDeaths(scene: Scene, deaths: readonly Attempt[], known: MassDeathCondition): Attempt[] {
  if (known.stage !== 1 || !known.waiting.some((node) => isWanted(scene, node))) return [];
  return deaths.filter((death) => {
    const node = nodeKey(death.goalId, death.workNodeId);
    return known.released.includes(node) && (death.endedAt ?? 0) >= known.stageAt;
  });
}

/** The largest group within one span of time, or none that is large enough. */
function findBurst(
  deaths: readonly Attempt[],
  limit: { readonly count: number; readonly withinMs: number },
): Attempt[] {
  const inTime = deaths.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.attempt - b.attempt);
  let from = 0;
  let best: Attempt[] = [];
  for (let to = 0; to < inTime.length; to += 1) {
    while ((inTime[to]?.endedAt ?? 0) - (inTime[from]?.endedAt ?? 0) > limit.withinMs) from += 1;
    if (to - from + 1 >= Math.max(limit.count, best.length + 1)) best = inTime.slice(from, to + 1);
  }
  return best.toSorted((a, b) => a.attempt - b.attempt);
}

function restore(scene: Scene, known: MassDeathCondition): Ruled<Restoring | undefined> {
  const { withinMs } = scene.limits.massDeath;
  const stillWanted = (node: string) => isWanted(scene, node);
  const waiting = known.waiting.filter((node) => stillWanted(node) && !hasSurvived(scene, node, withinMs));
  const restored = known.released.every((node) => !stillWanted(node) || hasSurvived(scene, node, withinMs));
  const asBefore = { value: { released: new Set(known.released) }, steps: NO_STEPS };
  if (!restored) return asBefore;
  if (waiting.length === 0) {
    const stages = known.stage;
    return { value: undefined, steps: [recordEvent("fleet.restored", {}, "all-live-again", { stages })] };
  }
  const { maxMs } = scene.limits.ladder.backoff;
  const pause = known.stage === 0 ? backoffMs(known.failedProbes + 1, { baseMs: withinMs, maxMs }) : 0;
  if (!hasPassed(known.stageAt, pause, scene.now)) return asBefore;
  const nodes = waiting.slice(0, 2 ** Math.min(16, known.stage));
  const because = known.stage === 0 ? "probe" : "stage-before-survived";
  return {
    value: { released: new Set([...known.released, ...nodes]) },
    steps: [recordEvent("fleet.restoring", {}, because, { stage: known.stage + 1, nodes })],
  };
}

function isWanted(scene: Scene, key: string): boolean {
  const node = scene.node(placeOf(key));
  if (!node || !isOpen(node) || node.status === "blocked") return false;
  return scene.goal(node.goalId)?.status === "active";
}

function placeOf(key: string): WorkNodeRef {
  const slash = key.indexOf("/");
  return { goalId: key.slice(0, slash), workNodeId: key.slice(slash + 1) };
}

function hasSurvived(scene: Scene, node: string, withinMs: number): boolean {
  const seen = scene.agentOn(placeOf(node));
  return seen?.attempt.startedAt != null && hasPassed(seen.attempt.startedAt, withinMs, scene.now);
}

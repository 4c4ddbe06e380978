/**
 * Several deaths at once, of agents on different tasks, are one event: the machine, the network or the model's host failed, not so many agents. Then
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
  /** When the next stage may be due by itself; null where an event has to come first. */
  readonly lookAt: number | null;
}

export function watchDeaths(scene: Scene): Ruled<Restoring | undefined> {
  const known = scene.condition("mass-death", MASS_DEATH);
  const deaths = scene.ended.filter((attempt) => isDeath(attempt) && !isPartOfMassDeath(known, attempt.attempt));
  const found = findLoss(scene, deaths, known?.active ? known : undefined);
  if (found !== undefined) {
    const { together, because, probeAt } = found;
    const massDeath = recordEvent("fleet.mass_death", {}, because, {
      attempts: together.map((death) => death.attempt),
      nodes: [...new Set(together.map((death) => nodeKey(death.goalId, death.workNodeId)))],
      probeAt,
    });
    return { value: { released: new Set(), lookAt: Math.max(probeAt, scene.now + 1) }, steps: [massDeath] };
  }
  return known?.active ? restore(scene, known) : { value: undefined, steps: NO_STEPS };
}

interface Loss {
  readonly together: readonly Attempt[];
  readonly because: string;
  /** When the first of them is tried. */
  readonly probeAt: number;
}

function findLoss(scene: Scene, deaths: readonly Attempt[], known: MassDeathCondition | undefined): Loss | undefined {
  const { massDeath } = scene.limits;
  const burst = findBurst(deaths, massDeath);
  if (known === undefined) return lossOf("died-together", burst, scene.now + waitForProbe(scene, 0));
  // Nobody was tried since: these died of the same thing, and were only noticed later.
  if (known.stage === 0) {
    const probeAt = known.stageAt + waitForProbe(scene, known.failedProbes);
    const late = deaths.filter(({ endedAt }) => Math.abs((endedAt ?? 0) - known.stageAt) <= massDeath.withinMs);
    return lossOf("died-with-them", [...new Set([...late, ...burst])], probeAt);
  }
  const probeAt = scene.now + waitForProbe(scene, known.failedProbes + 1);
  const again = findRepeatDeaths(scene, deaths, known);
  return lossOf("died-again-while-restoring", again, probeAt) ?? lossOf("died-together", burst, probeAt);
}

function lossOf(because: string, together: readonly Attempt[], probeAt: number): Loss | undefined {
  return together.length === 0 ? undefined : { because, together, probeAt };
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

/**
 * The largest group within one span of time, or none that is large enough. Nodes are counted and not deaths: one task whose
 * agent keeps dying is that task's own trouble, and must not hold everybody else back.
 */
function findBurst(
  deaths: readonly Attempt[],
  limit: { readonly count: number; readonly withinMs: number },
): Attempt[] {
  const inTime = deaths
    .toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.attempt - b.attempt)
    .map((death) => ({ death, at: death.endedAt ?? 0, node: nodeKey(death.goalId, death.workNodeId) }));
  const within = new Map<string, number>();
  let from = 0;
  let best = { from: 0, to: 0, nodes: 0 };
  for (const [index, { at, node }] of inTime.entries()) {
    within.set(node, (within.get(node) ?? 0) + 1);
    for (let first = inTime[from]; first && at - first.at > limit.withinMs; first = inTime[from]) {
      const left = (within.get(first.node) ?? 1) - 1;
      if (left === 0) within.delete(first.node);
      else within.set(first.node, left);
      from += 1;
    }
    const to = index + 1;
    const isLarger = within.size > best.nodes || (within.size === best.nodes && to - from > best.to - best.from);
    if (within.size >= limit.count && isLarger) best = { from, to, nodes: within.size };
  }
  return inTime
    .slice(best.from, best.to)
    .map(({ death }) => death)
    .sort((a, b) => a.attempt - b.attempt);
}

function restore(scene: Scene, known: MassDeathCondition): Ruled<Restoring | undefined> {
  const { withinMs } = scene.limits.massDeath;
  const stillWanted = (node: string) => isWanted(scene, node);
  const waiting = known.waiting.filter((node) => stillWanted(node) && !hasSurvived(scene, node, withinMs));
  const restored = known.released.every((node) => !stillWanted(node) || hasSurvived(scene, node, withinMs));
  const stay = (lookAt: number | null) => ({ value: { released: new Set(known.released), lookAt }, steps: NO_STEPS });
  if (!restored) return stay(findSurvivalTime(scene, known.released));
  if (waiting.length === 0) {
    const stages = known.stage;
    return { value: undefined, steps: [recordEvent("fleet.restored", {}, "all-live-again", { stages })] };
  }
  const pause = known.stage === 0 ? waitForProbe(scene, known.failedProbes) : 0;
  if (!hasPassed(known.stageAt, pause, scene.now)) return stay(known.stageAt + pause);
  const nodes = waiting.slice(0, 2 ** Math.min(16, known.stage));
  const because = known.stage === 0 ? "probe" : "stage-before-survived";
  return {
    // Whoever is started now tells so by an event.
    value: { released: new Set([...known.released, ...nodes]), lookAt: null },
    steps: [recordEvent("fleet.restoring", {}, because, { stage: known.stage + 1, nodes })],
  };
}

/** How long nobody is tried: longer each time that whoever was tried has died too. */
function waitForProbe({ limits }: Scene, failedProbes: number): number {
  return backoffMs(failedProbes + 1, { baseMs: limits.massDeath.withinMs, maxMs: limits.ladder.backoff.maxMs });
}

/** When the last of those that are up counts as alive; null while nobody new is. */
function findSurvivalTime(scene: Scene, nodes: readonly string[]): number | null {
  const { withinMs } = scene.limits.massDeath;
  const times = nodes.flatMap((node) => scene.agentOn(placeOf(node))?.attempt.startedAt ?? []);
  const later = times.map((at) => at + withinMs).filter((at) => at > scene.now);
  return later.length === 0 ? null : Math.max(...later);
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

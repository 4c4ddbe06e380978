/**
 * The workers of auto mode as the tick gives them work: under `up --auto` whatever is dispatched by itself is done by one of
 * them, beside the places of everybody else. A worker has a task until that has landed or waits for a person; then its agent
 * is ended and the name is free. Pure.
 */
import { listPlaces } from "#domain/auto/workers.ts";
import { isAutoName, WORKERS } from "#domain/model/auto.ts";
import type { WorkNode } from "#domain/model/work.ts";
import type { Scene } from "./scene.ts";
import type { Limits } from "./snapshot.ts";

export interface WorkerPlace {
  readonly name: string;
  /** The role that a standing worker has of its own. */
  readonly capability: string | null;
}

/** A node that names its agent is given to that one. */
export function isForWorkers({ auto }: Pick<Limits, "auto">, { hints }: Pick<WorkNode, "hints">): boolean {
  return auto !== null && hints.suggestedAgentId === undefined;
}

/** Somebody who is about to be started on a node that nobody works on. */
export interface Starting {
  readonly goalId: string | null;
  readonly workNodeId: string | null;
  /** Under which name, where that is settled. */
  readonly name: string | null;
}

export class WorkerPlaces {
  /** How many there are, how many have no task, and how many of those that are being started are theirs. */
  readonly all: number;
  free: number;
  readonly coming: number;
  private readonly names: string[];
  private readonly scene: Scene;

  constructor(scene: Scene, starting: readonly Starting[]) {
    this.scene = scene;
    const { auto } = scene.limits;
    const places = auto === null ? [] : listPlaces(auto.concurrency, listKnownWorkers(scene));
    const theirs = starting.filter(({ goalId, workNodeId }) => {
      const node = scene.node({ goalId: goalId ?? "", workNodeId: workNodeId ?? "" });
      return node !== undefined && isForWorkers(scene.limits, node);
    });
    const living = new Set(scene.agents.map(({ attempt }) => attempt.agent));
    const named = new Set([...living, ...theirs.map(({ name }) => name)]);
    this.all = places.length;
    this.coming = theirs.length;
    this.free = places.filter((name) => !living.has(name)).length - theirs.length;
    const promised = new Set(scene.ended.map(({ agent }) => agent));
    const left = places.filter((name) => !named.has(name));
    // Whoever comes back after a crash finds its own name free where that can be.
    this.names = [...left.filter((name) => !promised.has(name)), ...left.filter((name) => promised.has(name))];
  }

  /** The next one that has no task. */
  take(): WorkerPlace | undefined {
    const name = this.names.shift();
    if (name === undefined) return undefined;
    return { name, capability: listKnownWorkers(this.scene).find((one) => one.name === name)?.capability ?? null };
  }
}

/** Its agent is ended when it waits for a person, so that the next task gets the place. */
export function isPlaceOfAuto(scene: Scene, name: string): boolean {
  if (isAutoName(name)) return true;
  return scene.limits.auto !== null && listKnownWorkers(scene).some((one) => one.name === name && !one.excluded);
}

function listKnownWorkers(scene: Scene) {
  return scene.condition("workers", WORKERS)?.workers ?? [];
}
